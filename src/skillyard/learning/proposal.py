"""Proposals as values: changes that wait for someone's word."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from skillyard.history.entries import Subject
from skillyard.learning.drafts import Draft, Related
from skillyard.learning.models import ProposalRow
from skillyard.learning.places import Place
from skillyard.learning.states import Operation, ProposalState, Relation, Target

_ATTACHES: Final = "attaches"
"""Stored beside what an applier reads, as is the place."""
_PLACE: Final = "place"
_DRAFT: Final = (
    "target",
    "operation",
    "target_id",
    "target_name",
    "audience",
    "base",
    "content",
    "summary",
    "reasons",
    "relations",
    "warnings",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Proposal:
    id: str
    tenant_id: str
    lesson_id: str | None
    draft: Draft
    state: ProposalState
    proposed_by: str | None
    decided_by: str | None
    decided_at: datetime | None
    decision_reason: str
    created_at: datetime

    @property
    def subject(self) -> Subject:
        draft = self.draft
        label = draft.target_name or draft.summary[:80]
        return Subject(kind="proposal", id=self.id, label=label, audience=draft.audience)


def proposal_of(row: ProposalRow) -> Proposal:
    return Proposal(
        id=row.id,
        tenant_id=row.tenant_id,
        lesson_id=row.lesson_id,
        draft=draft_from({column: getattr(row, column) for column in _DRAFT}),
        state=ProposalState(row.state),
        proposed_by=row.proposed_by,
        decided_by=row.decided_by,
        decided_at=row.decided_at,
        decision_reason=row.decision_reason,
        created_at=row.created_at,
    )


def draft_from(kept: Mapping[str, Any]) -> Draft:
    """The draft that columns, or JSON of them, keep."""
    content = dict(kept["content"])
    attaches = tuple(content.pop(_ATTACHES, ()))
    place = content.pop(_PLACE, None)
    return Draft(
        target=Target(kept["target"]),
        operation=Operation(kept["operation"]),
        target_id=kept["target_id"],
        target_name=kept["target_name"],
        audience=kept["audience"],
        base=kept["base"],
        content=content,
        attaches=attaches,
        place=place and Place.read(place),
        summary=kept["summary"],
        reasons=tuple(kept["reasons"]),
        relations=_related(kept["relations"]),
        warnings=tuple(kept["warnings"]),
        locked=kept.get("locked", False),
    )


def draft_columns(draft: Draft) -> dict[str, Any]:
    """A draft as its row keeps it."""
    return {
        "target": draft.target.value,
        "operation": draft.operation.value,
        "target_id": draft.target_id,
        "target_name": draft.target_name,
        "audience": draft.audience,
        "base": draft.base,
        "content": {
            **draft.content,
            **({_ATTACHES: list(draft.attaches)} if draft.attaches else {}),
            **({_PLACE: draft.place.columns} if draft.place else {}),
        },
        "summary": draft.summary,
        "reasons": list(draft.reasons),
        "relations": [each.as_dict() for each in draft.relations],
        "warnings": [dict(each) for each in draft.warnings],
    }


def _related(kept: Sequence[Mapping[str, Any]]) -> tuple[Related, ...]:
    return tuple(
        Related(
            target=Target(each["target"]),
            id=each["id"],
            name=each["name"],
            relation=Relation(each["relation"]),
            reason=each.get("reason", ""),
        )
        for each in kept
    )
