"""Searches one view of output for many forms of secrets at once."""

import sys
from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from itertools import compress
from typing import Final

from skillyard.redact.views import Span

_GROUP: Final = 4
_SEEN_FROM: Final = 2 * _GROUP - 1
"""A form of this many bytes contains a whole aligned group of four, wherever it starts."""
_MOST_STRIDE: Final = 4


class Needles:
    """Forms to find.

    Of a text, groups of four bytes are looked up at a distance at which every form must cover one, however many forms
    there are; only where a group is known are forms compared.
    """

    def __init__(self) -> None:
        self._marks: dict[bytes, bytes] = {}
        self._sorted: list[bytes] = []
        self._starts: set[bytes] = set()
        self._groups: dict[int, list[tuple[int, bytes]]] = {}
        self._stride = _MOST_STRIDE
        self._short: list[bytes] = []
        self.longest = 0

    def add(self, needle: bytes, mark: bytes) -> None:
        if needle in self._marks:
            return
        self._marks[needle] = mark
        self.longest = max(self.longest, len(needle))
        self._starts |= {needle[:1], needle[:2]}
        insort(self._sorted, needle)
        if len(needle) < _SEEN_FROM:
            self._short.append(needle)
            return
        stride = min((len(needle) - _GROUP + 1) // _GROUP, self._stride)
        if stride < self._stride:
            self._stride, self._groups = stride, {}
            for each in self._sorted:
                self._note(each)
        else:
            self._note(needle)

    def _note(self, needle: bytes) -> None:
        if len(needle) < _SEEN_FROM:
            return
        for offset in range(self._stride * _GROUP):
            group = int.from_bytes(needle[offset : offset + _GROUP], sys.byteorder)
            self._groups.setdefault(group, []).append((offset, needle))

    def find(self, view: bytes) -> Iterator[Span]:
        """All that are there, also those that overlap."""
        for needle in self._short:
            at = view.find(needle)
            while at >= 0:
                yield Span(at, at + len(needle), self._marks[needle])
                at = view.find(needle, at + 1)
        groups = memoryview(view)[: len(view) // _GROUP * _GROUP].cast("I")[:: self._stride]
        for number in compress(range(len(groups)), map(self._groups.__contains__, groups)):
            for offset, needle in self._groups[groups[number]]:
                start = number * self._stride * _GROUP - offset
                if start >= 0 and view.startswith(needle, start):
                    yield Span(start, start + len(needle), self._marks[needle])

    def open_from(self, view: bytes) -> int | None:
        """Where the tail of the view that may be the start of a form begins."""
        for at in range(max(0, len(view) - self.longest + 1), len(view)):
            if view[at : at + 2] in self._starts and self._begins(view[at:]):
                return at
        return None

    def _begins(self, text: bytes) -> bool:
        at = bisect_left(self._sorted, text)
        if at < len(self._sorted) and self._sorted[at] == text:
            at += 1
        return at < len(self._sorted) and self._sorted[at].startswith(text)


def merge_spans(spans: Iterable[Span]) -> Iterator[Span]:
    """Spans from left to right, those that overlap as one."""
    current: Span | None = None
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if current is not None and span.start < current.end:
            current = current._replace(end=max(current.end, span.end))
            continue
        if current is not None:
            yield current
        current = span
    if current is not None:
        yield current
