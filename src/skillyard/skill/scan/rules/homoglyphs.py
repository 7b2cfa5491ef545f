"""Words that mix look-alike letters of two scripts to pass for another word."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from skillyard.skill.models import Severity
from skillyard.skill.scan.page import Form, Page
from skillyard.skill.scan.rule import Hit
from skillyard.skill.scan.rules.obfuscation import RULE

_MOST: Final = 20_000
_MIN_LETTERS: Final = 3
_AROUND: Final = 40
_LOOK_ALIKES: Final = dict(
    zip(
        "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u051b\u051d"
        "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0406\u0408\u0405"
        "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bf\u03bd",
        "aeopcyxijshdqwABEKMHOPCTXIJSABEZHIKMNOPTYXov",
        strict=True,
    )
)
"""Letters of Cyrillic and Greek that look like Latin ones."""
_MIXED: Final = re.compile(rb"[\xce-\xd4](?:(?<=[A-Za-z][\xce-\xd4])[\x80-\xbf]|[\x80-\xbf](?=[A-Za-z]))")
"""A letter of Greek or Cyrillic right after a Latin one, or right before one."""


def find(page: Page) -> Iterator[Hit]:
    if page.form is Form.BINARY or page.text.isascii():
        return
    for match in islice(_MIXED.finditer(page.text), _MOST):
        word = _word_at(page.text, match.start(), match.end())
        latin = "".join(_LOOK_ALIKES.get(char, char) for char in word)
        if latin.isascii() and sum(char.isascii() for char in word) >= _MIN_LETTERS:
            says = f"A word looks like {latin!r} but is spelled with letters of another script"
            yield Hit(rule=RULE, severity=Severity.WARNING, position=match.start(), says=says)


def _word_at(text: bytes, start: int, end: int) -> str:
    before = text[max(0, start - _AROUND) : start].decode(errors="ignore")
    after = text[end : end + _AROUND].decode(errors="ignore")
    head = re.search(r"[^\W\d_]*\Z", before)
    tail = re.match(r"[^\W\d_]*", after)
    return (head[0] if head else "") + text[start:end].decode(errors="ignore") + (tail[0] if tail else "")
