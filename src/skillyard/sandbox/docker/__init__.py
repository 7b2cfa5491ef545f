"""Sandboxes as containers of a Docker daemon, here or elsewhere."""
