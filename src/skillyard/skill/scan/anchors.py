"""Finding the literals of all patterns in one pass over a text."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
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

    Hundreds of separate searches would read a file hundreds of times. One expression that starts with the
    rarest byte of each literal skips most of the text without a try.
    """

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        by_literal: dict[bytes, list[Pattern]] = defaultdict(list)
        for pattern in patterns:
            for anchor in pattern.anchors:
                by_literal[anchor.lower().encode()].append(pattern)
        self._by_byte: dict[int, list[_Anchor]] = defaultdict(list)
        for literal, needing in sorted(by_literal.items()):
            offset = rarest(literal)
            self._by_byte[literal[offset]].append(_Anchor(literal, offset, tuple(needing)))
        # Choices are tried in turn, so the bytes met most often come first.
        pivots = sorted(self._by_byte, key=_rarity)
        self._seed = re.compile(b"|".join(_seed(self._by_byte[pivot]) for pivot in pivots))

    def candidates(self, lower: bytes) -> Iterator[tuple[int, Pattern]]:
        """Where each pattern may match, in the order of the text."""
        for match in self._seed.finditer(lower):
            for literal, offset, patterns in self._by_byte[lower[match.start()]]:
                start = match.start() - offset
                if start >= 0 and lower.startswith(literal, start):
                    for pattern in patterns:
                        yield start, pattern


def rarest(literal: bytes) -> int:
    """Where the byte stands that is met least often in text."""
    return max(range(len(literal)), key=lambda at: (_rarity(literal[at]), -at))


def _rarity(byte: int) -> int:
    rank = _COMMON.find(byte)
    return rank if rank >= 0 else len(_COMMON)


def _seed(anchors: list[_Anchor]) -> bytes:
    pivot = re.escape(anchors[0].literal[anchors[0].offset :][:1])
    choices = (_around(anchor, pivot) for anchor in anchors)
    return pivot + b"(?:" + b"|".join(choices) + b")"


def _around(anchor: _Anchor, pivot: bytes) -> bytes:
    head, tail = anchor.literal[: anchor.offset], anchor.literal[anchor.offset + 1 :]
    behind = b"(?<=" + re.escape(head) + pivot + b")" if head else b""
    return behind + (b"(?=" + re.escape(tail) + b")" if tail else b"")
