"""Refuses rows of a lesson that would change no answer, with advice on what would."""

from collections.abc import Iterator
from typing import Final

from skillyard.db.database import Database
from skillyard.errors import InputError
from skillyard.identity.principals import Principal
from skillyard.identity.turns import Turns
from skillyard.learning.drafts import Draft
from skillyard.learning.models import RuleVersionRow
from skillyard.learning.rules.axes import Axis, axes_of
from skillyard.learning.rules.cells import Cell, Equal, Test
from skillyard.learning.rules.checks import unreachable_rules
from skillyard.learning.rules.table import DecisionTable, HitPolicy, Input, Rule, parse_table
from skillyard.learning.rules.values import written
from skillyard.learning.states import Operation

_WRITING: Final = (Operation.CREATE, Operation.UPDATE)


async def require_rows_that_count(database: Database, turns: Turns, principal: Principal, draft: Draft) -> None:
    """Refuse a change to a rule that adds a row which can never hold, or never counts."""
    if draft.operation not in _WRITING:
        return
    async with database.read() as session:
        base = await session.get(RuleVersionRow, (draft.target_id or "", draft.base or ""))
    before = None if base is None else base.table
    await turns.run(
        principal, lambda: _require(parse_table(before) if before else None, parse_table(draft.content["table"]))
    )


def _require(before: DecisionTable | None, after: DecisionTable) -> None:
    present = () if before is None or before.inputs != after.inputs[: len(before.inputs)] else before.rules
    width = len(before.inputs) if before else 0
    known = {(rule.id, rule.when, rule.then) for rule in present}
    own = [rule for rule in after.rules if (rule.id, rule.when[:width], rule.then) not in known]
    axes = axes_of(after.inputs, [rule.when for rule in after.rules])
    for rule in own:
        for cell, column, axis in zip(rule.when, after.inputs, axes, strict=True):
            for impossible in _impossible(cell, axis):
                raise _refusal(
                    f"The row {_shown(rule)} tests {column.id} for {impossible}, which it can never be.",
                    _possible(column, impossible),
                )
    idle = unreachable_rules(after)
    for rule in own:
        if rule.id in idle:
            raise _refusal(
                f"The row {_shown(rule)} would never count: rows that come first hold for all of its cases.",
                _CHANGE[after.hit_policy],
            )


_CHANGE: Final = {
    HitPolicy.FIRST: 'Use merge_mode="REFINE", which puts an exception before the row that it is an exception to, or '
    "change what those rows say; if they say it already, it is a NOOP.",
    HitPolicy.PRIORITY: "Give it an output that is more important, or change what those rows say; if they say it "
    "already, it is a NOOP.",
}


def _impossible(cell: Cell, axis: Axis) -> Iterator[str]:
    """The parts of a cell that the input can never match. In a list, the rest of the cell holds without them."""
    for test in cell.tests:
        one = Cell(tests=(test,))
        if not axis.covered(one):
            yield str(one)
    if not cell.anything and not axis.covered(cell):
        yield str(cell)


def _possible(column: Input, impossible: str) -> str:
    if column.values is None:
        return f"Write - for anything, or a {column.type} that {column.id} can be."
    near = [each for each in map(_value, column.values.tests) if each and each.casefold() == impossible.casefold()]
    if near and not column.values.negated:
        return f"{column.id} can be {column.values}. Write {near[0]}."
    return f"{column.id} can be {column.values}. Write that, or a part of it; - is anything."


def _value(test: Test) -> str:
    return written(test.value) if isinstance(test, Equal) else ""


def _shown(rule: Rule) -> str:
    return f"{rule.id} ({' | '.join(map(str, rule.when))})"


def _refusal(problem: str, hint: str) -> InputError:
    return InputError(problem, hint=hint, details={"field": "table"})
