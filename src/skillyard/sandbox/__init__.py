"""Isolated places with a `/workspace`: what runs in them, what it may reach, and what was run."""
