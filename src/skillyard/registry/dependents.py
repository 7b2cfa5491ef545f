"""Which skills require a skill."""

from dataclasses import dataclass

from sqlalchemy import literal, select, union_all
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.identity.models import NamespaceRow
from skillyard.identity.principals import Principal
from skillyard.registry.models import SkillRow, VersionRow
from skillyard.registry.naming import KnownSkill, Names
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


async def dependents_of(
    session: AsyncSession, principal: Principal, skill: KnownSkill, names: Names
) -> tuple[Dependent, ...]:
    """The visible skills that could not have what they require without this one.

    Looked at are working copies and the versions that are shipped. `names` holds every visible skill of the same
    name, so that it is known what a bare name means.
    """
    visible = SkillRow.audience.in_(principal.audiences) & SkillRow.deleted_at.is_(None) & (SkillRow.id != skill.id)
    drafts = (
        select(
            SkillRow.id,
            SkillRow.namespace_id,
            NamespaceRow.name.label("namespace"),
            SkillRow.name,
            literal("").label("version"),
            SkillRow.fields["requires"].as_string().label("requires"),
        )
        .join(NamespaceRow, NamespaceRow.id == SkillRow.namespace_id)
        .where(visible, SkillRow.fields["requires"].as_string() != "")
    )
    shipped = (
        select(
            SkillRow.id,
            SkillRow.namespace_id,
            NamespaceRow.name.label("namespace"),
            SkillRow.name,
            VersionRow.version,
            VersionRow.requires,
        )
        .join(NamespaceRow, NamespaceRow.id == SkillRow.namespace_id)
        .join(VersionRow, VersionRow.skill_id == SkillRow.id)
        .where(visible, VersionRow.requires != "")
        .where(VersionRow.state == VersionState.PUBLISHED, VersionRow.yank_reason.is_(None))
    )
    found: list[Dependent] = []
    for skill_id, namespace_id, namespace, name, version, requires in await session.execute(union_all(drafts, shipped)):
        found.extend(
            Dependent(
                id=skill_id, full_name=f"{namespace}/{name}", version=version or None, range=str(requirement.range)
            )
            for requirement in parse_requires(requires).items
            if _needs(requirement, namespace_id, skill, names)
        )
    return tuple(sorted(found, key=lambda each: (each.full_name, each.version or "")))


def _needs(requirement: Requirement, namespace_id: str, skill: KnownSkill, names: Names) -> bool:
    if "/" in requirement.name:
        return requirement.key == name_key(skill.full_name)
    return (
        requirement.key == skill.key
        and names.meant(skill.key, namespace_id) == skill
        and names.meant(skill.key, namespace_id, without=skill.id) is None
    )
