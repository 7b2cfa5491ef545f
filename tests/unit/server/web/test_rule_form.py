"""Decision tables as forms: what is entered is what is kept, and nothing that was typed is lost."""

import pytest

from skillyard.errors import InputError
from skillyard.learning.rules.table import parse_table, table_document
from skillyard.server.web.forms import Form
from skillyard.server.web.rule_form import EnteredTable, entered_in, entered_of

TABLE = table_document(
    parse_table(
        {
            "hit_policy": "P",
            "inputs": [
                {"id": "grade", "type": "string", "label": "등급", "values": '"vip", "regular"'},
                {"id": "since", "type": "date", "optional": True},
                {"id": "damaged", "type": "boolean"},
            ],
            "outputs": [
                {"id": "say", "type": "string", "values": ["yes, at once", "", "no"]},
                {"id": "percent", "type": "number", "values": [0, 2.5, 10]},
                {"id": "ask", "type": "boolean", "values": [True, False]},
            ],
            "rules": [
                {"id": "a", "when": ['"vip"', "-", "true"], "then": ["yes, at once", 10, False], "note": "trusted"},
                {"id": "b", "when": ["-", '< date("2026-01-31")', "-"], "then": ["", 2.5, True]},
            ],
            "default": ["no", 0, True],
        }
    )
)


def sent(table):
    """What a browser sends of the form of a table."""
    fields = {"hit_policy": table.hit_policy, "rows": str(len(table.rows))}
    for kind, columns in (("input", table.inputs), ("output", table.outputs)):
        fields[f"{kind}s"] = str(len(columns))
        for at, column in enumerate(columns):
            names = ("id", "label", "type", "values")
            fields |= {f"{kind}{at}.{name}": getattr(column, name) for name in names}
            fields |= {f"{kind}{at}.optional": "1"} if column.optional else {}
    for row, each in enumerate(table.rows):
        fields |= {f"row{row}.id": each.id, f"row{row}.note": each.note}
        fields |= {f"row{row}.when{at}": cell for at, cell in enumerate(each.when)}
        fields |= {f"row{row}.then{at}": value for at, value in enumerate(each.then)}
    fields |= {f"default{at}": value for at, value in enumerate(table.default)}
    return Form(fields={name: [value] for name, value in fields.items()})


def test_a_table_comes_back_from_the_form_as_it_went_in():
    entered = entered_in(sent(entered_of(TABLE)))
    assert entered == entered_of(TABLE)
    assert table_document(parse_table(entered.document)) == TABLE


def test_what_is_wrong_stays_as_it_was_typed_and_its_place_is_named():
    form = sent(entered_of(TABLE))
    form.fields["row1.then1"][0] = "ten"
    entered = entered_in(form)
    assert entered.rows[1].then[1] == "ten"
    with pytest.raises(InputError) as raised:
        _ = entered.document
    assert raised.value.details["field"] == "table.rules[1].then (percent)"


def test_a_form_that_lies_about_its_size_makes_no_more_than_a_table_holds():
    form = Form(fields={"inputs": ["999"], "outputs": ["x"], "rows": ["9999999999"]})
    entered = entered_in(form)
    assert (len(entered.inputs), len(entered.outputs), len(entered.rows)) == (40, 0, 0)


def ids(table):
    return [row.id for row in table.rows]


def test_rows_are_added_moved_and_taken_out():
    table = entered_of(TABLE)
    assert ids(table.edited("add-row")) == ["a", "b", "r1"]
    assert ids(table.edited("down:0")) == ["b", "a"]
    assert ids(table.edited("up:1")) == ["b", "a"]
    assert ids(table.edited("up:0")) == ["a", "b"]
    assert ids(table.edited("drop-row:0")) == ["b"]
    for nonsense in ("drop-row:9", "drop-row:", "drop-row:٣", "gap:3", "fly", "down:-1", "drop-input:77", ""):
        assert table.edited(nonsense) == table


def test_a_gap_becomes_a_row_for_it():
    table = entered_of(TABLE).edited("gap:0", [{"grade": '"regular"', "since": "-"}])
    assert table.rows[-1].when == ('"regular"', "-", "-")


def test_every_row_gets_and_loses_the_cells_of_a_column():
    table = entered_of(TABLE).edited("add-input").edited("add-output")
    assert {(len(row.when), len(row.then)) for row in table.rows} == {(4, 4)}
    assert len(table.default) == 4
    table = table.edited("drop-input:3").edited("drop-output:3")
    assert table == entered_of(TABLE)
    single = EnteredTable()
    assert single.edited("drop-input:0") == single.edited("drop-output:0") == single
