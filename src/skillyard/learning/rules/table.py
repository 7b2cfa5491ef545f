"""Decision tables as values, and as the JSON that is kept, edited and sent."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, TypeAlias, cast

from skillyard.errors import LimitError
from skillyard.learning.rules.cells import ANY, Cell, parse_cell
from skillyard.learning.rules.values import Value, ValueType, given_value, plain, refuse

MAX_COLUMNS: Final = 40
MAX_RULES: Final = 500
MAX_PARTS: Final = 25_000
"""Alternatives in all cells, and outputs of all rules; this many can be compared in well under a second."""
MAX_SIZE: Final = 500_000
"""Characters of a whole table."""
MAX_NOTE: Final = 2_000
MAX_VALUES: Final = 200

_ID: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_RULE_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_Json: TypeAlias = Mapping[str, Any]


class HitPolicy(StrEnum):
    """Which of the rules that match count."""

    UNIQUE = "U"
    FIRST = "F"
    PRIORITY = "P"
    ANY = "A"
    COLLECT = "C"


@dataclass(frozen=True, kw_only=True, slots=True)
class Input:
    id: str
    type: ValueType
    label: str = ""
    values: Cell | None = None
    """All that it can be, where that is known."""
    optional: bool = False
    """Whether it may be left out, and is null then."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Output:
    id: str
    type: ValueType
    label: str = ""
    values: tuple[Value, ...] = ()
    """All that it can be, where that is known; under `P`, the more important first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    id: str
    when: tuple[Cell, ...]
    then: tuple[Value, ...]
    note: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class DecisionTable:
    hit_policy: HitPolicy
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    rules: tuple[Rule, ...]
    default: tuple[Value, ...] | None = None
    """What holds where no rule matches."""

    @property
    def digest(self) -> str:
        return digest_of(table_document(self))

    def told(self, values: Sequence[Value]) -> dict[str, Any]:
        """Outputs by their ids, for JSON."""
        return {output.id: plain(value) for output, value in zip(self.outputs, values, strict=True)}


def parse_table(document: object) -> DecisionTable:
    """The table that JSON says; whatever is wrong with it is an error that names the place."""
    given = _object(document, "table")
    _require_size(given)
    inputs = tuple(_input(each, f"table.inputs[{at}]") for at, each in _list(given, "inputs", "table", MAX_COLUMNS))
    outputs = tuple(_output(each, f"table.outputs[{at}]") for at, each in _list(given, "outputs", "table", MAX_COLUMNS))
    for kind, columns in (("inputs", inputs), ("outputs", outputs)):
        if not columns:
            refuse(f"a table needs {kind}", "Add at least one.", field=f"table.{kind}", value="[]")
    _distinct([*(each.id for each in inputs), *(each.id for each in outputs)], "table.inputs", "columns")
    rules: list[Rule] = []
    parts = 0
    for at, each in _list(given, "rules", "table", MAX_RULES):
        rules.append(_rule(each, at, inputs, outputs, f"table.rules[{at}]"))
        parts += _parts(rules[-1])
        _require_parts(parts)
    _distinct([rule.id for rule in rules], "table.rules", "rules")
    default = given.get("default")
    table = DecisionTable(
        hit_policy=_policy(given.get("hit_policy", "U"), "table.hit_policy"),
        inputs=inputs,
        outputs=outputs,
        rules=tuple(rules),
        default=None if default is None else _results(default, outputs, "table.default"),
    )
    _unknown(given, ("hit_policy", "inputs", "outputs", "rules", "default"), "table")
    if table.hit_policy is HitPolicy.PRIORITY and not all(output.values for output in outputs):
        fix = "List the values of each output, the more important first, or choose another hit policy."
        refuse("priority needs to know what is more important", fix, field="table.outputs", value="P")
    return table


def table_document(table: DecisionTable) -> dict[str, Any]:
    """The same as JSON."""
    document: dict[str, Any] = {
        "hit_policy": table.hit_policy.value,
        "inputs": [_input_document(each) for each in table.inputs],
        "outputs": [_output_document(each) for each in table.outputs],
        "rules": [
            {
                "id": rule.id,
                "when": list(map(str, rule.when)),
                "then": list(map(plain, rule.then)),
                **({"note": rule.note} if rule.note else {}),
            }
            for rule in table.rules
        ],
    }
    if table.default is not None:
        document["default"] = list(map(plain, table.default))
    return document


def parts_of(table: DecisionTable) -> int:
    """The amount of comparison that a table needs: alternatives in its cells, and outputs."""
    return sum(map(_parts, table.rules))


def require_bounds(table: DecisionTable) -> None:
    """Refuses the result of a merge that is over the limits of a table."""
    if len(table.rules) > MAX_RULES:
        raise _too_large(len(table.rules), MAX_RULES, "rows")
    if len(table.inputs) > MAX_COLUMNS:
        raise _too_large(len(table.inputs), MAX_COLUMNS, "inputs")
    _require_parts(parts_of(table))
    _require_size(table_document(table))


def _parts(rule: Rule) -> int:
    return len(rule.then) + sum(max(1, len(cell.tests)) for cell in rule.when)


def _require_parts(parts: int) -> None:
    if parts > MAX_PARTS:
        raise _too_large(parts, MAX_PARTS, "alternatives and outputs in its cells")


def digest_of(document: Mapping[str, Any]) -> str:
    """The digest of a table's JSON."""
    text = json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _require_size(document: Mapping[str, Any]) -> None:
    size = len(json.dumps(document, ensure_ascii=False, default=str))
    if size > MAX_SIZE:
        raise _too_large(size, MAX_SIZE, "characters")


def _too_large(value: int, limit: int, what: str) -> LimitError:
    return LimitError(
        f"The table has {value:,} {what}; at most {limit:,} are allowed.",
        hint="Split the table into several rules.",
        details={"field": "table", "value": value, "limit": limit},
    )


def _input_document(column: Input) -> dict[str, Any]:
    document: dict[str, Any] = {"id": column.id, "type": column.type.value}
    if column.label:
        document["label"] = column.label
    if column.values is not None:
        document["values"] = str(column.values)
    if column.optional:
        document["optional"] = True
    return document


def _output_document(column: Output) -> dict[str, Any]:
    document: dict[str, Any] = {"id": column.id, "type": column.type.value}
    if column.label:
        document["label"] = column.label
    if column.values:
        document["values"] = list(map(plain, column.values))
    return document


def _input(document: object, field: str) -> Input:
    given = _object(document, field)
    kind = _type(given.get("type", "string"), f"{field}.type")
    values = given.get("values")
    if isinstance(values, list):
        values = ", ".join(map(_cell_text, cast("list[object]", values)))
    if values is not None and not isinstance(values, str):
        refuse("it is a cell that holds for every allowed value", 'Write "a", "b".', field=f"{field}.values", value="")
    _unknown(given, ("id", "type", "label", "values", "optional"), field)
    return Input(
        id=_id(given.get("id"), f"{field}.id"),
        type=kind,
        label=_text(given.get("label", ""), f"{field}.label", 200),
        values=parse_cell(values, kind, field=f"{field}.values") if values else None,
        optional=given.get("optional") is True,
    )


def _output(document: object, field: str) -> Output:
    given = _object(document, field)
    kind = _type(given.get("type", "string"), f"{field}.type")
    values = [given_value(each, kind, field=f"{field}.values") for _, each in _list(given, "values", field, MAX_VALUES)]
    _unknown(given, ("id", "type", "label", "values"), field)
    return Output(
        id=_id(given.get("id"), f"{field}.id"),
        type=kind,
        label=_text(given.get("label", ""), f"{field}.label", 200),
        values=tuple(values),
    )


def _rule(document: object, at: int, inputs: Sequence[Input], outputs: Sequence[Output], field: str) -> Rule:
    given = _object(document, field)
    when = [each for _, each in _list(given, "when", field, MAX_COLUMNS)]
    if len(when) != len(inputs):
        fix = f"Give one cell for each of {', '.join(each.id for each in inputs)}; - is anything."
        refuse(f"there are {len(when)} cells for {len(inputs)} inputs", fix, field=f"{field}.when", value=len(when))
    rule_id = str(given.get("id") or f"r{at + 1}")
    if not _RULE_ID.fullmatch(rule_id):
        refuse(f"{rule_id[:40]!r} is no id", "Use letters, digits, - and _.", field=f"{field}.id", value=rule_id)
    cells = tuple(
        parse_cell(_cell_text(each), column.type, field=f"{field}.when[{place}] ({column.id})")
        for place, (each, column) in enumerate(zip(when, inputs, strict=True))
    )
    _unknown(given, ("id", "when", "then", "note"), field)
    return Rule(
        id=rule_id,
        when=cells,
        then=_results(given.get("then"), outputs, f"{field}.then"),
        note=_text(given.get("note", ""), f"{field}.note", MAX_NOTE),
    )


def _results(given: object, outputs: Sequence[Output], field: str) -> tuple[Value, ...]:
    values = cast("list[object]", given) if isinstance(given, list) else []
    if len(values) != len(outputs):
        fix = f"Give one value for each of {', '.join(each.id for each in outputs)}."
        refuse(f"there are {len(values)} values for {len(outputs)} outputs", fix, field=field, value=len(values))
    return tuple(_result(value, output, field) for value, output in zip(values, outputs, strict=True))


def _result(given: object, output: Output, field: str) -> Value:
    value = given_value(given, output.type, field=f"{field} ({output.id})")
    if output.values and value not in output.values:
        allowed = ", ".join(str(plain(each)) for each in output.values)
        refuse(f"{given!r} is not a value of {output.id}", f"Use one of {allowed}.", field=field, value=given)
    return value


def _cell_text(given: object) -> str:
    """A cell as text; plain JSON values are taken for what they are."""
    if given is None:
        return ANY
    if isinstance(given, bool):
        return "true" if given else "false"
    return str(given)


def _policy(given: object, field: str) -> HitPolicy:
    known = {policy.value: policy for policy in HitPolicy} | {policy.name: policy for policy in HitPolicy}
    found = known.get(str(given).upper())
    if found is None:
        refuse(f"{given!r} is no hit policy", f"Use one of {', '.join(HitPolicy)}.", field=field, value=given)
    return found


def _type(given: object, field: str) -> ValueType:
    try:
        return ValueType(str(given))
    except ValueError:
        return refuse(f"{given!r} is no type", f"Use one of {', '.join(ValueType)}.", field=field, value=given)


def _id(given: object, field: str) -> str:
    if not isinstance(given, str) or not _ID.fullmatch(given):
        fix = "Use a letter, then letters, digits and _; what people read goes into the label."
        refuse(f"{given!r} is no id", fix, field=field, value=given)
    return given


def _text(given: object, field: str, most: int) -> str:
    if not isinstance(given, str) or len(given) > most:
        refuse("it is not a text of that length", f"Give at most {most} characters.", field=field, value="")
    return given


def _object(document: object, field: str) -> _Json:
    if not isinstance(document, Mapping):
        refuse("it is not an object", "Give a JSON object.", field=field, value=type(document).__name__)
    return cast("_Json", document)


def _list(given: _Json, key: str, field: str, most: int) -> list[tuple[int, object]]:
    values = given.get(key, [])
    if not isinstance(values, list):
        refuse("it is not a list", "Give a JSON list.", field=f"{field}.{key}", value=type(values).__name__)
    listed = cast("list[object]", values)
    if len(listed) > most:
        refuse(f"there are {len(listed):,}; {most:,} are allowed", "Split the table.", field=f"{field}.{key}", value="")
    return list(enumerate(listed))


def _unknown(given: _Json, known: Sequence[str], field: str) -> None:
    other = sorted(set(given) - set(known))
    if other:
        refuse(f"{other[0]!r} is not known here", f"Use {', '.join(known)}.", field=field, value=other[0])


def _distinct(ids: Sequence[str], field: str, what: str) -> None:
    twice = sorted(each for each, times in Counter(ids).items() if times > 1)
    if twice:
        refuse(f"two {what} have the id {twice[0]!r}", "Give each its own.", field=field, value=twice[0])
