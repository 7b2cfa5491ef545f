import pytest
from hypothesis import given
from tests.unit.learning.rules.tables import DISCOUNT, tables

from skillyard.errors import InputError, LimitError
from skillyard.learning.rules.dmn_read import MAX_XML, read_dmn
from skillyard.learning.rules.dmn_write import write_dmn
from skillyard.learning.rules.table import DecisionTable, parse_table

FOREIGN = """<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="d" name="d" namespace="http://example.org">
  <decision id="approve" name="Approve">
    <decisionTable id="t" hitPolicy="{policy}">
      <input id="i1" label="Age">
        <inputExpression id="e1" typeRef="{type}"><text>{expression}</text></inputExpression>
      </input>
      <output id="o1" name="ok" typeRef="boolean"/>
      <rule id="DecisionRule_1"><description>adults</description>
        <inputEntry id="x1"><text>&gt;= 18</text></inputEntry>
        <outputEntry id="y1"><text>{output}</text></outputEntry>
      </rule>
    </decisionTable>
  </decision>
</definitions>"""
GIVEN = {"policy": "FIRST", "type": "integer", "expression": "applicant age", "output": "true"}


@given(tables())
def test_a_table_comes_back_from_xml_as_it_went_in(table: DecisionTable) -> None:
    assert read_dmn(write_dmn(table, name="결정 <&>")) == ("결정 <&>", table)


def test_labels_notes_and_defaults_come_back_too() -> None:
    table = parse_table(DISCOUNT | {"default": [1, None]})
    assert read_dmn(write_dmn(table, name="x"))[1] == table


def test_a_table_of_another_editor_is_read() -> None:
    name, table = read_dmn(FOREIGN.format(**GIVEN))
    assert name == "Approve"
    assert (table.inputs[0].id, table.inputs[0].label, table.inputs[0].type) == ("applicant_age", "Age", "number")
    assert (table.rules[0].note, str(table.rules[0].when[0]), table.rules[0].then) == ("adults", ">= 18", (True,))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"policy": "RULE ORDER"}, "hit policy"),
        ({"type": "feel:duration"}, "type"),
        ({"expression": "age + 1"}, "expression"),
        ({"output": "age > 5"}, "should end|not one value|is not a boolean"),
        ({"output": "not(true)"}, "not one value"),
    ],
)
def test_what_cannot_be_executed_is_an_error(change: dict[str, str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_dmn(FOREIGN.format(**GIVEN | change))


@pytest.mark.parametrize(
    ("xml", "said"),
    [
        ("<definitions", "well-formed"),
        ("<a/>", "root"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><definitions/>', "DTD"),
        ('<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/"/>', "0 decisions"),
        ("\x00", "well-formed"),
    ],
)
def test_what_is_no_such_document_is_refused(xml: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_dmn(xml)


def test_a_document_beyond_all_measure_is_not_read() -> None:
    with pytest.raises(LimitError):
        read_dmn(b" " * (MAX_XML + 1))
