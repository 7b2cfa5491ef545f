"""A column of a decision table, cut at every value in its cells, so that what a cell covers becomes a few bits.

Two cells then have a case in common if their bits do, however many alternatives each of them lists.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from decimal import Decimal
from itertools import chain
from typing import Final, TypeAlias

from skillyard.learning.rules.cells import ANY, Cell, Equal, Interval, Ordered, Test
from skillyard.learning.rules.table import Input
from skillyard.learning.rules.values import Value, ValueType, written

_Position: TypeAlias = tuple[Decimal | int, bool]
"""A point between values: right before one or, with True, right after it. Days are whole, so the point after a day is
the one before the next.
"""
_Place: TypeAlias = tuple[Ordered, bool]
"""The same as it was written."""

_NULL: Final = 1
"""The bit of no value."""
_ONE: Final = Decimal(1)
_SOME_DAY: Final = date(2026, 1, 1)
_NO_NAME: Final = "anything else"
_ENDS: Final = ((date.min.toordinal(), False), (date.max.toordinal() + 1, False))


class Axis:
    """The values that one input can have, in as many parts as the cells of its column tell apart."""

    def __init__(self, column: Input, cells: Iterable[Cell]) -> None:
        self._kind = column.type
        values = column.values
        tests = list(chain.from_iterable(cell.tests for cell in (*cells, values or Cell())))
        self._names: list[Value] = []
        self._places: list[_Place | None] = []
        """Where one part ends and the next begins."""
        self._at: dict[object, int] = {}
        if column.type in {ValueType.STRING, ValueType.BOOLEAN}:
            known: tuple[Value, ...] = (True, False) if column.type is ValueType.BOOLEAN else ()
            named = (test.value for test in tests if isinstance(test, Equal) and test.value is not None)
            self._names = list(dict.fromkeys((*known, *named)))
            self._at = {name: at for at, name in enumerate(self._names)}
            parts = len(self._names) + (column.type is ValueType.STRING)
            self._everything = (1 << parts) - 1 << 1
        else:
            written_as: dict[_Position, _Place | None] = {}
            for test in tests:
                for place in _places(test):
                    written_as.setdefault(_position(place), place)
            if column.type is ValueType.DATE:
                written_as |= dict.fromkeys(_ENDS)
            ordered = sorted(written_as)
            self._at = {position: at for at, position in enumerate(ordered)}
            self._places = [written_as[position] for position in ordered]
            outside = 1 if column.type is ValueType.DATE else 0
            self._everything = self._span(outside, len(ordered) + 1 - outside)
        self.whole = self._everything | (_NULL if column.optional else 0)
        """The bits of every value that the input can have."""
        if values is not None:
            self.whole &= self._bits(values, null=column.optional)

    def covered(self, cell: Cell) -> int:
        """The bits of the values that a cell matches."""
        return self.whole & self._bits(cell, null=cell.anything)

    def example(self, bits: int) -> Value:
        """One of the values that some bits stand for; None if they stand for no value."""
        if bits in {0, _NULL}:
            return None
        if self._names or self._kind is ValueType.STRING:
            return self._name_in(bits)
        low, high = next(self._runs(bits))
        return _between(low, high, self._kind)

    def cell(self, bits: int) -> str:
        """The cell that matches exactly the values of some bits."""
        known = bits & ~_NULL
        if not known:
            return "null"
        text = self._known(known)
        return f"{text}, null" if bits & _NULL and text != ANY else text

    def _known(self, bits: int) -> str:
        if bits == self._everything and self._kind is not ValueType.BOOLEAN:
            return ANY
        if self._names or self._kind is ValueType.STRING:
            others = self._has_others(bits)
            listed = [name for at, name in enumerate(self._names) if bool(bits >> at + 1 & 1) is not others]
            tests: Iterable[Test] = map(Equal, sorted(listed, key=written))
            return str(Cell(tests=tuple(tests), negated=others))
        return str(Cell(tests=tuple(_test(low, high) for low, high in self._runs(bits))))

    def _bits(self, cell: Cell, *, null: bool) -> int:
        if cell.anything:
            return self._everything | (_NULL if null else 0)
        bits = 0
        for test in cell.tests:
            bits |= self._test_bits(test)
        if cell.negated:
            return (self._everything | _NULL) & ~bits
        return bits | (_NULL if null else 0)

    def _test_bits(self, test: Test) -> int:
        if isinstance(test, Equal) and test.value is None:
            return _NULL
        if isinstance(test, Equal) and (self._names or self._kind is ValueType.STRING):
            return 1 << self._at[test.value] + 1
        low, high = _ends(test)
        begin = self._at[_position(low)] + 1 if low else 0
        end = self._at[_position(high)] + 1 if high else len(self._places) + 1
        return self._span(begin, end) & self._everything

    def _span(self, begin: int, end: int) -> int:
        return (1 << max(begin, end)) - (1 << begin) << 1

    def _has_others(self, bits: int) -> bool:
        return self._kind is ValueType.STRING and bool(bits >> len(self._names) + 1)

    def _name_in(self, bits: int) -> Value:
        if not self._has_others(bits):
            return min((name for at, name in enumerate(self._names) if bits >> at + 1 & 1), key=written)
        text = _NO_NAME
        while text in self._at:
            text += "!"
        return text

    def _runs(self, bits: int) -> Iterator[tuple[_Place | None, _Place | None]]:
        """Where each unbroken range begins and ends; None is unbounded."""
        bits >>= 1
        at = 0
        while bits:
            zeros = (bits & -bits).bit_length() - 1
            bits >>= zeros
            ones = (~bits & bits + 1).bit_length() - 1
            bits >>= ones
            begin, at = at + zeros, at + zeros + ones
            yield self._places[begin - 1] if begin else None, self._places[at - 1] if at <= len(self._places) else None


def axes_of(columns: Sequence[Input], rows: Sequence[Sequence[Cell]]) -> tuple[Axis, ...]:
    """The axes of a table, or of several with the same columns."""
    return tuple(Axis(column, [cells[at] for cells in rows]) for at, column in enumerate(columns))


def _ends(test: Test) -> tuple[_Place | None, _Place | None]:
    if isinstance(test, Equal):
        assert isinstance(test.value, Decimal | date)  # noqa: S101 -- the column has an order
        return (test.value, False), (test.value, True)
    low = None if test.low is None else (test.low, not test.low_closed)
    return low, None if test.high is None else (test.high, test.high_closed)


def _places(test: Test) -> list[_Place]:
    if isinstance(test, Equal) and test.value is None:
        return []
    return [place for place in _ends(test) if place is not None]


def _position(place: _Place) -> _Position:
    value, after = place
    return (value, after) if isinstance(value, Decimal) else (value.toordinal() + after, False)


def _test(low: _Place | None, high: _Place | None) -> Test:
    if low and high and low[0] == high[0]:
        return Equal(low[0])
    return Interval(
        low and low[0],
        high and high[0],
        low_closed=low is not None and not low[1],
        high_closed=high is not None and high[1],
    )


def _between(low: _Place | None, high: _Place | None, kind: ValueType) -> Value:
    if low is not None and not low[1]:
        return low[0]
    if high is not None and high[1]:
        return high[0]
    first, last = low and low[0], high and high[0]
    if isinstance(first, date):
        return first + timedelta(days=1)
    if isinstance(last, date):
        return last - timedelta(days=1)
    if first is not None and last is not None:
        return (first + last) / 2
    if first is not None:
        return first + _ONE
    if last is not None:
        return last - _ONE
    return _SOME_DAY if kind is ValueType.DATE else Decimal(0)
