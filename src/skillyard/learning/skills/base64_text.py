"""Bytes that come as base64 in the output of a command."""

import base64
import binascii
import re
from typing import Final

from skillyard.errors import UnavailableError

_LITTER: Final = re.compile(r"\s+|^data:[^,]*,|^[\"'`]+|[\"'`]+$")
_SHOWN: Final = 80


def normalize_and_decode_base64(text: str) -> bytes:
    """The bytes in a text, whatever line breaks, quotes, alphabet or padding a terminal or server made of it."""
    clean = _LITTER.sub("", text.strip()).translate(str.maketrans("-_", "+/")).rstrip("=")
    try:
        return base64.b64decode(clean + "=" * (-len(clean) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise UnavailableError(
            f"What came back is no base64: {text.strip()[:_SHOWN]!r}",
            hint="Look at what the computer-use server prints beside the output of commands.",
        ) from None
