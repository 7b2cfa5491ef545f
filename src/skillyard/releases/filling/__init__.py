"""Putting values into texts of each kind, so that a value is never more than a value."""
