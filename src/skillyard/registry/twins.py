"""Skills of the same content or the same name."""

from collections.abc import Collection

from sqlalchemy import or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.registry.models import SkillRow
from skillyard.registry.skills import Skill
from skillyard.registry.store import skills_with_ids
from skillyard.skill.requires import name_key


async def twins_of(session: AsyncSession, skill: Skill, audiences: Collection[str], *, limit: int) -> list[Skill]:
    """Others that have the same files or the same name, of what holders of these keys may see; copies first."""
    is_copy = SkillRow.digest == skill.digest
    query = (
        select(SkillRow.id)
        .where(
            SkillRow.audience.in_(audiences),
            SkillRow.deleted_at.is_(None),
            SkillRow.id != skill.id,
            or_(is_copy, SkillRow.name_key == name_key(skill.name)),
        )
        .order_by(is_copy.desc(), SkillRow.id)
        .limit(limit)
    )
    ids = list(await session.scalars(query))
    found = await skills_with_ids(session, ids) if ids else {}
    return [found[skill_id] for skill_id in ids]
