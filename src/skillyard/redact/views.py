"""Views of output that skip what programs put between the characters of a value, and remember the positions."""

import re
from array import array
from collections.abc import Callable, Sequence
from itertools import compress
from typing import Final, NamedTuple


class Span(NamedTuple):
    """Where something is, and what to write instead."""

    start: int
    end: int
    mark: bytes


class View:
    """Output without some of its bytes, so that those of a value are next to each other in any layout."""

    def __init__(self, keeps: Callable[[str], bool], *, lower: bool = False, prefixes: Sequence[bytes] = ()) -> None:
        kept = bytes(keeps(chr(byte)) for byte in range(256))
        self._flags = kept
        self._dropped = bytes(byte for byte in range(256) if not kept[byte])
        self._prefixes = prefixes
        self._table = bytes(range(256)).lower() if lower else None

    def read(self, data: bytes) -> bytes:
        return data.translate(self._table, self._dropped) if self._dropped else data

    def places(self, data: bytes) -> Sequence[int]:
        """Where in the data each byte of the view stands."""
        if not self._dropped:
            return range(len(data))
        return array("I", compress(range(len(data)), data.translate(self._flags)))

    def span(self, data: bytes, places: Sequence[int], found: Span) -> Span:
        """The span in the data of something that was found in the view."""
        start = places[found.start]
        before = data[max(0, start - 2) : start]
        prefix = next((prefix for prefix in self._prefixes if before.endswith(prefix)), b"")
        return Span(start - len(prefix), places[found.end - 1] + 1, found.mark)

    def place_from_end(self, data: bytes, size: int) -> int:
        """Where in the data the last `size` bytes of the view begin."""
        window = 2 * size
        while len(self.read(data[-window:])) < size:
            window *= 2
        tail = data[-window:]
        return len(data) - len(tail) + self.places(tail)[-size]


_BETWEEN: Final = "\0\b\t\n\v\f\r \"',|\\"
"""What stands between the characters of a value in lists, columns, lines, quoted text and UTF-16."""
_HEX_DIGITS: Final = "0123456789abcdefABCDEF"
EXACT: Final = View(lambda _: True)
SQUEEZED: Final = View(lambda character: character not in _BETWEEN)
HEX: Final = View(lambda character: character in _HEX_DIGITS, lower=True, prefixes=(b"0x", b"\\x", b"%"))
DIGITS: Final = View(lambda character: character in "0123456789")

_INVISIBLE: Final = (
    *(b"\\n", b"\\r", b"\\t", b"\\x00", b"\\u0000", b"0x", b"0o"),
    *(sign.encode() for sign in "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u00ad"),
    *(b"\\u200b", b"\\u200c", b"\\u200d", b"\\u2060", b"\\ufeff", b"\\u00ad"),
)
"""Characters of no width, escapes of spaces, and what numbers begin with."""
_CONTROL: Final = re.compile(
    rb"\x1b(?:\[[0-?]{0,32}[ -/]{0,8}(?:[@-~]|\Z)|\][^\x07\x1b]{0,256}(?:\x07|\x1b\\|\Z)|[@-Z\\^_()#]?)"
)
"""What terminals do not show."""
_BEGINNINGS: Final = frozenset(text[:size] for text in _INVISIBLE for size in range(1, len(text)))
_LONGEST: Final = max(map(len, _INVISIBLE))
_ROW: Final = re.compile(
    rb"\n([0-9][0-9a-fA-F]{3,15}:?(?=[ \t]|\Z)|[0-9][0-9a-fA-F]{0,15}:?\Z)"
    rb"((?:[ \t]{1,8}[0-9a-fA-F]{2,16}(?![^ \t\n]))*)([^\n]*)"
)
"""A line of a dump: the offset, the numbers, and what may be the same as text."""
_TEXT_COLUMN: Final = re.compile(rb"[ \t]*[|>]|[ \t]{2,}(?=[^ \t])")
LONGEST_ROW: Final = 512


def without_columns(data: bytes) -> bytes:
    """The data with zero bytes for the offsets of dumps and for the texts beside their numbers."""
    return _ROW.sub(_numbers, data) if _ROW.search(data) else data


def without_invisible(data: bytes) -> bytes:
    """The data with zero bytes for what is invisible, and for what may be the beginning of it."""
    if b"\x1b" in data:
        data = _CONTROL.sub(lambda found: bytes(len(found[0])), data)
    for text in _INVISIBLE:
        if text in data:
            data = data.replace(text, bytes(len(text)))
    for size in range(min(_LONGEST, len(data)), 0, -1):
        if data[-size:] in _BEGINNINGS:
            return data[:-size] + bytes(size)
    return data


def _numbers(row: re.Match[bytes]) -> bytes:
    rest = row[3]
    if row[2] and _TEXT_COLUMN.match(rest):
        rest = bytes(len(rest))
    return b"\n" + bytes(len(row[1])) + row[2] + rest


class Rows:
    """The lines of dumps in some data: where `without_columns` differs from it."""

    def __init__(self, data: bytes, numbers: bytes) -> None:
        self._data = data
        self._numbers = numbers

    def start(self, at: int) -> int:
        """Where the row begins that has a place in its numbers; otherwise the place itself."""
        newline = self._data.rfind(b"\n", max(0, at - LONGEST_ROW), at)
        return newline + 1 if newline >= 0 and self._lacks(newline + 1) and not self._lacks(at) else at

    def goes_on(self, at: int) -> bool:
        """Whether a place is in a row that has not ended."""
        return len(self._data) - at < LONGEST_ROW and self.start(at) != at and b"\n" not in self._data[at:]

    def with_text(self, span: Span, *, last: bool) -> Span:
        """A span in the numbers of rows, with the text beside the last of them; nothing follows if it is the `last`."""
        if self.start(span.end - 1) == span.end - 1 or (self.goes_on(span.end - 1) and not last):
            return span
        end = self._data.find(b"\n", span.end, span.end + LONGEST_ROW)
        end = min(len(self._data), span.end + LONGEST_ROW) if end < 0 else end
        return span._replace(end=end) if end > span.end and self._lacks(end - 1) else span

    def _lacks(self, at: int) -> bool:
        return self._numbers[at : at + 1] != self._data[at : at + 1]
