"""A decision table as a form: what was entered, kept as it was entered, and rows and columns put in and taken out."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from skillyard.learning.rules.cells import ANY
from skillyard.learning.rules.table import MAX_COLUMNS, MAX_RULES, HitPolicy
from skillyard.learning.rules.values import ValueType, number_value, plain, refuse
from skillyard.server.web.forms import Form

_EMPTY_TEXT: Final = '""'
"""An output that is a text without a character; a field that is left empty is no output."""
_LONGEST_NUMBER: Final = 4
"""Digits: no table has so many rows."""
_FIELDS_OF_COLUMN: Final = 5
"""Its id, label, type and values; of an input whether it may be left out, of an output what holds otherwise."""
_TRUTHS: Final = {"true": True, "false": False}


@dataclass(frozen=True, kw_only=True, slots=True)
class EnteredColumn:
    id: str = ""
    label: str = ""
    type: str = ValueType.STRING.value
    values: str = ""
    optional: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class EnteredRow:
    when: tuple[str, ...]
    then: tuple[str, ...]
    id: str = ""
    note: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class EnteredTable:
    """A table as it stands in the form, right or wrong."""

    hit_policy: str = HitPolicy.FIRST.value
    inputs: tuple[EnteredColumn, ...] = (EnteredColumn(),)
    outputs: tuple[EnteredColumn, ...] = (EnteredColumn(),)
    rows: tuple[EnteredRow, ...] = ()
    default: tuple[str, ...] = ()
    """What holds where no row does; empty fields for nothing."""

    @property
    def size(self) -> int:
        """How many fields it has: of each row the cells, a name and a note, and of each column what is said of it."""
        columns = len(self.inputs) + len(self.outputs)
        return len(self.rows) * (columns + 2) + columns * _FIELDS_OF_COLUMN

    @property
    def document(self) -> dict[str, Any]:
        """The table for `parse_table`; a value that cannot be read is an error that names its place."""
        document: dict[str, Any] = {
            "hit_policy": self.hit_policy,
            "inputs": [_input(each) for each in self.inputs],
            "outputs": [_output(each, f"table.outputs[{at}]") for at, each in enumerate(self.outputs)],
            "rules": [self._rule(row, at) for at, row in enumerate(self.rows)],
        }
        if any(self.default):
            document["default"] = self._values(self.default, "table.default")
        return document

    def edited(self, do: str, gaps: Sequence[Mapping[str, str]] = ()) -> "EnteredTable":
        """With a row or a column more, less or elsewhere: `add-row`, `drop-row:2`, `up:2`, `down:2`, `gap:0`,
        `add-input`, `drop-output:1` and so on. What cannot be done leaves it as it is.
        """
        name, _, number = do.partition(":")
        at = _number(number, nothing=-1)
        if name == "gap" and 0 <= at < len(gaps):
            cells = tuple(gaps[at].get(column.id, ANY) for column in self.inputs)
            return self._with_row(EnteredRow(when=cells, then=("",) * len(self.outputs)))
        if name == "add-row":
            return self._with_row(EnteredRow(when=(ANY,) * len(self.inputs), then=("",) * len(self.outputs)))
        if name in {"drop-row", "up", "down"} and 0 <= at < len(self.rows):
            rows = list(self.rows)
            row = rows.pop(at)
            if name != "drop-row":
                rows.insert(max(at - 1, 0) if name == "up" else at + 1, row)
            return replace(self, rows=tuple(rows))
        return self._with_columns(name, at)

    def _with_row(self, row: EnteredRow) -> "EnteredTable":
        taken = {each.id for each in self.rows}
        number = next(n for n in range(1, len(taken) + 2) if f"r{n}" not in taken)
        return replace(self, rows=(*self.rows, replace(row, id=f"r{number}"))[:MAX_RULES])

    def _with_columns(self, name: str, at: int) -> "EnteredTable":
        if name == "add-input" and len(self.inputs) < MAX_COLUMNS:
            rows = tuple(replace(row, when=(*row.when, ANY)) for row in self.rows)
            return replace(self, inputs=(*self.inputs, EnteredColumn()), rows=rows)
        if name == "add-output" and len(self.outputs) < MAX_COLUMNS:
            rows = tuple(replace(row, then=(*row.then, "")) for row in self.rows)
            default = (*self.default, "")
            return replace(self, outputs=(*self.outputs, EnteredColumn()), rows=rows, default=default)
        if name == "drop-input" and 0 <= at < len(self.inputs) > 1:
            rows = tuple(replace(row, when=_without(row.when, at)) for row in self.rows)
            return replace(self, inputs=_without(self.inputs, at), rows=rows)
        if name == "drop-output" and 0 <= at < len(self.outputs) > 1:
            rows = tuple(replace(row, then=_without(row.then, at)) for row in self.rows)
            default = _without(self.default, at)
            return replace(self, outputs=_without(self.outputs, at), rows=rows, default=default)
        return self

    def _rule(self, row: EnteredRow, at: int) -> dict[str, Any]:
        return {
            "id": row.id.strip() or f"r{at + 1}",
            "when": [cell.strip() or ANY for cell in row.when],
            "then": self._values(row.then, f"table.rules[{at}].then"),
            **({"note": row.note} if row.note else {}),
        }

    def _values(self, texts: Sequence[str], field: str) -> list[Any]:
        columns = zip(texts, self.outputs, strict=True)
        return [value_of(text, column.type, field=f"{field} ({column.id})") for text, column in columns]


def entered_in(form: Form) -> EnteredTable:
    """The table that a form holds."""
    inputs = [_column(form, f"input{at}") for at in range(_count(form, "inputs", MAX_COLUMNS))]
    outputs = [_column(form, f"output{at}") for at in range(_count(form, "outputs", MAX_COLUMNS))]
    rows = [
        EnteredRow(
            id=form.text(f"row{row}.id"),
            when=tuple(form.text(f"row{row}.when{at}") for at in range(len(inputs))),
            then=tuple(form.text(f"row{row}.then{at}") for at in range(len(outputs))),
            note=form.text(f"row{row}.note"),
        )
        for row in range(_count(form, "rows", MAX_RULES))
    ]
    return EnteredTable(
        hit_policy=form.text("hit_policy"),
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        rows=tuple(rows),
        default=tuple(form.text(f"default{at}") for at in range(len(outputs))),
    )


def entered_of(document: Mapping[str, Any]) -> EnteredTable:
    """A table that is kept, as a form shows it."""
    outputs = tuple(_column_of(each) for each in document["outputs"])
    return EnteredTable(
        hit_policy=document["hit_policy"],
        inputs=tuple(_column_of(each) for each in document["inputs"]),
        outputs=outputs,
        rows=tuple(
            EnteredRow(
                id=rule["id"],
                when=tuple(rule["when"]),
                then=tuple(map(text_of, rule["then"])),
                note=rule.get("note", ""),
            )
            for rule in document["rules"]
        ),
        default=tuple(map(text_of, document.get("default") or [None] * len(outputs))),
    )


def value_of(text: str, kind: str, *, field: str) -> Any:  # noqa: ANN401 -- JSON
    """What a field says, as JSON has it; nothing where it is empty."""
    stripped = text.strip()
    if not stripped:
        return None
    if kind == ValueType.NUMBER:
        return plain(number_value(stripped, field=field))
    if kind == ValueType.BOOLEAN:
        return _TRUTHS.get(stripped.lower(), stripped)
    return "" if stripped == _EMPTY_TEXT else stripped


def text_of(value: Any) -> str:  # noqa: ANN401 -- JSON
    """A value as a field shows it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return _EMPTY_TEXT if value == "" else str(value)


def _count(form: Form, name: str, most: int) -> int:
    return min(_number(form.text(name), nothing=0), most)


def _number(text: str, *, nothing: int) -> int:
    """The number that a browser sends; anything else was made up."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _LONGEST_NUMBER else nothing


def _column(form: Form, name: str) -> EnteredColumn:
    return EnteredColumn(
        id=form.text(f"{name}.id"),
        label=form.text(f"{name}.label"),
        type=form.text(f"{name}.type"),
        values=form.text(f"{name}.values"),
        optional=form.is_set(f"{name}.optional"),
    )


def _column_of(document: Mapping[str, Any]) -> EnteredColumn:
    values = document.get("values") or ""
    return EnteredColumn(
        id=document["id"],
        label=document.get("label", ""),
        type=document["type"],
        values=values if isinstance(values, str) else _listed(values),
        optional=document.get("optional", False),
    )


def _input(column: EnteredColumn) -> dict[str, Any]:
    return {
        "id": column.id.strip(),
        "type": column.type,
        "label": column.label.strip(),
        **({"values": column.values} if column.values.strip() else {}),
        "optional": column.optional,
    }


def _output(column: EnteredColumn, field: str) -> dict[str, Any]:
    return {
        "id": column.id.strip(),
        "type": column.type,
        "label": column.label.strip(),
        "values": _values(column, f"{field}.values"),
    }


def _values(column: EnteredColumn, field: str) -> Any:  # noqa: ANN401 -- JSON
    """What an output can be: with commas between, or as a JSON list where commas are part of it."""
    text = column.values.strip()
    if text.startswith("["):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return refuse("it is no JSON list", 'Write ["a", "b"], or a, b.', field=field, value=text)
    values = [value_of(each, column.type, field=field) for each in text.split(",")]
    return [value for value in values if value is not None]


def _listed(values: Sequence[Any]) -> str:
    texts = list(map(text_of, values))
    plain_ones = all("," not in text and not text.startswith("[") for text in texts)
    return ", ".join(texts) if plain_ones else json.dumps(list(values), ensure_ascii=False)


def _without(items: tuple[Any, ...], at: int) -> tuple[Any, ...]:
    return (*items[:at], *items[at + 1 :])
