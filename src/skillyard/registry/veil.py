"""What of the past stays hidden: a skill that is private now was never public to a stranger."""

from collections.abc import Collection

from sqlalchemy import ColumnElement, select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.history.entries import Entry
from skillyard.history.models import EntryRow
from skillyard.identity.principals import Principal
from skillyard.registry.models import SkillRow
from skillyard.registry.skills import Visibility


def not_hidden(principal: Principal) -> ColumnElement[bool]:
    """Holds for the entries of the history that are not about a skill hidden from the principal now."""
    itself = (EntryRow.subject_kind == "skill") & (EntryRow.subject_id == SkillRow.id)
    about = itself | (EntryRow.after["skill_id"].as_string() == SkillRow.id)
    return ~select(SkillRow.id).where(about, _hidden(principal)).exists()


def skill_of(entry: Entry) -> str | None:
    """The skill that an entry tells of: its subject, or one that was attached to its subject."""
    if entry.change.subject.kind == "skill":
        return entry.change.subject.id
    return (entry.change.after or {}).get("skill_id")


async def hidden_skills(session: AsyncSession, principal: Principal, ids: Collection[str]) -> set[str]:
    """Those of the skills, deleted ones included, that the principal may not know of now."""
    query = select(SkillRow.id).where(SkillRow.id.in_(ids), _hidden(principal))
    return set(await session.scalars(query)) if ids else set()


def _hidden(principal: Principal) -> ColumnElement[bool]:
    # Not by the audience: that of a deleted skill is nobody, but its visibility stays.
    return (
        (SkillRow.visibility == Visibility.PRIVATE.value)
        & SkillRow.owner_id.is_not(None)
        & SkillRow.namespace_id.not_in(list(principal.roles))
    )
