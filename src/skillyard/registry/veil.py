"""What of the past stays hidden: a skill that is private now was never public to a stranger."""

from collections.abc import Collection
from typing import Any, Final

from sqlalchemy import bindparam, select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.history.entries import Entry
from skillyard.history.models import EntryRow
from skillyard.history.store import Condition
from skillyard.identity.principals import Principal
from skillyard.registry.models import SkillRow
from skillyard.registry.skills import Visibility


def skill_of(entry: Entry) -> str | None:
    """The skill that an entry tells of: its subject, or one that was attached to its subject."""
    if entry.change.subject.kind == "skill":
        return entry.change.subject.id
    return (entry.change.after or {}).get("skill_id")


async def hidden_skills(session: AsyncSession, principal: Principal, ids: Collection[str]) -> set[str]:
    """Those of the skills, deleted ones included, that the principal may not know of now."""
    return set(await session.scalars(_AMONG, {"ids": list(ids), **_veil_over(principal)})) if ids else set()


def not_hidden(principal: Principal) -> dict[Condition, dict[str, Any]]:
    """Holds for the entries of the history that are not about a skill hidden from the principal now."""
    return {_NOT_HIDDEN: _veil_over(principal)}


def _veil_over(principal: Principal) -> dict[str, Any]:
    return {"member_of": list(principal.roles)}


# Not by the audience: that of a deleted skill is nobody, but its visibility stays.
_HIDDEN: Final = (
    (SkillRow.visibility == Visibility.PRIVATE.value)
    & SkillRow.owner_id.is_not(None)
    & SkillRow.namespace_id.not_in(bindparam("member_of", expanding=True))
)
_AMONG: Final = select(SkillRow.id).where(SkillRow.id.in_(bindparam("ids", expanding=True)), _HIDDEN)
_ITSELF: Final = (EntryRow.subject_kind == "skill") & (EntryRow.subject_id == SkillRow.id)
_ATTACHED: Final = EntryRow.after["skill_id"].as_string() == SkillRow.id
_NOT_HIDDEN: Final = Condition(clause=~select(SkillRow.id).where(_ITSELF | _ATTACHED, _HIDDEN).exists())
