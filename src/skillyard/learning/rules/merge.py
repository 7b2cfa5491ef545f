"""Putting new rules into a table that is there: in its place, beside it, or into its finer cases."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from skillyard.learning.rules.axes import Axis, axes_of
from skillyard.learning.rules.cells import Cell
from skillyard.learning.rules.table import DecisionTable, HitPolicy, Rule, require_bounds
from skillyard.learning.rules.values import Value, refuse
from skillyard.learning.states import MergeMode

Step: TypeAlias = Literal["major", "minor", "patch"]
_When: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Merged:
    table: DecisionTable
    step: Step | None
    """What it does to the version; None: nothing changed."""
    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]


def merge(old: DecisionTable, new: DecisionTable, mode: MergeMode) -> Merged:
    """The table that comes of both.

    `REPLACE` takes the new one. `EXTEND` adds its rules after those that are there and never changes one. `REFINE` lets
    a rule with the same conditions say something new, and puts a narrower one before the wider one that it is an
    exception from.
    """
    if mode is MergeMode.REPLACE:
        return _told(old, new, "major")
    old, new = _same_columns(old, new)
    merged = _extended(old, new) if mode is MergeMode.EXTEND else _refined(old, new)
    require_bounds(merged)
    return _told(old, merged, "minor" if mode is MergeMode.EXTEND else "patch")


def _extended(old: DecisionTable, new: DecisionTable) -> DecisionTable:
    present = {_when(rule): rule for rule in old.rules}
    for rule in new.rules:
        there = present.get(_when(rule))
        if there is not None and there.then != rule.then:
            fix = "Use the merge mode REFINE to change what it says."
            refuse(
                f"rule {there.id} has the same conditions and says something else", fix, field="rules", value=rule.id
            )
    added = [rule for rule in new.rules if _when(rule) not in present]
    return replace(old, rules=(*old.rules, *_named(old.rules, added)))


def _refined(old: DecisionTable, new: DecisionTable) -> DecisionTable:
    axes = axes_of(old.inputs, [rule.when for rule in (*old.rules, *new.rules)])
    rows = [_Row(rule=rule, box=_box(axes, rule)) for rule in old.rules]
    present = {_when(row.rule): row for row in rows}
    for rule in new.rules:
        there = present.get(_when(rule))
        if there is not None:
            there.rule = replace(there.rule, then=rule.then, note=rule.note or there.rule.note)
            continue
        row = _Row(rule=_named([each.rule for each in rows], [rule])[0], box=_box(axes, rule))
        present[_when(rule)] = row
        rows.insert(_place(old, rows, row), row)
    return replace(old, rules=tuple(row.rule for row in rows))


@dataclass(kw_only=True, slots=True)
class _Row:
    rule: Rule
    box: tuple[int, ...]
    """The cases that it covers, as bits of each axis."""


def _box(axes: Sequence[Axis], rule: Rule) -> tuple[int, ...]:
    return tuple(axis.covered(cell) for axis, cell in zip(axes, rule.when, strict=True))


def _place(table: DecisionTable, rows: Sequence[_Row], row: _Row) -> int:
    """Where order counts: before the first rule that covers all of its cases."""
    if table.hit_policy is not HitPolicy.FIRST:
        return len(rows)
    wider = (
        at
        for at, each in enumerate(rows)
        if all(not mine & ~theirs for mine, theirs in zip(row.box, each.box, strict=True))
    )
    return next(wider, len(rows))


def _same_columns(old: DecisionTable, new: DecisionTable) -> tuple[DecisionTable, DecisionTable]:
    """Both with all inputs of either; a rule that does not know one takes anything there."""
    known = {column.id: column for column in old.inputs}
    for column in new.inputs:
        there = known.get(column.id)
        if there is not None and there.type is not column.type:
            fix = "Use another id, or the merge mode REPLACE."
            refuse(
                f"the input is a {there.type}, not a {column.type}", fix, field=f"inputs.{column.id}", value=column.type
            )
    if [(each.id, each.type) for each in old.outputs] != [(each.id, each.type) for each in new.outputs]:
        named = ", ".join(f"{each.id} ({each.type})" for each in old.outputs)
        fix = f"Keep its outputs: {named}; or use the merge mode REPLACE."
        refuse("the outputs are not those of the rule", fix, field="outputs", value="")
    more = [column for column in new.inputs if column.id not in known]
    columns = (*old.inputs, *(replace(column, optional=True) for column in more))
    ids = [column.id for column in columns]
    return (
        replace(
            old, inputs=columns, rules=tuple(_wider(rule, [each.id for each in old.inputs], ids) for rule in old.rules)
        ),
        replace(
            new, inputs=columns, rules=tuple(_wider(rule, [each.id for each in new.inputs], ids) for rule in new.rules)
        ),
    )


def _wider(rule: Rule, before: Sequence[str], after: Sequence[str]) -> Rule:
    cells = dict(zip(before, rule.when, strict=True))
    return replace(rule, when=tuple(cells.get(column, Cell()) for column in after))


def _named(present: Sequence[Rule], added: Sequence[Rule]) -> list[Rule]:
    """The added rules with ids that nobody has."""
    taken = {rule.id for rule in present}
    named: list[Rule] = []
    for rule in added:
        number, name = len(taken), rule.id
        while name in taken:
            number += 1
            name = f"r{number}"
        taken.add(name)
        named.append(replace(rule, id=name))
    return named


def _told(old: DecisionTable, table: DecisionTable, step: Step) -> Merged:
    before, after = {rule.id: rule for rule in old.rules}, {rule.id: rule for rule in table.rules}
    return Merged(
        table=table,
        step=None if old == table else step,
        added=tuple(rule for rule in after if rule not in before),
        changed=tuple(rule for rule in after if rule in before and _says(before[rule]) != _says(after[rule])),
        removed=tuple(rule for rule in before if rule not in after),
    )


def _says(rule: Rule) -> tuple[_When, tuple[Value, ...]]:
    return _when(rule), rule.then


def _when(rule: Rule) -> _When:
    return tuple(map(str, rule.when))
