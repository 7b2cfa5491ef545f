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

_Low: TypeAlias = tuple[bool, Decimal, bool, Ordered | None]
"""Where a span begins, to be compared: whether it begins at all, where, whether after that, and the value itself."""
_High: TypeAlias = tuple[bool, Decimal, bool, Ordered | None]
"""Where it ends: whether never, where, whether with that, and the value itself."""
_Span: TypeAlias = tuple[_Low, _High]

_ONE: Final = Decimal(1)
_FIRST: Final[_Low] = (False, Decimal(0), True, None)
_LAST: Final[_High] = (True, Decimal(0), False, None)
_WHOLE: Final[tuple[_Span, ...]] = ((_FIRST, _LAST),)
_SOME_DAY: Final = date(2026, 1, 1)
_UNHEARD_OF: Final = "anything else"


@dataclass(frozen=True, slots=True)
class Spans:
    """Some of what has an order: spans apart from each other, the lower first."""

    spans: tuple[_Span, ...] = ()

    @property
    def empty(self) -> bool:
        return not self.spans

    def cut(self, other: "Spans") -> "Spans":
        if self.spans is _WHOLE:
            return other
        if other.spans is _WHOLE:
            return self
        return Spans(_common(self.spans, other.spans))

    def rest(self) -> "Spans":
        """All that is not in it."""
        left = _WHOLE
        for low, high in self.spans:
            left = _common(left, (*_below(low), *_above(high)))
        return Spans(left)

    def example(self, kind: ValueType) -> Value:
        """One that is in it."""
        return _inside(self.spans[0], kind)

    def __str__(self) -> str:
        return str(Cell(tests=tuple(map(_test, self.spans)))) if self.spans != _WHOLE else "-"


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
    rests = [Spans((_span(test),)).rest() for test in tests]
    return reduce(Spans.cut, rests, Spans(_WHOLE)).rest()


def _span(test: Equal | Interval) -> _Span:
    if isinstance(test, Equal):
        assert isinstance(test.value, Decimal | date)  # noqa: S101 -- the column has an order
        number = _number(test.value)
        return (True, number, False, test.value), (False, number, True, test.value)
    low = _FIRST if test.low is None else (True, _number(test.low), not test.low_closed, test.low)
    high = _LAST if test.high is None else (False, _number(test.high), test.high_closed, test.high)
    return low, high


def _test(span: _Span) -> Equal | Interval:
    (_, _, after, low), (_, _, up_to, high) = span
    return Equal(low) if low is not None and low == high else Interval(low, high, not after and low is not None, up_to)


def _number(value: Ordered) -> Decimal:
    return value if isinstance(value, Decimal) else Decimal(value.toordinal())


def _cut(mine: Known, theirs: Known) -> Known:
    if isinstance(mine, Spans) and isinstance(theirs, Spans):
        return mine.cut(theirs)
    assert isinstance(mine, Names)  # noqa: S101 -- both are of one column
    assert isinstance(theirs, Names)  # noqa: S101
    return mine.cut(theirs)


def _common(some: Iterable[_Span], others: Sequence[_Span]) -> tuple[_Span, ...]:
    """What is in both. Tables of hundreds of rules ask this hundred thousands of times."""
    found: list[_Span] = []
    for low, high in some:
        for other_low, other_high in others:
            begin = max(low, other_low)
            end = min(high, other_high)
            if not (begin[0] and not end[0] and _void(begin, end)):
                found.append((begin, end))
    return tuple(found)


def _void(low: _Low, high: _High) -> bool:
    """Whether nothing is between two ends that are somewhere."""
    if low[1] == high[1]:
        return low[2] or not high[2]
    if low[2] and not high[2] and isinstance(low[3], date):
        return high[1] - low[1] <= 1  # no day is between two neighbours
    return low[1] > high[1]


def _below(low: _Low) -> tuple[_Span, ...]:
    begins, number, after, value = low
    return ((_FIRST, (False, number, after, value)),) if begins else ()


def _above(high: _High) -> tuple[_Span, ...]:
    never, number, up_to, value = high
    return () if never else (((True, number, up_to, value), _LAST),)


def _inside(span: _Span, kind: ValueType) -> Value:
    (_, _, after, low), (_, _, up_to, high) = span
    if low is not None and not after:
        return low
    if high is not None and up_to:
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
