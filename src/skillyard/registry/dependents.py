"""Which skills require a skill."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import ColumnElement, Select, select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.identity.models import NamespaceRow
from skillyard.identity.principals import Principal
from skillyard.registry.models import SkillRow, VersionRow
from skillyard.registry.naming import KnownSkill, Names, in_chunks
from skillyard.registry.skills import VersionState
from skillyard.skill.requires import Requirement, name_key, parse_requires


@dataclass(frozen=True, kw_only=True, slots=True)
class Dependent:
    """A skill that requires another."""

    id: str
    full_name: str
    version: str | None
    """The published version that does; None for the working copy."""
    range: str
    """The versions that will do for it."""


class Requiring(NamedTuple):
    """A working copy or a shipped version that requires other skills."""

    id: str
    namespace_id: str
    full_name: str
    version: str | None
    """None for the working copy."""
    requires: str


async def requiring_skills(session: AsyncSession, principal: Principal) -> dict[str, list[Requiring]]:
    """All visible skills that require others, by id: their working copies, and their versions that are shipped."""
    found: defaultdict[str, list[Requiring]] = defaultdict(list)
    await _add_working_copies(session, found, _visible(principal))
    # Looked for first: there are few, and with the skills at once a database may well begin with all of these.
    shipped = await _shipped_requirements(session)
    for some in in_chunks(shipped):
        await _add_versions(session, found, _visible(principal).where(SkillRow.id.in_(some)), shipped)
    return found


async def requiring_among(
    session: AsyncSession, principal: Principal, skill_ids: Collection[str]
) -> dict[str, list[Requiring]]:
    """The same of a few skills."""
    found: defaultdict[str, list[Requiring]] = defaultdict(list)
    visible = _visible(principal).where(SkillRow.id.in_(skill_ids))
    await _add_working_copies(session, found, visible)
    shipped = await _shipped_requirements(session, VersionRow.skill_id.in_(skill_ids))
    if shipped:
        await _add_versions(session, found, visible, shipped)
    return found


async def _add_working_copies(
    session: AsyncSession, found: defaultdict[str, list[Requiring]], visible: Select[str, str, str, str]
) -> None:
    wanted = SkillRow.fields["requires"].as_string()
    for skill_id, namespace_id, namespace, name, requires in await session.execute(
        visible.add_columns(wanted).where(wanted != "")
    ):
        found[skill_id].append(Requiring(skill_id, namespace_id, f"{namespace}/{name}", None, requires))


async def _shipped_requirements(
    session: AsyncSession, *conditions: ColumnElement[bool]
) -> dict[str, list[tuple[str, str]]]:
    """The shipped versions that require something, each with what, by skill."""
    versions = select(VersionRow.skill_id, VersionRow.version, VersionRow.requires).where(
        VersionRow.requires != "",
        VersionRow.state == VersionState.PUBLISHED,
        VersionRow.yank_reason.is_(None),
        *conditions,
    )
    shipped: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for skill_id, version, requires in await session.execute(versions):
        shipped[skill_id].append((version, requires))
    return shipped


async def _add_versions(
    session: AsyncSession,
    found: defaultdict[str, list[Requiring]],
    visible: Select[str, str, str, str],
    shipped: Mapping[str, list[tuple[str, str]]],
) -> None:
    for skill_id, namespace_id, namespace, name in await session.execute(visible):
        found[skill_id] += [
            Requiring(skill_id, namespace_id, f"{namespace}/{name}", version, requires)
            for version, requires in shipped.get(skill_id, ())
        ]


def dependents_of(requiring: Iterable[Requiring], skill: KnownSkill, names: Names) -> tuple[Dependent, ...]:
    """Those that could not have what they require without this skill.

    `names` holds every visible skill of the same name, so that it is known what a bare name means.
    """
    found = [
        Dependent(id=each.id, full_name=each.full_name, version=each.version, range=str(requirement.range))
        for each in requiring
        if each.id != skill.id
        for requirement in parse_requires(each.requires).items
        if _needs(requirement, each.namespace_id, skill, names)
    ]
    return tuple(sorted(found, key=lambda each: (each.full_name, each.version or "")))


def _visible(principal: Principal) -> Select[str, str, str, str]:
    return (
        select(SkillRow.id, SkillRow.namespace_id, NamespaceRow.name, SkillRow.name)
        .join(NamespaceRow, NamespaceRow.id == SkillRow.namespace_id)
        .where(SkillRow.audience.in_(principal.audiences), SkillRow.deleted_at.is_(None))
    )


def _needs(requirement: Requirement, namespace_id: str, skill: KnownSkill, names: Names) -> bool:
    if "/" in requirement.name:
        return requirement.key == name_key(skill.full_name)
    return (
        requirement.key == skill.key
        and names.meant(skill.key, namespace_id) == skill
        and names.meant(skill.key, namespace_id, without=skill.id) is None
    )
