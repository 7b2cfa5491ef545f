"""Small tables over small domains, and the plainest way to decide by them."""

from datetime import date
from decimal import Decimal
from itertools import product
from typing import Any

from hypothesis import strategies as st

from skillyard.learning.rules.cells import Cell, Equal, Interval
from skillyard.learning.rules.evaluation import Decided, Decider
from skillyard.learning.rules.table import DecisionTable, parse_table
from skillyard.learning.rules.values import Value

DISCOUNT: dict[str, Any] = {
    "hit_policy": "U",
    "inputs": [
        {"id": "tier", "type": "string", "label": "고객 등급", "values": ['"gold"', '"silver"']},
        {"id": "amount", "type": "number", "values": ">= 0"},
    ],
    "outputs": [{"id": "percent", "type": "number"}, {"id": "say", "type": "string"}],
    "rules": [
        {"id": "big", "when": ['"gold"', ">= 100"], "then": [10, 'a "big" one']},
        {"id": "small", "when": ['"gold"', "< 100"], "then": [5, "작은"]},
        {"id": "rest", "when": ['"silver"', "-"], "then": [0, "-"], "note": "nothing for them yet"},
    ],
}
NAMES = ("a", "b", 'c"d', "金")
NUMBERS = tuple(map(Decimal, ("-1", "0", "0.5", "1", "2", "10")))
DAYS = (date(2026, 1, 1), date(2026, 1, 2), date(2026, 2, 1))


def decide(table: DecisionTable, inputs: dict[str, Any]) -> Decided:
    return Decider(table).decide(inputs)


def holds(cell: Cell, value: Value) -> bool:
    """Whether a value passes a cell, test by test."""
    if cell.anything:
        return True
    return any(_passes(test, value) for test in cell.tests) is not cell.negated


def _passes(test: Equal | Interval, value: Any) -> bool:
    if isinstance(test, Equal):
        return type(test.value) is type(value) and test.value == value
    if value is None:
        return False
    above = test.low is None or value > test.low or (test.low_closed and value == test.low)
    return above and (test.high is None or value < test.high or (test.high_closed and value == test.high))


def number_cells() -> st.SearchStrategy[str]:
    end = st.sampled_from(["-1", "0", "0.5", "1", "2", "10"])
    compared = st.builds("{} {}".format, st.sampled_from(["<", "<=", ">", ">="]), end)
    spans = st.sampled_from(["[0..2]", "(0..2)", "[0.5..1)", "(-1..10]", "[1..1]"])
    test = st.one_of(end, compared, spans, st.just("null"))
    listed = st.lists(test, min_size=1, max_size=3).map(", ".join)
    return st.one_of(st.just("-"), listed, listed.map("not({})".format))


def name_cells() -> st.SearchStrategy[str]:
    test = st.sampled_from(['"a"', '"b"', r'"c\"d"', '"金"', "null"])
    listed = st.lists(test, min_size=1, max_size=3).map(", ".join)
    return st.one_of(st.just("-"), listed, listed.map("not({})".format))


def truth_cells() -> st.SearchStrategy[str]:
    return st.sampled_from(["-", "true", "false", "not(true)", "true, false", "null"])


def day_cells() -> st.SearchStrategy[str]:
    return st.sampled_from(
        [
            "-",
            'date("2026-01-01")',
            '< date("2026-01-02")',
            '>= date("2026-01-02")',
            '(date("2026-01-01")..date("2026-02-01"))',
            'not(date("2026-02-01"))',
        ]
    )


def tables(policies: str = "UFPAC") -> st.SearchStrategy[DecisionTable]:
    cells = st.tuples(name_cells(), number_cells(), truth_cells(), day_cells()).map(list)
    rule = st.builds(lambda when, then: {"when": when, "then": [then]}, cells, st.sampled_from(["x", "y", "z"]))
    return st.builds(
        _table,
        st.sampled_from(policies),
        st.lists(rule, min_size=1, max_size=5),
        st.booleans(),
    )


def _table(policy: str, rules: list[Any], optional: bool) -> DecisionTable:
    return parse_table(
        {
            "hit_policy": policy,
            "inputs": [
                {"id": "name", "type": "string", "optional": optional},
                {"id": "number", "type": "number", "optional": optional},
                {"id": "truth", "type": "boolean"},
                {"id": "day", "type": "date"},
            ],
            "outputs": [{"id": "out", "type": "string", "values": ["x", "y", "z"]}],
            "rules": rules,
        }
    )


def cases(table: DecisionTable) -> list[tuple[Value, ...]]:
    """Every case of a small part of what the table is about."""
    none: tuple[Value, ...] = (None,) if table.inputs[0].optional else ()
    return list(product((*NAMES, "elsewhere", *none), (*NUMBERS, Decimal("1.5"), *none), (True, False), DAYS))


def matching(table: DecisionTable, case: tuple[Value, ...]) -> list[str]:
    return [
        rule.id for rule in table.rules if all(holds(cell, value) for cell, value in zip(rule.when, case, strict=True))
    ]
