"""Commands hidden in Base64, found by how their words look once encoded."""

import base64
from collections.abc import Iterator
from typing import Final

from skillyard.skill.models import Severity
from skillyard.skill.scan.rule import Level, Pattern
from skillyard.skill.scan.rules.obfuscation import RULE

_WORDS: Final = ("curl ", "wget ", "/bin/", "powersh", "import os", "ignore prev")


def _encoded(word: str) -> Iterator[str]:
    """The part of a word's encoding that does not depend on its neighbours, for each way it can be aligned."""
    for shift in range(3):
        data = b"\0" * shift + word.encode()
        first = -(-shift * 8 // 6)
        last = len(data) * 8 // 6
        yield base64.b64encode(data).decode()[first:last]


PATTERNS: Final = (
    Pattern(
        rule=RULE,
        anchors=tuple(code for word in _WORDS for code in _encoded(word)),
        expression=r"[A-Za-z0-9+/]{12,200}+",
        says="Base64 text hides a command",
        level=Level(Severity.WARNING, Severity.WARNING, Severity.WARNING),
        cased=True,
        firm=True,
    ),
)
