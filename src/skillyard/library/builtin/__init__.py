"""The skills that come with Skillyard, as folders that can be read, copied and installed."""

from pathlib import Path


def builtin_root() -> Path:
    """The folder that holds the built-in skills, one folder each."""
    return Path(__file__).resolve().parent
