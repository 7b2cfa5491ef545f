"""Queries over the references that skills make."""

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from sqlalchemy import ColumnElement, and_, exists, not_, or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from skillyard.errors import LimitError
from skillyard.identity.principals import Principal
from skillyard.registry.models import SkillFileRow, SkillReferenceRow, SkillRow
from skillyard.registry.naming import in_chunks
from skillyard.registry.rows import file_id
from skillyard.skill.bundle import SKILL_FILE

MAX_REFERENCES: Final = 200_000
"""References that one look at the graph takes in."""


class Written(NamedTuple):
    """A reference as it stands in the text of a skill."""

    skill_id: str
    file: str
    line: int
    kind: str
    target_key: str
    """The name of the skill that is meant; empty for the skill itself."""
    target_path: str
    is_own_file: bool
    """It points at a file that its own skill has."""


async def references_of(session: AsyncSession, skill_id: str) -> list[Written]:
    """Every reference in one skill, in the order of its text."""
    return await _references(session, SkillReferenceRow.skill_id == skill_id)


async def references_to(session: AsyncSession, principal: Principal, key: str) -> list[Written]:
    """The references in visible skills to some other skill of that name."""
    return await _references(session, _visible(principal), SkillReferenceRow.target_key == key)


async def skills_naming(session: AsyncSession, keys: Collection[str]) -> set[str]:
    """All skills that refer to some skill of these names, whoever may see them."""
    query = select(SkillReferenceRow.skill_id).where(SkillReferenceRow.target_key.in_(keys)).distinct()
    return set(await session.scalars(query))


async def references_between(
    session: AsyncSession,
    principal: Principal,
    *,
    namespace_id: str | None = None,
    sources: Collection[str] | None = None,
) -> list[Written]:
    """The references in visible skills, or in some of them, but for those to a file that the skill itself has."""
    conditions = [_visible(principal), _leads_on()]
    if sources is not None:
        conditions.append(SkillReferenceRow.skill_id.in_(sources))
    if namespace_id is not None:
        conditions.append(SkillRow.namespace_id == namespace_id)
    return await _references(session, *conditions)


async def doubtful_references(
    session: AsyncSession,
    principal: Principal,
    namespaces: Collection[str],
    *,
    sources: Collection[str] | None = None,
) -> list[Written]:
    """The references in visible skills of these namespaces, or in some of them, but for those to a skill that is
    surely there.
    """
    near = aliased(SkillRow)
    is_near = exists().where(
        near.namespace_id == SkillRow.namespace_id,
        near.name_key == SkillReferenceRow.target_key,
        near.audience.in_(principal.audiences),
        near.deleted_at.is_(None),
    )
    is_sure = and_(SkillReferenceRow.target_path.in_(("", SKILL_FILE)), is_near)
    conditions = [_visible(principal), SkillRow.namespace_id.in_(namespaces), _leads_on(), not_(is_sure)]
    if sources is not None:
        conditions.append(SkillReferenceRow.skill_id.in_(sources))
    return await _references(session, *conditions)


async def _references(session: AsyncSession, *conditions: ColumnElement[bool]) -> list[Written]:
    own_file = and_(
        SkillReferenceRow.target_key == "",
        SkillFileRow.skill_id == SkillReferenceRow.skill_id,
        SkillFileRow.path == SkillReferenceRow.target_path,
    )
    query = (
        select(
            SkillReferenceRow.skill_id,
            SkillReferenceRow.file,
            SkillReferenceRow.line,
            SkillReferenceRow.kind,
            SkillReferenceRow.target_key,
            SkillReferenceRow.target_path,
            SkillFileRow.id.is_not(None),
        )
        .join(SkillRow, SkillRow.id == SkillReferenceRow.skill_id)
        .outerjoin(SkillFileRow, own_file)
        .where(SkillRow.deleted_at.is_(None), *conditions)
        .order_by(SkillReferenceRow.skill_id, SkillReferenceRow.position)
        .limit(MAX_REFERENCES + 1)
    )
    found = [Written(*row) for row in await session.execute(query)]
    if len(found) > MAX_REFERENCES:
        raise LimitError(
            f"There are more than {MAX_REFERENCES:,} references to look at.",
            hint="Ask for one namespace at a time.",
            details={"field": "namespace", "limit": MAX_REFERENCES},
        )
    return found


async def files_there(session: AsyncSession, wanted: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    """Those of the skills and paths that are a file."""
    # A file's id follows from its skill and path: asking for ids spares reading all files of all skills.
    by_id = {file_id(skill_id, path): (skill_id, path) for skill_id, path in wanted}
    found: set[tuple[str, str]] = set()
    for some in in_chunks(by_id):
        ids = await session.scalars(select(SkillFileRow.id).where(SkillFileRow.id.in_(some)))
        found.update(by_id[one] for one in ids)
    return found


async def folders_of(session: AsyncSession, skill_ids: Iterable[str]) -> set[tuple[str, str]]:
    """The folders of these skills, each with its skill."""
    found: set[tuple[str, str]] = set()
    for some in in_chunks(skill_ids):
        query = select(SkillFileRow.skill_id, SkillFileRow.path).where(
            SkillFileRow.skill_id.in_(some), SkillFileRow.path.contains("/")
        )
        for skill_id, path in await session.execute(query):
            folder = path.rpartition("/")[0]
            while folder and (skill_id, folder) not in found:
                found.add((skill_id, folder))
                folder = folder.rpartition("/")[0]
    return found


def _leads_on() -> ColumnElement[bool]:
    """Whether a reference is to more than a file that its own skill has."""
    return or_(SkillReferenceRow.target_key != "", SkillFileRow.id.is_(None))


def _visible(principal: Principal) -> ColumnElement[bool]:
    return SkillRow.audience.in_(principal.audiences)
