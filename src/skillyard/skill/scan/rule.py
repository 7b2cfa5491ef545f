"""What a scan rule is, and the pattern by which most rules see."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple

from skillyard.skill.models import Severity

REACH: Final = 400
"""How many bytes before and after its anchor a pattern may read: it bounds the work for each candidate."""

_LINE_END: Final = re.compile(rb"(?<!\\)\n")


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """One kind of danger: what is looked for, why it matters and what to do about it."""

    code: str
    looks_for: str
    why: str
    fix: str


class Level(NamedTuple):
    """How serious a match is, by where it stands. `None` is nothing worth saying."""

    script: Severity | None
    """In a file that is not documentation, or in a hidden comment."""
    block: Severity | None
    """In a code block of a document."""
    prose: Severity | None
    """In the running text of a document."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Pattern:
    """A literal that must be there, and bounded expressions around the place where it stands.

    Literals are found at memory speed, so that expressions run only where they have a chance.
    All are lower-case and see UTF-8 bytes: no character class or quantifier may touch a single
    non-ASCII character. To stay linear, no expression has two gaps that can share the same text.
    """

    rule: Rule
    anchors: tuple[str, ...]
    says: str
    level: Level
    expression: str
    """Matched where the anchor starts."""
    leads: tuple[str, ...] = ()
    """All must be found before it on the same line."""
    follows: tuple[str, ...] = ()
    """All must be found after it on the same line."""
    nearby: str = ""
    """Must be found before it within reach, on whatever line."""
    inside: str = ""
    """The opening of a call whose parentheses are not closed yet."""
    grade: Callable[[re.Match[bytes]], Level | None] | None = None
    """Where set, decides by what was matched instead of `level`; `None` is an honest use."""
    quotable: bool = False
    """A match in quotes or backticks is a mention, not a use."""
    cased: bool = False
    """Sees the text as written instead of in lower case."""
    firm: bool = False
    """The words around it do not make it better."""

    def match(self, text: bytes, anchor: int) -> re.Match[bytes] | None:
        return compiled(self.expression).match(text, anchor, anchor + REACH)

    def holds(self, match: re.Match[bytes]) -> bool:
        """Whether what must stand around a match stands there."""
        return self._is_led(match.string, match.start()) and self._is_followed(match.string, match.end())

    def judged(self, match: re.Match[bytes]) -> Level | None:
        return self.grade(match) if self.grade else self.level

    def _is_led(self, text: bytes, anchor: int) -> bool:
        if self.leads:
            start = line_start(text, anchor)
            if not all(compiled(lead).search(text, start, anchor) for lead in self.leads):
                return False
        reach = max(0, anchor - REACH)
        if self.nearby and not compiled(self.nearby).search(text, reach, anchor):
            return False
        return not self.inside or _is_open(text[reach:anchor], self.inside)

    def _is_followed(self, text: bytes, end: int) -> bool:
        if not self.follows:
            return True
        until = line_end(text, end)
        return all(compiled(follow).search(text, end, until) for follow in self.follows)


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """One place in one file where a rule saw something."""

    rule: Rule
    severity: Severity
    says: str
    position: int
    end: int = 0
    """Where what was matched ends; nothing is quoted where it is not set."""
    alone: bool = False
    """Only what was matched is quoted, not its line."""


@cache
def compiled(expression: str) -> re.Pattern[bytes]:
    """The expression over UTF-8 bytes, compiled when a file first needs it."""
    return re.compile(expression.encode())


def line_start(text: bytes, position: int) -> int:
    """Where the line of a position starts, within reach; a line ending in a backslash goes on."""
    floor = max(0, position - REACH)
    cut = text.rfind(b"\n", floor, position)
    while cut > floor and text[cut - 1 : cut] == b"\\":
        cut = text.rfind(b"\n", floor, cut)
    return floor if cut < 0 else cut + 1


def line_end(text: bytes, position: int) -> int:
    """Where the line of a position ends, within reach; a line ending in a backslash goes on."""
    match = _LINE_END.search(text, position, position + REACH)
    return match.start() if match else min(len(text), position + REACH)


def _is_open(before: bytes, call: str) -> bool:
    for match in compiled(call).finditer(before):
        if before.count(b")", match.end()) <= before.count(b"(", match.end()):
            return True
    return False
