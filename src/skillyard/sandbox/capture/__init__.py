"""What is kept of a run: the whole of it but its secrets."""
