"""Sandboxes as processes of this machine: bubblewrap, Landlock, and plain ones for whoever asks."""
