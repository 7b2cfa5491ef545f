import pytest
from hypothesis import given
from tests.unit.learning.rules.tables import name_cells, number_cells

from skillyard.errors import InputError
from skillyard.learning.rules.cells import parse_cell
from skillyard.learning.rules.values import ValueType


@pytest.mark.parametrize("text", ["-", "", "  - ", " "])
def test_a_dash_or_nothing_is_anything(text: str) -> None:
    assert parse_cell(text, ValueType.NUMBER, field="x").anything


@given(number_cells())
def test_a_cell_of_numbers_reads_back_as_it_is_written(text: str) -> None:
    cell = parse_cell(text, ValueType.NUMBER, field="x")
    assert parse_cell(str(cell), ValueType.NUMBER, field="x") == cell


@given(name_cells())
def test_a_cell_of_texts_reads_back_as_it_is_written(text: str) -> None:
    cell = parse_cell(text, ValueType.STRING, field="x")
    assert parse_cell(str(cell), ValueType.STRING, field="x") == cell


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("gold", ValueType.STRING, "is not a string"),
        ("> 5", ValueType.STRING, "is not a string"),
        ('< "a"', ValueType.STRING, "have an order"),
        ("5 6", ValueType.NUMBER, "should end"),
        ("[5..1]", ValueType.NUMBER, "nothing is between"),
        ("[1..", ValueType.NUMBER, "missing"),
        ("(1..1)", ValueType.NUMBER, "nothing is between"),
        ("not(5", ValueType.NUMBER, ") is missing"),
        ("!= 5", ValueType.NUMBER, "not(…)"),
        ("5 + 6", ValueType.NUMBER, "not understood"),
        ("count(x)", ValueType.NUMBER, "is not a number"),
        ("1" * 30, ValueType.NUMBER, "longer than"),
        ("1e99", ValueType.NUMBER, "longer than"),
        ("yes", ValueType.BOOLEAN, "is not a boolean"),
        ('date("2026-02-30")', ValueType.DATE, "not a date"),
        ('"\x01"', ValueType.STRING, "control characters"),
        (", ".join("1" * 300), ValueType.NUMBER, "200 are allowed"),
        ("9" * 20_000, ValueType.NUMBER, "10,000 are allowed"),
    ],
)
def test_what_is_no_cell_is_refused_with_what_to_write_instead(text: str, kind: ValueType, said: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_cell(text, kind, field="rules[0].when[1]")
    assert said in caught.value.message
    assert "rules[0].when[1]" in caught.value.message
    assert caught.value.hint
