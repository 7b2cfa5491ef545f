"""What a table would be in the place of a rule, looked over without changing anything."""

import asyncio
from dataclasses import dataclass
from typing import Any

from skillyard.identity.principals import Principal
from skillyard.learning.rules.checks import Report, report
from skillyard.learning.rules.evaluation import Decided, decide_many
from skillyard.learning.rules.merge import merge
from skillyard.learning.rules.rulebook import Rulebook
from skillyard.learning.rules.table import DecisionTable
from skillyard.learning.states import MergeMode


@dataclass(frozen=True, kw_only=True, slots=True)
class ChangedCase:
    """A case that a rule decided, and that would be decided otherwise."""

    id: str
    inputs: dict[str, Any]
    before: Any
    after: Any
    pinned: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Preview:
    table: DecisionTable
    report: Report
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    cases: tuple[ChangedCase, ...] = ()


async def preview(
    rules: Rulebook, principal: Principal, table: DecisionTable, rule_id: str | None, mode: MergeMode
) -> Preview:
    """A table by itself, or as a rule would take it in."""
    if rule_id is None:
        return Preview(table=table, report=await asyncio.to_thread(report, table))
    rule = await rules.get(principal, rule_id)
    merged = merge(rule.table, table, mode)
    found = await asyncio.to_thread(report, merged.table)
    cases = await rules.cases(principal, rule_id)
    changed: list[ChangedCase] = []
    for case, answer in zip(cases, await decide_many(merged.table, [case.inputs for case in cases]), strict=True):
        after: Any = answer.outputs if isinstance(answer, Decided) else f"no answer: {answer}"
        if after != case.outputs:
            changed.append(
                ChangedCase(id=case.id, inputs=case.inputs, before=case.outputs, after=after, pinned=case.pinned)
            )
    return Preview(
        table=merged.table,
        report=found,
        added=merged.added,
        changed=merged.changed,
        removed=merged.removed,
        cases=tuple(changed),
    )
