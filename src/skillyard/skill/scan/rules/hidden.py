"""Text that a person does not see and an agent reads: invisible, reordering and concealed characters."""

import re
import unicodedata
from collections.abc import Iterator
from itertools import islice
from typing import Final

from skillyard.skill.models import Severity
from skillyard.skill.scan.invisible import INVISIBLE
from skillyard.skill.scan.page import Form, Page
from skillyard.skill.scan.rule import Hit, Level, Pattern, Rule

RULE: Final = Rule(
    code="scan-hidden-text",
    looks_for="Zero-width, tag and bidirectional characters, terminal control sequences and text styled invisible. "
    "Joiners in emoji and in scripts that need them, flags and a leading byte order mark are honest.",
    why="People review what they see; the agent reads what is there.",
    fix="Delete the hidden characters and type the line again.",
)

_MOST: Final = 20_000
_RUN: Final = 256
"""Bytes of a run that are looked at; a longer one is as bad as this much of it."""
_SMUGGLED: Final = 8
"""This many invisible characters in a row carry a message; fewer may be a typing accident."""
_SELECTORS: Final = 3
_TAGS: Final = 0xE0000
_EMOJI_STYLE: Final = "\ufe0f".encode()
_FLAG: Final = "\U0001f3f4"
_END_OF_FLAG: Final = "\U000e007f"
_ZERO_WIDTH_JOINER: Final = "\u200d"
_OVERRIDES: Final = frozenset("\u202d\u202e")
_BIDI: Final = _OVERRIDES | frozenset("\u202a\u202b\u202c\u2066\u2067\u2068\u2069")
_MARKS: Final = frozenset("\u200e\u200f\u061c\u034f")
_JOINING: Final = (
    (0x0590, 0x08FF),  # Hebrew, Arabic and their neighbours
    (0x0900, 0x11FF),  # the scripts of India and South-East Asia, Hangul letters
    (0x1780, 0x18AF),  # Khmer, Mongolian
    (0xA800, 0xABFF),
    (0xFB1D, 0xFDFF),
    (0xFE70, 0xFEFE),
)
"""Scripts whose spelling needs joiners, break marks or fillers."""
_RIGHT_TO_LEFT: Final = re.compile(rb"[\xd6-\xdd][\x80-\xbf]|\xef[\xac-\xb7\xb9\xba]")
_TERMINAL: Final = re.compile(rb"\x1b[\[\]()#PX^_]|\x08")

PATTERNS: Final = (
    Pattern(
        rule=RULE,
        anchors=("style=",),
        leads=(r"<[a-z]{1,12}\s[^>\n]{0,80}+\Z",),
        expression=r"style=[\"'][^\"'>\n]{0,160}?(?:display:\s?none|visibility:\s?hidden|(?:font-size|opacity):\s?0(?![.\d])|"
        r"color:\s?transparent)",
        says="Text is styled so that readers do not see it",
        level=Level(None, None, Severity.WARNING),
    ),
)  # fmt: skip


def find(page: Page) -> Iterator[Hit]:
    if page.form is Form.BINARY:
        return
    yield from _terminal_controls(page)
    if not page.utf8.isascii():
        yield from _invisible(page.utf8)


def _terminal_controls(page: Page) -> Iterator[Hit]:
    for match in islice(_TERMINAL.finditer(page.utf8), _MOST):
        yield Hit(
            rule=RULE,
            severity=Severity.WARNING if page.is_document and match[0] != b"\b" else Severity.INFO,
            position=match.start(),
            says="A terminal control sequence can overwrite or conceal what is printed",
        )


def _invisible(text: bytes) -> Iterator[Hit]:
    right_to_left = _RIGHT_TO_LEFT.search(text) is not None
    seen = 0
    for match in INVISIBLE.finditer(text):
        if match[0] == _EMOJI_STYLE:
            continue
        seen += 1
        if seen > _MOST:
            says = f"There are more than {_MOST:,} hidden characters"
            yield Hit(rule=RULE, severity=Severity.ERROR, position=match.start(), says=says)
            return
        run = match[0][:_RUN].decode(errors="ignore")
        before = text[max(0, match.start() - 4) : match.start()].decode(errors="ignore")[-1:]
        after = text[match.end() : match.end() + 4].decode(errors="ignore")[:1]
        verdict = _verdict(run, before, after, at_start=match.start() == 0, right_to_left=right_to_left)
        if verdict is not None:
            yield Hit(rule=RULE, severity=verdict[0], position=match.start(), says=verdict[1])


def _verdict(run: str, before: str, after: str, *, at_start: bool, right_to_left: bool) -> tuple[Severity, str] | None:
    """How serious a run of hidden characters is, and what it is; `None` where it is honest."""
    if at_start:
        run = run.removeprefix("\ufeff")
    tags = "".join(chr(ord(char) - _TAGS) for char in run if _TAGS <= ord(char) <= _TAGS + 0x7F)
    if tags:
        is_flag = before == _FLAG and run[-1] == _END_OF_FLAG and len(run) <= _SMUGGLED
        return None if is_flag else (Severity.ERROR, f"Tag characters spell hidden text, {_quoted(tags)}")
    if sum(_is_selector(char) for char in run) > _SELECTORS:
        return Severity.ERROR, f"{len(run)} variation selectors in a row carry hidden data"
    if not _BIDI.isdisjoint(run):
        if not right_to_left:
            return Severity.ERROR, f"{_named(run)} makes text read in another order than it is written"
        is_override = not _OVERRIDES.isdisjoint(run)
        return (Severity.WARNING if is_override else Severity.INFO), f"{_named(run)} reorders text"
    suspects = "".join(char for char in run if not _is_honest(char, before, after, right_to_left=right_to_left))
    if len(suspects) >= _SMUGGLED:
        return Severity.ERROR, f"{len(suspects)} invisible characters in a row carry hidden data"
    if not suspects:
        return None
    splits_word = before.isascii() and before.isalnum() and after.isascii() and after.isalnum()
    severity = Severity.WARNING if splits_word or len(suspects) > 1 else Severity.INFO
    return severity, f"An invisible character ({_named(suspects)}){' splits a word' if splits_word else ''}"


def _is_honest(char: str, before: str, after: str, *, right_to_left: bool) -> bool:
    if _is_selector(char):
        return True
    if char in _MARKS and right_to_left:
        return True
    if char == _ZERO_WIDTH_JOINER and unicodedata.category(after or " ") == "So":
        return True
    return any(first <= ord(near) <= last for near in before + after for first, last in _JOINING)


def _is_selector(char: str) -> bool:
    return "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"


def _named(run: str) -> str:
    return ", ".join(dict.fromkeys(f"U+{ord(char):04X}" for char in run[:_SMUGGLED]))


def _quoted(text: str) -> str:
    return repr("".join(char for char in text if char.isprintable())[:80])
