"""Feedback that is polled: addresses and tables of others, read again and again, each piece taken in once."""
