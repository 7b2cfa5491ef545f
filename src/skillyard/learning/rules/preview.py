"""What a table would be in the place of a rule, looked over without changing anything."""

from collections.abc import Sequence
from dataclasses import dataclass

from skillyard.identity.principals import Principal
from skillyard.identity.turns import Turns
from skillyard.learning.models import RuleCaseRow
from skillyard.learning.rules.checks import Report, report
from skillyard.learning.rules.merge import merge
from skillyard.learning.rules.past_cases import NO_CASES, PastCases, try_cases
from skillyard.learning.rules.rule import DecisionRule
from skillyard.learning.rules.rulebook import Rulebook
from skillyard.learning.rules.table import DecisionTable, parse_table
from skillyard.learning.states import MergeMode


@dataclass(frozen=True, kw_only=True, slots=True)
class Preview:
    table: DecisionTable
    report: Report
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    cases: PastCases = NO_CASES


async def preview(
    rules: Rulebook, turns: Turns, principal: Principal, document: object, rule_id: str | None, mode: MergeMode
) -> Preview:
    """A table by itself, or as a rule would take it in."""
    if rule_id is None:
        return await turns.run(principal, lambda: _alone(document))
    rule, cases = await rules.get(principal, rule_id), await rules.cases(principal, rule_id)
    return await turns.run(principal, lambda: _merged(rule, cases, document, mode))


def _alone(document: object) -> Preview:
    table = parse_table(document)
    return Preview(table=table, report=report(table))


def _merged(rule: DecisionRule, cases: Sequence[RuleCaseRow], document: object, mode: MergeMode) -> Preview:
    merged = merge(rule.table, parse_table(document), mode)
    return Preview(
        table=merged.table,
        report=report(merged.table),
        added=merged.added,
        changed=merged.changed,
        removed=merged.removed,
        cases=try_cases(merged.table, cases),
    )
