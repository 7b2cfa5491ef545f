"""All that a principal may see, a line for each skill."""

from typing import Any, Final, NamedTuple

from sqlalchemy import BindParameter, bindparam, exists, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.db.database import Database
from skillyard.identity.models import NamespaceRow
from skillyard.identity.people import SYSTEM
from skillyard.identity.principals import Principal, Scope
from skillyard.registry.models import SkillRow, SkillTagRow


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
    """How many skills a principal may see, and whether there are any that did not come with the product."""

    all: int
    is_any_added: bool


class Filters(NamedTuple):
    """What the skills that a principal may see can be narrowed by; the first of each, by name."""

    namespaces: tuple[str, ...]
    tags: tuple[str, ...]


_MOST_FILTERS: Final = 200
_AUDIENCES: Final[BindParameter[Any]] = bindparam("audiences", expanding=True)
# By the audience alone, which nobody has for a deleted skill: an index knows it, and no row has to be read.
_COUNTS: Final = select(
    select(func.count()).select_from(SkillRow).where(SkillRow.audience.in_(_AUDIENCES)).scalar_subquery(),
    exists().where(
        SkillRow.audience.in_(_AUDIENCES), NamespaceRow.id == SkillRow.namespace_id, NamespaceRow.name != SYSTEM
    ),
)


# One skill of each is looked for, by where it is and not by who sees it: the first is mostly one, and there are as many
# to look through by audience as there are skills.
_IS_SEEN: Final = (SkillRow.audience + "").in_(_AUDIENCES)
_NAMESPACES: Final = (
    select(NamespaceRow.name)
    .where(exists().where(SkillRow.namespace_id == NamespaceRow.id, SkillRow.deleted_at.is_(None), _IS_SEEN))
    .order_by(NamespaceRow.name)
    .limit(_MOST_FILTERS)
)
_EACH_TAG: Final = select(SkillTagRow.tag).distinct().subquery()
_TAGS: Final = (
    select(_EACH_TAG.c.tag)
    .where(
        exists().where(
            SkillTagRow.tag == _EACH_TAG.c.tag, exists().where(SkillRow.id == SkillTagRow.skill_id, _IS_SEEN)
        )
    )
    .order_by(_EACH_TAG.c.tag)
    .limit(_MOST_FILTERS)
)


async def visible_filters(session: AsyncSession, principal: Principal) -> Filters:
    audiences = {"audiences": list(principal.audiences)}
    namespaces = await session.scalars(_NAMESPACES, audiences)
    return Filters(tuple(namespaces), tuple(await session.scalars(_TAGS, audiences)))


async def visible_counts(session: AsyncSession, principal: Principal) -> Counts:
    counts = await session.execute(_COUNTS, {"audiences": list(principal.audiences)})
    return Counts(*counts.one())


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
