"""All that a principal may see, a line for each skill."""

from typing import NamedTuple

from sqlalchemy import case, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.db.database import Database
from skillyard.identity.models import NamespaceRow
from skillyard.identity.people import SYSTEM
from skillyard.identity.principals import Principal, Scope
from skillyard.registry.models import SkillRow


class Summary(NamedTuple):
    """A tuple, because a registry of many thousands makes one for each skill."""

    id: str
    namespace: str
    name: str
    description: str

    @property
    def full_name(self) -> str:
        return f"{self.namespace}/{self.name}"


class Counts(NamedTuple):
    """How many skills a principal may see, and how many of them did not come with the product."""

    all: int
    added: int


async def visible_counts(session: AsyncSession, principal: Principal) -> Counts:
    is_added = case((NamespaceRow.name == SYSTEM, 0), else_=1)
    query = (
        select(func.count(), func.coalesce(func.sum(is_added), 0))
        .select_from(SkillRow)
        .join(NamespaceRow, NamespaceRow.id == SkillRow.namespace_id)
        .where(SkillRow.audience.in_(principal.audiences), SkillRow.deleted_at.is_(None))
    )
    return Counts(*(await session.execute(query)).one())


async def visible_summaries(database: Database, principal: Principal) -> list[Summary]:
    """Every skill that the principal may see, in no order."""
    principal.require_scope(Scope.READ)
    query = (
        select(SkillRow.id, NamespaceRow.name, SkillRow.name, SkillRow.description)
        .join(NamespaceRow, NamespaceRow.id == SkillRow.namespace_id)
        .where(SkillRow.audience.in_(principal.audiences), SkillRow.deleted_at.is_(None))
    )
    async with database.read() as session:
        return [Summary(*row) for row in await session.execute(query)]
