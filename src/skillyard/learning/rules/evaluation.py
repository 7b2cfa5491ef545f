"""Deciding a case by a table: the engine says which rules hold, and the hit policy which of them count."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Final, cast

from skillyard.errors import ConflictError
from skillyard.learning.rules.cells import Cell, Equal, Interval, Test, holds
from skillyard.learning.rules.checks import priority
from skillyard.learning.rules.table import DecisionTable, HitPolicy, Input, Rule
from skillyard.learning.rules.values import Value, given_value, plain, refuse, written

_RULE: Final = "rule"
_CONSTANTS: Final = "k"


@dataclass(frozen=True, kw_only=True, slots=True)
class Decided:
    """What a table says to a case."""

    outputs: dict[str, Any] | list[dict[str, Any]] | None
    """By the ids of the outputs; a list of them under `C`; None where no rule holds and nothing is said for that."""
    matched: tuple[str, ...]
    """The rules that hold."""
    counted: tuple[str, ...]
    """Those of them that the answer is from."""
    by_default: bool = False

    def as_dict(self) -> dict[str, Any]:
        return {
            "outputs": self.outputs,
            "matched": list(self.matched),
            "counted": list(self.counted),
            "by_default": self.by_default,
        }


class Decider:
    """One table, ready to decide many cases."""

    def __init__(self, table: DecisionTable) -> None:
        import zen  # noqa: PLC0415 -- a library of some size, which only deciding needs

        self._table = table
        self._rules = {rule.id: rule for rule in table.rules}
        constants: list[Value] = []
        content = json.dumps(_graph(table, constants))
        self._decision = cast("Any", zen.ZenEngine().create_decision(content)) if table.rules else None
        self._constants = f'"{_CONSTANTS}": [{", ".join(map(_engine_json, constants))}]'

    def decide(self, inputs: Mapping[str, Any]) -> Decided:
        """The answer to a case. Inputs that are missing, of another kind or not allowed are errors."""
        values = case_values(self._table, inputs)
        matched = self._matching(values)
        return _answer(self._table, [self._rules[rule] for rule in matched])

    def _matching(self, values: Sequence[Value]) -> list[str]:
        if self._decision is None:
            return []
        case = [f'"c{at}": {_engine_json(value)}' for at, value in enumerate(values)]
        answer = self._decision.evaluate(f"{{{', '.join([*case, self._constants])}}}")
        found: list[dict[str, str]] = answer["result"] or []
        return [each[_RULE] for each in found]


def decide_many(table: DecisionTable, cases: Sequence[Mapping[str, Any]]) -> list[Decided | Exception]:
    """The answer to each case, or why there is none."""
    decider = Decider(table)
    answers: list[Decided | Exception] = []
    for case in cases:
        try:
            answers.append(decider.decide(case))
        except Exception as error:  # noqa: BLE001 -- a case that cannot be decided is an answer to the others' question
            answers.append(error)
    return answers


def case_values(table: DecisionTable, inputs: Mapping[str, Any]) -> list[Value]:
    """The inputs of a case, in the order of the table."""
    known = [column.id for column in table.inputs]
    for name in inputs:
        if name not in known:
            refuse(
                f"the table has no input {name[:64]!r}",
                f"Its inputs are {', '.join(known)}.",
                field="inputs",
                value=name,
            )
    return [_case_value(column, inputs) for column in table.inputs]


def _case_value(column: Input, inputs: Mapping[str, Any]) -> Value:
    field = f"inputs.{column.id}"
    value = given_value(inputs.get(column.id), column.type, field=field)
    if value is None and not column.optional:
        refuse("it is missing", f"Give a {column.type}.", field=field, value=inputs.get(column.id))
    if value is not None and column.values is not None and not holds(column.values, value):
        refuse(f"{written(value)} is not allowed", f"Allowed is {column.values}.", field=field, value=plain(value))
    return value


def _answer(table: DecisionTable, rules: Sequence[Rule]) -> Decided:
    matched = tuple(rule.id for rule in rules)
    if not rules:
        default = table.default
        outputs = None if default is None else table.told(default)
        if table.hit_policy is HitPolicy.COLLECT:
            return Decided(outputs=[outputs] if outputs else [], matched=(), counted=(), by_default=bool(outputs))
        return Decided(outputs=outputs, matched=(), counted=(), by_default=default is not None)
    if table.hit_policy is HitPolicy.COLLECT:
        return Decided(outputs=[table.told(rule.then) for rule in rules], matched=matched, counted=matched)
    counted = _counted(table, rules)
    return Decided(outputs=table.told(counted[0].then), matched=matched, counted=tuple(rule.id for rule in counted))


def _counted(table: DecisionTable, rules: Sequence[Rule]) -> Sequence[Rule]:
    if table.hit_policy is HitPolicy.FIRST:
        return rules[:1]
    if table.hit_policy is HitPolicy.PRIORITY:
        return [min(rules, key=lambda rule: priority(table, rule))]
    agree = all(rule.then == rules[0].then for rule in rules)
    if len(rules) == 1 or (table.hit_policy is HitPolicy.ANY and agree):
        return rules
    named = ", ".join(rule.id for rule in rules)
    raise ConflictError(
        f"The rules {named} all hold, and the hit policy {table.hit_policy} allows no more than one answer.",
        hint="Change the rules so that they do not overlap, or choose the hit policy F, P or C.",
        details={"rules": [rule.id for rule in rules], "hit_policy": table.hit_policy.value},
    )


def _graph(table: DecisionTable, constants: list[Value]) -> dict[str, Any]:
    """The table as the engine takes it. Texts are handed over beside it: its own have no escapes."""
    columns = [{"id": f"i{at}", "name": column.id} for at, column in enumerate(table.inputs)]
    rules = [
        {
            "_id": rule.id,
            _RULE: f"{_CONSTANTS}[{_constant(rule.id, constants)}]",
            **{f"i{at}": _condition(cell, f"c{at}", constants) for at, cell in enumerate(rule.when)},
        }
        for rule in table.rules
    ]
    content = {
        "hitPolicy": "collect",
        "inputs": columns,
        "outputs": [{"id": _RULE, "name": _RULE, "field": _RULE}],
        "rules": rules,
    }
    place = {"position": {"x": 0, "y": 0}}
    return {
        "nodes": [
            {"id": "in", "type": "inputNode", "name": "in", **place},
            {"id": "table", "type": "decisionTableNode", "name": "table", "content": content, **place},
            {"id": "out", "type": "outputNode", "name": "out", **place},
        ],
        "edges": [
            {"id": "a", "sourceId": "in", "targetId": "table", "type": "edge"},
            {"id": "b", "sourceId": "table", "targetId": "out", "type": "edge"},
        ],
    }


def _condition(cell: Cell, name: str, constants: list[Value]) -> str:
    if cell.anything:
        return ""
    tests = " or ".join(_test(test, name, constants) for test in cell.tests)
    return f"not ({tests})" if cell.negated else tests


def _test(test: Test, name: str, constants: list[Value]) -> str:
    if isinstance(test, Equal):
        if test.value is None:
            return f"({name} == null)"
        return f"({name} != null and {name} == {_CONSTANTS}[{_constant(test.value, constants)}])"
    return f"({' and '.join([f'{name} != null', *_ends(test, name, constants)])})"


def _ends(test: Interval, name: str, constants: list[Value]) -> list[str]:
    ends: list[str] = []
    if test.low is not None:
        ends.append(f"{name} {'>=' if test.low_closed else '>'} {_CONSTANTS}[{_constant(test.low, constants)}]")
    if test.high is not None:
        ends.append(f"{name} {'<=' if test.high_closed else '<'} {_CONSTANTS}[{_constant(test.high, constants)}]")
    return ends


def _constant(value: Value, constants: list[Value]) -> int:
    constants.append(value)
    return len(constants) - 1


def _engine_json(value: Value) -> str:
    """A value as the engine reads it: numbers to the last digit, and a date as the number of its day."""
    if isinstance(value, Decimal):
        return format(value, "f")
    return json.dumps(value.toordinal() if isinstance(value, date) else value)
