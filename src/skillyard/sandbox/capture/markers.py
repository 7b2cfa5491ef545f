"""Markers: what stands in a record where a secret stood."""

import re
from typing import Final

_NAME: Final = r"[A-Za-z_][A-Za-z0-9_]{0,63}"
MARKER: Final = re.compile(r"\{\{secret(?::(" + _NAME + r"))?\}\}")
"""Its group is the name of the secret, where one is known."""
_NOT_IN_NAME: Final = re.compile(r"[^A-Za-z0-9_]+")
_MAX_NAME: Final = 48


def marker(name: str = "") -> str:
    """The marker of a secret; one that is named the same in a session is the same secret."""
    return f"{{{{secret:{name}}}}}" if name else "{{secret}}"


def marker_name(text: str) -> str:
    """A name that fits into a marker, made from any text; empty when nothing is left."""
    name = _NOT_IN_NAME.sub("_", text).strip("_")[:_MAX_NAME].rstrip("_")
    return f"_{name}" if name[:1].isdigit() else name


def has_marker(text: str) -> bool:
    return MARKER.search(text) is not None
