"""The host's end of a sandbox: the stream to its guest, and everything that is asked over it."""
