"""Decision tables as people read them, with what is wrong marked where it is."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from skillyard.cli.learn_text import print_remarks, value_text
from skillyard.cli.release_text import print_table
from skillyard.cli.safe_text import inline, one_line
from skillyard.cli.text import BAD, FAINT, count, styled
from skillyard.learning.rules.checks import report
from skillyard.learning.rules.table import parse_table, table_document

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

POLICIES: Final = {
    "U": "at most one row holds",
    "F": "the first row that holds counts",
    "P": "the most important row that holds counts",
    "A": "the rows that hold say the same",
    "C": "all rows that hold count",
}
_ARROW: Final = "→"
_GAPS: Final = 20
"""So many cases that no row is for are shown as rows."""
_MARKS: Final = {
    "conflict": ("✗ contradicts {}", BAD),
    "overlap": ("≈ overlaps {}", "yellow"),
    "unreachable": ("∅ never applies", "yellow"),
    "impossible": ("∅ never holds", "yellow"),
}


def looked_over(document: Any) -> tuple[Mapping[str, Any], Mapping[str, Any]]:  # noqa: ANN401 -- any JSON
    """A table in its normal form, and what there is to say about it."""
    table = parse_table(document)
    return table_document(table), report(table).as_dict()


def print_rule_table(console: "Console", table: Mapping[str, Any], remarks: Sequence[Mapping[str, Any]]) -> None:
    """The rows of a table, those that nobody wrote included: the gaps."""
    inputs, outputs = table["inputs"], table["outputs"]
    head = [_head(column) for column in inputs], [_head(column) for column in outputs]
    kinds = [_kind(column) for column in inputs], [_kind(column) for column in outputs]
    rows: list[Sequence[Any]] = [_row("", *head, ""), _row("", *kinds, "")]
    marks = _marks(remarks)
    for rule in table["rules"]:
        cells = [_cell(text) for text in rule["when"]], [value_text(value) for value in rule["then"]]
        note = styled((one_line(rule.get("note", "")), FAINT))
        rows.append(_row(styled((inline(rule["id"]), "bold")), *cells, styled(*marks.get(rule["id"], ()), note)))
    gaps = [remark for remark in remarks if remark["kind"] == "gap" and remark.get("where")]
    for gap in gaps[:_GAPS]:
        cells = [styled((inline(gap["where"][column["id"]]), "yellow")) for column in inputs]
        nothing = [styled(("no answer", "yellow"))] + [""] * (len(outputs) - 1)
        rows.append(_row(styled(("gap", "yellow")), cells, nothing, ""))
    if table.get("default") is not None:
        rows.append(
            _row(styled(("else", "bold")), [""] * len(inputs), [value_text(value) for value in table["default"]], "")
        )
    print_table(console, rows)


def print_report(console: "Console", found: Mapping[str, Any]) -> None:
    """What there is to say about a table."""
    if found["remarks"]:
        console.print()
        print_remarks(console, found["remarks"])
    if found["more"]:
        console.print(f"  and {count(found['more'], 'more remark')} that are not listed", soft_wrap=True)
    if not found["complete"]:
        console.print(styled(("The table was not checked completely: it is too large.", "yellow")), soft_wrap=True)


def _row(name: Any, inputs: Sequence[Any], outputs: Sequence[Any], end: Any) -> Sequence[Any]:  # noqa: ANN401 -- text, styled or not
    return (name, *inputs, styled((_ARROW, FAINT)) if str(name) else "", *outputs, end)


def _head(column: Mapping[str, Any]) -> "Text":
    label = column.get("label")
    return styled((inline(column["id"]), "bold"), f" ({one_line(label)})" if label and label != column["id"] else "")


def _kind(column: Mapping[str, Any]) -> "Text":
    values = column.get("values")
    if isinstance(values, list):
        values = ", ".join(value_text(value) for value in values)  # pyright: ignore[reportUnknownVariableType] -- JSON
    optional = ", optional" if column.get("optional") else ""
    return styled((inline(values or column["type"]) + optional, FAINT))


def _cell(text: str) -> "Text":
    return styled((text, FAINT)) if text == "-" else styled(inline(text))


def _marks(remarks: Sequence[Mapping[str, Any]]) -> Mapping[str, list[tuple[str, str]]]:
    """What is to be said about each row, in a few words."""
    others: dict[tuple[str, str], list[str]] = {}
    for remark in remarks:
        if remark["kind"] in _MARKS:
            for rule in remark["rules"]:
                others.setdefault((rule, remark["kind"]), []).extend(set(remark["rules"]) - {rule})
    marks: dict[str, list[tuple[str, str]]] = {}
    for (rule, kind), rows in others.items():
        text, style = _MARKS[kind]
        marks.setdefault(rule, []).append((f"{text.format(inline(', '.join(rows)))}  ", style))
    return marks
