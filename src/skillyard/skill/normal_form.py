"""Unicode normalisation in a time that grows with the text, not with its square."""

import re
import unicodedata
from typing import Final, Literal

_PIECES: Final = re.compile(r"[\s\S]{1,192}\S{0,64}")
"""A text in pieces that end between two words, unless a word is very long."""


def normalized(form: Literal["NFC", "NFKC", "NFKD"], text: str) -> str:
    """The text in that form. Accents without end, which take quadratic time as a whole, are taken in pieces."""
    if text.isascii():
        return text
    return "".join(unicodedata.normalize(form, piece) for piece in _PIECES.findall(text))
