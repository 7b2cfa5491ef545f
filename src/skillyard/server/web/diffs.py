"""Diffs as rows of a table: one column for both sides, or two side by side, with the words that differ marked."""

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final, NamedTuple

HUNK: Final = "hunk"
SAME: Final = "same"
ADDED: Final = "added"
REMOVED: Final = "removed"
_HEAD: Final = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_WORDS: Final = re.compile(r"\w+|\s+|[^\w\s]")
_LONGEST: Final = 400
"""Longer lines are not compared word by word."""
_ALIKE: Final = 0.4
"""Lines that share less than this are two lines, not one that was changed."""


class Piece(NamedTuple):
    text: str
    marked: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """A line of one side, or of both."""

    kind: str
    pieces: tuple[Piece, ...]
    old: int | None = None
    new: int | None = None


class Pair(NamedTuple):
    """What stands beside each other."""

    left: Line | None
    right: Line | None


def unified_rows(diff: str) -> list[Line]:
    """The lines of a unified diff, one below the other."""
    rows: list[Line] = []
    for left, right in _blocks(diff.split("\n")):
        rows += left if left is right else [*left, *right]
    return rows


def side_rows(diff: str) -> list[Pair]:
    """The lines of a unified diff, the old beside the new."""
    pairs: list[Pair] = []
    for left, right in _blocks(diff.split("\n")):
        pairs += [Pair(old, new) for old, new in zip_longest(left, right)]
    return pairs


def _blocks(lines: Sequence[str]) -> Iterator[tuple[list[Line], list[Line]]]:
    """Runs of lines: the same on both sides, or some that were replaced by others."""
    old = new = 0
    removed: list[str] = []
    added: list[str] = []
    for line in (*lines, ""):
        sign, text = line[:1], line[1:]
        if sign == "-":
            removed.append(text)
        elif sign == "+":
            added.append(text)
        else:
            if removed or added:
                yield _replaced(removed, added, old, new)
                old, new = old + len(removed), new + len(added)
                removed, added = [], []
            head = _HEAD.match(line)
            if head:
                old, new = int(head[1]), int(head[2])
                heading = [Line(kind=HUNK, pieces=(Piece(line, marked=False),))]
                yield heading, heading
            elif sign == " ":
                same = [Line(kind=SAME, pieces=(Piece(text, marked=False),), old=old, new=new)]
                yield same, same
                old, new = old + 1, new + 1


def _replaced(removed: list[str], added: list[str], old: int, new: int) -> tuple[list[Line], list[Line]]:
    left: list[Line] = []
    right: list[Line] = []
    for at, (before, after) in enumerate(zip_longest(removed, added)):
        before_pieces, after_pieces = _marked(before or "", after or "")
        if before is not None:
            left.append(Line(kind=REMOVED, pieces=before_pieces, old=old + at))
        if after is not None:
            right.append(Line(kind=ADDED, pieces=after_pieces, new=new + at))
    return left, right


def _marked(before: str, after: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """Both lines, in pieces of which those are marked that differ."""
    if before and after and max(len(before), len(after)) <= _LONGEST:
        old, new = _WORDS.findall(before), _WORDS.findall(after)
        matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
        if matcher.ratio() >= _ALIKE:
            codes = matcher.get_opcodes()
            left = (Piece("".join(old[a:b]), tag != "equal") for tag, a, b, _, _ in codes if b > a)
            right = (Piece("".join(new[c:d]), tag != "equal") for tag, _, _, c, d in codes if d > c)
            return tuple(left), tuple(right)
    return (Piece(before, marked=False),), (Piece(after, marked=False),)
