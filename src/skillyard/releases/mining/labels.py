"""Labels compared: what they say, without marks, values and numbers."""

import re
import unicodedata
from collections.abc import Collection
from typing import Final

_MARKS: Final = re.compile(r"\(?\b(?:required|optional)\b\)?|\(?(?:필수|선택|必填|必須|任意)\)?|[*:：]", re.IGNORECASE)  # noqa: RUF001
_NOT_WORD: Final = re.compile(r"[^\w#?]+")
_DIGITS: Final = re.compile(r"\d+")
_SHORTEST: Final = 3
"""Characters; what is shorter stands in labels by chance."""
_MOST: Final = 500


def label_key(label: str, typed: Collection[str] = ()) -> str:
    """The form in which labels are compared: `#` for a number in it, `?` for a text that was entered before."""
    text = label[:_MOST]
    for value in sorted((value for value in typed if len(value) >= _SHORTEST), key=len, reverse=True):
        text = replace_whole(text, value, "?")
    text = _MARKS.sub(" ", unicodedata.normalize("NFKC", text).casefold())
    return _NOT_WORD.sub(" ", _DIGITS.sub("#", text)).strip()


def replace_whole(text: str, value: str, instead: str) -> str:
    """A text with something else in place of a value, where that does not stand within a longer word."""
    if not value or value not in text:
        return text
    # Languages that put nothing between words have no border to look for.
    before = r"(?<![A-Za-z0-9])" if value[0].isascii() and value[0].isalnum() else ""
    after = r"(?![A-Za-z0-9])" if value[-1].isascii() and value[-1].isalnum() else ""
    return re.sub(before + re.escape(value) + after, lambda _: instead, text)
