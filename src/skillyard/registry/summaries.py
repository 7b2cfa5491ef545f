"""All that a principal may see, a line for each skill."""

from typing import NamedTuple

from sqlalchemy import select

from skillyard.db.database import Database
from skillyard.identity.models import NamespaceRow
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
