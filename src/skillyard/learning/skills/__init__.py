"""Lessons that become skills: written, checked, tried out, and published or proposed."""
