"""Cells of a decision table: the tests that a value must pass, written as in FEEL's unary tests.

`-` is anything; otherwise one or more of `"gold"`, `10`, `true`, `date("2026-01-31")`, `null`, `< 10`, `>= 5`, `!= 3`
and `[1..10)`, separated by commas; `not(…)` around them turns them round.
"""

import re
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Final, NoReturn, TypeAlias

from skillyard.learning.rules.values import (
    Value,
    ValueType,
    date_value,
    number_value,
    refuse,
    text_value,
    unescaped,
    written,
)

ANY: Final = "-"
MAX_CELL: Final = 10_000
MAX_TESTS: Final = 200
Ordered: TypeAlias = Decimal | date

_TOKEN: Final = re.compile(
    r"""\s*(?:
      (?P<string>"(?:[^"\\]|\\.)*")
    | (?P<date>date\(\s*"(?P<day>[^"]*)"\s*\))
    | (?P<number>-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)
    | (?P<word>[^\W\d]\w*)
    | (?P<mark>\.\.|<=|>=|!=|[<>=,()\[\]-])
    )""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Equal:
    value: Value


@dataclass(frozen=True, slots=True)
class Interval:
    """Between two ends; an end that is None is open to that side for ever."""

    low: Ordered | None
    high: Ordered | None
    low_closed: bool = False
    high_closed: bool = False


Test: TypeAlias = Equal | Interval


@dataclass(frozen=True, kw_only=True, slots=True)
class Cell:
    """What one input must be for a rule to match."""

    tests: tuple[Test, ...] = ()
    """One of them must hold; with none, anything does."""
    negated: bool = False

    @property
    def anything(self) -> bool:
        return not self.tests

    def __str__(self) -> str:
        if self.anything:
            return ANY
        listed = ", ".join(map(_test_text, self.tests))
        return f"not({listed})" if self.negated else listed


def parse_cell(text: str, kind: ValueType, *, field: str) -> Cell:
    """The cell that a text says, or an error that says what to write instead."""
    if len(text) > MAX_CELL:
        problem = f"the cell has {len(text):,} characters; {MAX_CELL:,} are allowed"
        refuse(problem, "Use several rules.", field=field, value="")
    if text.strip() in {"", ANY}:
        return Cell()
    return _Parser(text, kind, field).cell()


def holds(cell: Cell, value: Value) -> bool:
    """Whether a value of the cell's column passes it."""
    return cell.anything or any(_passes(test, value) for test in cell.tests) is not cell.negated


def _passes(test: Test, value: Value) -> bool:
    if isinstance(test, Equal):
        return test.value == value
    if not isinstance(value, Decimal | date):
        return False
    low, high = test.low, test.high  # of the same kind as the value: that of the column
    above = low is None or low < value or (test.low_closed and low == value)  # type: ignore[operator]
    return above and (high is None or value < high or (test.high_closed and value == high))  # type: ignore[operator]


class _Parser:
    """Reads one cell from left to right."""

    def __init__(self, text: str, kind: ValueType, field: str) -> None:
        self._text = text
        self._kind = kind
        self._field = field
        self._tokens: list[re.Match[str]] = []
        at = 0
        while at < len(text.rstrip()):
            found = _TOKEN.match(text, at)
            if found is None:
                self._refuse(f"{text[at:].strip()[:20]!r} is not understood")
            self._tokens.append(found)
            at = found.end()
        self._at = 0

    def cell(self) -> Cell:
        negated = self._word() == "not" and self._peek(1) == "("
        if negated:
            self._at += 2
        tests = [self._test()]
        while self._take(","):
            tests.append(self._test())
        if negated and not self._take(")"):
            self._refuse("a ) is missing")
        if self._at < len(self._tokens):
            self._refuse(f"{self._tokens[self._at][0].strip()!r} stands where the cell should end")
        if len(tests) > MAX_TESTS:
            self._refuse(f"there are {len(tests)} tests; {MAX_TESTS} are allowed")
        return Cell(tests=tuple(dict.fromkeys(tests)), negated=negated)

    def _test(self) -> Test:
        mark = self._peek()
        if mark in {"[", "(", "]"}:
            return self._interval()
        if mark in {"<", "<=", ">", ">="}:
            self._at += 1
            end = self._end()
            closed = mark.endswith("=")
            return Interval(None, end, high_closed=closed) if mark[0] == "<" else Interval(end, None, closed)
        if mark == "!=":
            self._refuse("!= is not a test of its own; write not(…)")
        if mark == "=":
            self._at += 1
        return Equal(self._value())

    def _interval(self) -> Interval:
        low_closed = self._next() == "["
        low = self._end()
        if not self._take(".."):
            self._refuse("an interval is written [1..10]")
        high = self._end()
        closing = self._next()
        if closing not in {"]", ")", "["}:
            self._refuse("an interval ends with ] or )")
        high_closed = closing == "]"
        if low > high or (low == high and not (low_closed and high_closed)):  # type: ignore[operator]
            self._refuse(f"nothing is between {written(low)} and {written(high)}")
        return Interval(low, high, low_closed, high_closed)

    def _end(self) -> Ordered:
        value = self._value()
        if isinstance(value, Decimal | date):
            return value
        return self._refuse("only numbers and dates have an order")

    def _value(self) -> Value:
        if self._at >= len(self._tokens):
            self._refuse("something is missing at the end")
        token = self._tokens[self._at]
        self._at += 1
        if token["word"] == "null":
            return None
        if token["string"] is not None and self._kind is ValueType.STRING:
            return text_value(unescaped(token["string"][1:-1]), field=self._field)
        if token["number"] is not None and self._kind is ValueType.NUMBER:
            return number_value(token["number"], field=self._field)
        if token["word"] in {"true", "false"} and self._kind is ValueType.BOOLEAN:
            return token["word"] == "true"
        if self._kind is ValueType.DATE and (token["date"] or token["string"]):
            return date_value(token["day"] if token["date"] else token["string"][1:-1], field=self._field)
        return self._refuse(f"{token[0].strip()[:40]} is not a {self._kind}")

    def _word(self) -> str | None:
        return self._tokens[self._at]["word"] if self._at < len(self._tokens) else None

    def _peek(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._tokens[at]["mark"] or "" if at < len(self._tokens) else ""

    def _next(self) -> str:
        mark = self._peek()
        self._at += 1
        return mark

    def _take(self, mark: str) -> bool:
        if self._peek() != mark:
            return False
        self._at += 1
        return True

    def _refuse(self, problem: str) -> NoReturn:
        refuse(problem, _FIXES[self._kind], field=self._field, value=self._text)


def _test_text(test: Test) -> str:
    if isinstance(test, Equal):
        return written(test.value)
    if test.low is None:
        return f"{'<=' if test.high_closed else '<'} {written(test.high)}"
    if test.high is None:
        return f"{'>=' if test.low_closed else '>'} {written(test.low)}"
    opening, closing = "[" if test.low_closed else "(", "]" if test.high_closed else ")"
    return f"{opening}{written(test.low)}..{written(test.high)}{closing}"


_FIXES: Final = {
    ValueType.STRING: 'Write - for anything, "gold", "gold", "silver" or not("gold").',
    ValueType.NUMBER: "Write - for anything, 10, >= 10, [1..10], 1, 2, 3 or not(0).",
    ValueType.BOOLEAN: "Write - for anything, true or false.",
    ValueType.DATE: 'Write - for anything, date("2026-01-31"), < date("2026-01-31") or an interval of two dates.',
}
