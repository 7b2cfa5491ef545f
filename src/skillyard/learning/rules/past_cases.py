"""Decides the past cases of a rule again with a changed table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from skillyard.errors import LimitError
from skillyard.learning.models import RuleCaseRow
from skillyard.learning.rules.evaluation import Decided, decide_many
from skillyard.learning.rules.table import DecisionTable, parts_of

MAX_TRIED: Final = 1_000_000
"""Alternatives of a table times the cases that are tried."""
MAX_TOLD: Final = 50
MAX_TEXT: Final = 100_000
"""Characters of all listed cases together, about."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ChangedCase:
    """A case that a rule decided, and that would be decided otherwise."""

    id: str
    inputs: dict[str, Any]
    before: Any
    after: Any
    pinned: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class PastCases:
    changed: tuple[ChangedCase, ...]
    """The pinned ones first."""
    more: int
    """How many further cases would be decided otherwise."""
    untried: int
    """Cases that were not tried: there are too many for a table of this size."""


NO_CASES: Final = PastCases(changed=(), more=0, untried=0)


def try_cases(table: DecisionTable, cases: Sequence[RuleCaseRow]) -> PastCases:
    """Decide cases, the pinned ones first; all pinned ones are tried."""
    most = MAX_TRIED // max(1, parts_of(table))
    pinned = sum(case.pinned for case in cases)
    if pinned > most:
        raise LimitError(
            f"The rule has {pinned} pinned cases; on a table of this size at most {most} can be tried.",
            hint="Unpin some of them, or split the table into several rules.",
            details={"field": "table", "value": pinned, "limit": most},
        )
    tried = cases[:most]
    changed: list[ChangedCase] = []
    more, room = 0, MAX_TEXT
    for case, answer in zip(tried, decide_many(table, [case.inputs for case in tried]), strict=True):
        after: Any = answer.outputs if isinstance(answer, Decided) else f"no answer: {answer}"
        if after == case.outputs:
            continue
        if len(changed) == MAX_TOLD or room < 0:
            more += 1
            continue
        changed.append(
            ChangedCase(id=case.id, inputs=case.inputs, before=case.outputs, after=after, pinned=case.pinned)
        )
        room -= sum(len(str(each)) for each in (case.inputs, case.outputs, after))
    return PastCases(changed=tuple(changed), more=more, untried=len(cases) - len(tried))
