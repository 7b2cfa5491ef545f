"""Finding the literals of all patterns in one pass over a text."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from heapq import merge
from operator import itemgetter
from typing import Final, NamedTuple

from skillyard.skill.scan.rule import Pattern

_COMMON: Final = b" etaoinsrlcdpum-hgfybvwk"
"""The bytes most often met in text, the most frequent first."""


class _Anchor(NamedTuple):
    literal: bytes
    offset: int
    """Where its rarest byte stands: the expression looks for that byte first."""
    patterns: tuple[Pattern, ...]


class Anchors:
    """An index from literals to the patterns that need them.

    Hundreds of separate searches would read a file hundreds of times. One expression for each byte that is the
    rarest of some literals skips most of the text at memory speed.
    """

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        by_literal: dict[bytes, list[Pattern]] = defaultdict(list)
        for pattern in patterns:
            for anchor in pattern.anchors:
                by_literal[anchor.lower().encode()].append(pattern)
        by_byte: dict[int, list[_Anchor]] = defaultdict(list)
        for literal, needing in sorted(by_literal.items()):
            offset = rarest(literal)
            by_byte[literal[offset]].append(_Anchor(literal, offset, tuple(needing)))
        self._searches = [(re.compile(_seed(anchors)), _by_next_byte(anchors)) for anchors in by_byte.values()]

    def candidates(self, lower: bytes) -> Iterator[tuple[int, Pattern]]:
        """Where each pattern may match, in the order of the text."""
        found = merge(*(_found(lower, *search) for search in self._searches), key=itemgetter(0))
        for _, start, pattern in found:
            yield start, pattern


def _found(
    lower: bytes, seed: re.Pattern[bytes], anchors: Mapping[bytes, list[_Anchor]]
) -> Iterator[tuple[int, int, Pattern]]:
    """Where a rare byte stands in a literal, where that starts, and what needs it."""
    whatever_follows = anchors[b""]
    for match in seed.finditer(lower):
        at = match.start()
        for literal, offset, patterns in anchors.get(lower[at + 1 : at + 2], whatever_follows):
            start = at - offset
            if start >= 0 and lower.startswith(literal, start):
                for pattern in patterns:
                    yield at, start, pattern


def _by_next_byte(anchors: list[_Anchor]) -> dict[bytes, list[_Anchor]]:
    """The literals to try by the byte behind their rarest one; under no byte, those that end with it."""
    nexts = {anchor: anchor.literal[anchor.offset + 1 : anchor.offset + 2] for anchor in anchors}
    return {byte: [anchor for anchor in anchors if nexts[anchor] in {b"", byte}] for byte in {b"", *nexts.values()}}


def rarest(literal: bytes) -> int:
    """Where the byte stands that is met least often in text."""
    return max(range(len(literal)), key=lambda at: (_rarity(literal[at]), -at))


def _rarity(byte: int) -> int:
    rank = _COMMON.find(byte)
    return rank if rank >= 0 else len(_COMMON)


def _seed(anchors: list[_Anchor]) -> bytes:
    """The rarest byte where one of its literals stands around it.

    What follows it is tried by its first byte, so that a text of nothing but that byte costs little more than
    any other.
    """
    pivot = re.escape(anchors[0].literal[anchors[0].offset :][:1])
    followed: dict[bytes, list[_Anchor]] = defaultdict(list)
    last: list[_Anchor] = []
    for anchor in anchors:
        tail = anchor.literal[anchor.offset + 1 :]
        if tail:
            followed[tail[:1]].append(anchor)
        else:
            last.append(anchor)
    choices = (re.escape(first) + b"(?:" + b"|".join(map(_rest, group)) + b")" for first, group in followed.items())
    parts = [b"(?=" + b"|".join(choices) + b")"] if followed else []
    if last:
        before = b"".join(sorted({re.escape(anchor.literal[-2:-1]) for anchor in last}))
        parts.append(b"(?<=[" + before + b"]" + pivot + b")(?:" + b"|".join(map(_behind, last)) + b")")
    return pivot + b"(?:" + b"|".join(parts) + b")"


def _rest(anchor: _Anchor) -> bytes:
    """What follows the first byte after the rarest, and that all stands behind it."""
    return re.escape(anchor.literal[anchor.offset + 2 :]) + (_behind(anchor) if anchor.offset else b"")


def _behind(anchor: _Anchor) -> bytes:
    return b"(?<=" + re.escape(anchor.literal) + b")"
