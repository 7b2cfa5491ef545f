"""Which skill a bare name in a skill means: names are looked up from where they are written."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from sqlalchemy import ColumnElement, select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.identity.models import NamespaceRow
from skillyard.identity.principals import Principal
from skillyard.registry.models import SkillRow
from skillyard.registry.skills import Visibility

_CHUNK: Final = 5_000
"""How many values one query is asked for."""


class KnownSkill(NamedTuple):
    """As much of a skill that a principal may see as it takes to find it by name."""

    id: str
    namespace_id: str
    namespace: str
    name: str
    key: str
    """The name in the form in which names are compared."""
    visibility: str
    owner_id: str | None

    @property
    def full_name(self) -> str:
        return f"{self.namespace}/{self.name}"


class Names:
    """The skills that a principal may see, by name. What is hidden from them is as if it were not there."""

    def __init__(self, skills: Iterable[KnownSkill]) -> None:
        self.by_id = {skill.id: skill for skill in skills}
        self._by_key: defaultdict[str, list[KnownSkill]] = defaultdict(list)
        for skill in self.by_id.values():
            self._by_key[skill.key].append(skill)

    def meant(self, key: str, namespace_id: str, *, without: str | None = None) -> KnownSkill | None:
        """The skill of that name in the same namespace, else the system's, else the first public one.

        Never a private one of another namespace: those who read the text there could not see it.
        """
        near = [
            (distance, skill.namespace, skill)
            for skill in self._by_key.get(key, ())
            if skill.id != without and (distance := _distance(skill, namespace_id)) is not None
        ]
        return min(near, key=lambda each: each[:2])[2] if near else None

    def called(self, key: str) -> list[KnownSkill]:
        """All of that name, wherever they are."""
        return self._by_key.get(key, [])


def _distance(skill: KnownSkill, namespace_id: str) -> int | None:
    if skill.namespace_id == namespace_id:
        return 0
    if skill.owner_id is None:
        return 1
    return None if skill.visibility == Visibility.PRIVATE else 2


async def visible_names(session: AsyncSession, principal: Principal) -> Names:
    """All skills that the principal may see."""
    return Names(await _known(session, principal))


async def some_visible_names(
    session: AsyncSession, principal: Principal, *, keys: Iterable[str] = (), ids: Iterable[str] = ()
) -> Names:
    """Those of the visible skills that have one of these names, or one of these ids."""
    found: list[KnownSkill] = []
    for some in in_chunks(keys):
        found += await _known(session, principal, SkillRow.name_key.in_(some))
    for some in in_chunks(ids):
        found += await _known(session, principal, SkillRow.id.in_(some))
    return Names(found)


async def _known(session: AsyncSession, principal: Principal, *conditions: ColumnElement[bool]) -> list[KnownSkill]:
    query = (
        select(
            SkillRow.id,
            SkillRow.namespace_id,
            NamespaceRow.name,
            SkillRow.name,
            SkillRow.name_key,
            SkillRow.visibility,
            SkillRow.owner_id,
        )
        .join(NamespaceRow, NamespaceRow.id == SkillRow.namespace_id)
        .where(SkillRow.audience.in_(principal.audiences), SkillRow.deleted_at.is_(None), *conditions)
    )
    return [KnownSkill(*row) for row in await session.execute(query)]


def in_chunks(values: Iterable[str]) -> Iterator[list[str]]:
    """The values in lists that a query can name."""
    everything = sorted(values)
    for start in range(0, len(everything), _CHUNK):
        yield everything[start : start + _CHUNK]
