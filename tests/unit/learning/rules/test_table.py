import copy
from typing import Any

import pytest
from hypothesis import given
from tests.unit.learning.rules.tables import DISCOUNT, tables

from skillyard.errors import InputError
from skillyard.learning.rules.table import DecisionTable, parse_table, table_document


@given(tables())
def test_a_table_reads_back_as_it_is_written(table: DecisionTable) -> None:
    again = parse_table(table_document(table))
    assert again == table
    assert again.digest == table.digest


def test_plain_values_are_cells_too() -> None:
    document = copy.deepcopy(DISCOUNT)
    document["rules"] = [{"when": [None, 5], "then": [1, "x"]}]
    assert [str(cell) for cell in parse_table(document).rules[0].when] == ["-", "5"]


def _with(**changes: Any) -> dict[str, Any]:
    return copy.deepcopy(DISCOUNT) | changes


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ([], "table"),
        (_with(inputs=[]), "table.inputs"),
        (_with(outputs=[]), "table.outputs"),
        (_with(inputs="x"), "table.inputs"),
        (_with(hit_policy="X"), "table.hit_policy"),
        (_with(hit_policy="P"), "table.outputs"),
        (_with(inputs=[{"id": "a b"}]), "table.inputs[0].id"),
        (_with(inputs=[{"id": "a", "type": "time"}]), "table.inputs[0].type"),
        (_with(inputs=[{"id": "a", "kind": "string"}]), "table.inputs[0]"),
        (_with(inputs=[{"id": "percent"}]), "table.inputs"),
        (_with(rules=[{"when": ["-"], "then": [1, "x"]}]), "table.rules[0].when"),
        (_with(rules=[{"when": ["-", "-"], "then": [1]}]), "table.rules[0].then"),
        (_with(rules=[{"when": ["-", "-"], "then": ["a", "x"]}]), "table.rules[0].then (percent)"),
        (_with(rules=[{"when": ["-", "-"], "then": [True, "x"]}]), "table.rules[0].then (percent)"),
        (_with(rules=[{"id": "a b", "when": ["-", "-"], "then": [1, "x"]}]), "table.rules[0].id"),
        (_with(rules=[{"id": "a", "when": ["-", "-"], "then": [1, "x"]}] * 2), "table.rules"),
        (_with(default=[1]), "table.default"),
        (_with(colour="red"), "table"),
    ],
)
def test_what_is_wrong_with_a_table_is_named(document: Any, field: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_table(document)
    assert caught.value.details["field"] == field
    assert caught.value.hint


def test_a_result_must_be_one_of_those_that_the_output_can_be() -> None:
    document = _with(outputs=[{"id": "out", "values": ["x", "y"]}], rules=[{"when": ["-", "-"], "then": ["z"]}])
    with pytest.raises(InputError, match="not a value of out"):
        parse_table(document)
