"""What a cell covers, as a set that can be cut with others: spans of an order, or names that are or are not in it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import reduce
from typing import Final, TypeAlias

from skillyard.learning.rules.cells import Cell, Equal, Interval, Ordered
from skillyard.learning.rules.table import Input
from skillyard.learning.rules.values import Value, ValueType, written

_ALL: Final = Interval(None, None)
_WHOLE: Final = (_ALL,)
_ONE: Final = Decimal(1)
_SOME_DAY: Final = date(2026, 1, 1)
_UNHEARD_OF: Final = "anything else"


@dataclass(frozen=True, slots=True)
class Spans:
    """Some of what has an order: intervals apart from each other, the lower first."""

    intervals: tuple[Interval, ...] = ()

    @property
    def empty(self) -> bool:
        return not self.intervals

    def cut(self, other: "Spans") -> "Spans":
        if self.intervals is _WHOLE:
            return other
        if other.intervals is _WHOLE:
            return self
        found = (_common(mine, theirs) for mine in self.intervals for theirs in other.intervals)
        return Spans(tuple(each for each in found if each is not None))

    def rest(self) -> "Spans":
        """All that is not in it."""
        left = [_ALL]
        for taken in self.intervals:
            left = [piece for each in left for piece in _without(each, taken)]
        return Spans(tuple(left))

    def example(self, kind: ValueType) -> Value:
        """One that is in it."""
        return _inside(self.intervals[0], kind)

    def __str__(self) -> str:
        return str(Cell(tests=tuple(map(_pointed, self.intervals)))) if self.intervals != _WHOLE else "-"


@dataclass(frozen=True, slots=True)
class Names:
    """Some texts: those that are named, or all others."""

    named: frozenset[Value] = frozenset()
    others: bool = False

    @property
    def empty(self) -> bool:
        return not self.named and not self.others

    def cut(self, other: "Names") -> "Names":
        if self.others and other.others:
            return Names(self.named | other.named, others=True)
        if self.others:
            return Names(other.named - self.named)
        return Names(self.named - other.named if other.others else self.named & other.named)

    def rest(self) -> "Names":
        return Names(self.named, others=not self.others)

    def example(self, kind: ValueType) -> Value:
        del kind  # names are of one kind
        if not self.others:
            return min(self.named, key=written)
        text = _UNHEARD_OF
        while text in self.named:
            text += "!"
        return text

    def __str__(self) -> str:
        if self.others and not self.named:
            return "-"
        cell = Cell(tests=tuple(Equal(each) for each in sorted(self.named, key=written)), negated=self.others)
        return str(cell)


Known: TypeAlias = Spans | Names


@dataclass(frozen=True, slots=True)
class Region:
    """What one input may be: some values, and perhaps nothing at all."""

    known: Known
    null: bool = False

    @property
    def empty(self) -> bool:
        return self.known.empty and not self.null

    def cut(self, other: "Region") -> "Region":
        return Region(_cut(self.known, other.known), self.null and other.null)

    def without(self, other: "Region") -> "Region":
        return Region(_cut(self.known, other.known.rest()), self.null and not other.null)

    def example(self, kind: ValueType) -> Value:
        return None if self.known.empty else self.known.example(kind)

    def __str__(self) -> str:
        if self.known.empty:
            return "null"
        return f"{self.known}, null" if self.null and str(self.known) != "-" else str(self.known)


def whole(column: Input) -> Region:
    """All that an input can be."""
    everything = Region(_everything(column.type), column.optional)
    return everything if column.values is None else everything.cut(_of(column.values, column, null=column.optional))


def covered(cell: Cell, column: Input) -> Region:
    """What of that a cell covers."""
    return whole(column).cut(_of(cell, column, null=cell.anything))


def _of(cell: Cell, column: Input, *, null: bool) -> Region:
    if cell.anything:
        return Region(_everything(column.type), null)
    named_null = any(isinstance(test, Equal) and test.value is None for test in cell.tests)
    tests = [test for test in cell.tests if not (isinstance(test, Equal) and test.value is None)]
    known = _names(tests) if column.type in _NAMED else _spans(tests)
    if cell.negated:
        return Region(_cut(_everything(column.type), known.rest()), not named_null)
    return Region(known, named_null or null)


_NAMED: Final = (ValueType.STRING, ValueType.BOOLEAN)


def _everything(kind: ValueType) -> Known:
    if kind is ValueType.BOOLEAN:
        return Names(frozenset({True, False}))
    return Names(others=True) if kind is ValueType.STRING else Spans(_WHOLE)


def _names(tests: Iterable[Equal | Interval]) -> Names:
    return Names(frozenset(test.value for test in tests if isinstance(test, Equal)))


def _spans(tests: Sequence[Equal | Interval]) -> Spans:
    rests = [Spans((_interval(test),)).rest() for test in tests]
    return reduce(Spans.cut, rests, Spans(_WHOLE)).rest()


def _interval(test: Equal | Interval) -> Interval:
    if isinstance(test, Interval):
        return test
    assert isinstance(test.value, Decimal | date)  # noqa: S101 -- the column has an order
    return Interval(test.value, test.value, low_closed=True, high_closed=True)


def _cut(mine: Known, theirs: Known) -> Known:
    if isinstance(mine, Spans) and isinstance(theirs, Spans):
        return mine.cut(theirs)
    assert isinstance(mine, Names)  # noqa: S101 -- both are of one column
    assert isinstance(theirs, Names)  # noqa: S101
    return mine.cut(theirs)


def _common(one: Interval, other: Interval) -> Interval | None:
    low, low_closed = max((one.low, one.low_closed), (other.low, other.low_closed), key=_low_order)
    high, high_closed = min((one.high, one.high_closed), (other.high, other.high_closed), key=_high_order)
    found = Interval(low, high, low_closed, high_closed)
    return None if _void(found) else found


def _without(one: Interval, taken: Interval) -> list[Interval]:
    pieces: list[Interval] = []
    if taken.low is not None:
        below = _common(one, Interval(None, taken.low, high_closed=not taken.low_closed))
        pieces += [below] if below else []
    if taken.high is not None:
        above = _common(one, Interval(taken.high, None, low_closed=not taken.high_closed))
        pieces += [above] if above else []
    return pieces


def _void(span: Interval) -> bool:
    if span.low is None or span.high is None:
        return False
    if _number(span.low) == _number(span.high):
        return not (span.low_closed and span.high_closed)
    if isinstance(span.low, date) and not (span.low_closed or span.high_closed):
        return _number(span.high) - _number(span.low) <= 1  # no day is between two neighbours
    return _number(span.low) > _number(span.high)


def _low_order(end: tuple[Ordered | None, bool]) -> tuple[bool, Decimal, bool]:
    value, closed = end
    return value is not None, _number(value), not closed


def _high_order(end: tuple[Ordered | None, bool]) -> tuple[bool, Decimal, bool]:
    value, closed = end
    return value is None, _number(value), closed


def _number(value: Ordered | None) -> Decimal:
    if value is None:
        return Decimal(0)
    return value if isinstance(value, Decimal) else Decimal(value.toordinal())


def _inside(span: Interval, kind: ValueType) -> Value:
    low, high = span.low, span.high
    if low is not None and span.low_closed:
        return low
    if high is not None and span.high_closed:
        return high
    if isinstance(low, date):
        return low + timedelta(days=1)
    if isinstance(high, date):
        return high - timedelta(days=1)
    if low is not None and high is not None:
        return (low + high) / 2
    if low is not None:
        return low + _ONE
    if high is not None:
        return high - _ONE
    return _SOME_DAY if kind is ValueType.DATE else Decimal(0)


def _pointed(span: Interval) -> Equal | Interval:
    return Equal(span.low) if span.low is not None and span.low == span.high else span
