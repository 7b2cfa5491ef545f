"""Who may do what with a skill."""

from typing import Final, NamedTuple

from sqlalchemy import bindparam, select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.errors import NotFoundError
from skillyard.identity.directory import Namespace
from skillyard.identity.namespaces import may_know, no_namespace, require_role
from skillyard.identity.principals import Principal, Role, Scope
from skillyard.identity.store import namespace_named, namespace_with_id
from skillyard.registry.models import SkillRow
from skillyard.registry.skills import Skill, Visibility
from skillyard.registry.store import skill_with_id


class Glimpse(NamedTuple):
    """As much of a skill as its neighbours need: one query instead of three."""

    name: str
    namespace_id: str
    owner_id: str | None
    audience: str


_GLIMPSE: Final = select(SkillRow.name, SkillRow.namespace_id, SkillRow.owner_id, SkillRow.audience).where(
    SkillRow.id == bindparam("id"), SkillRow.deleted_at.is_(None)
)


async def visible_skill(session: AsyncSession, principal: Principal, skill_id: str) -> Skill:
    """The skill, or the same answer for one that is not there and one that is not for this principal."""
    skill = await skill_with_id(session, skill_id)
    if skill is None or skill.audience not in principal.audiences:
        raise no_skill(skill_id)
    return skill


async def glimpse_of(session: AsyncSession, principal: Principal, skill_id: str) -> Glimpse:
    """The same for whoever needs not all of the skill."""
    found = (await session.execute(_GLIMPSE, {"id": skill_id})).one_or_none()
    if found is None or found.audience not in principal.audiences:
        raise no_skill(skill_id)
    return Glimpse(*found)


async def require_skill_role(
    session: AsyncSession, principal: Principal, skill: Skill, role: Role, scope: Scope
) -> Namespace:
    """The namespace of a skill, for a principal who may do this there."""
    namespace = await namespace_with_id(session, skill.namespace_id)
    if namespace is None:
        raise no_skill(skill.id)
    require_role(principal, namespace, role, scope)
    return namespace


async def writable_namespace(
    session: AsyncSession, principal: Principal, name: str | None, visibility: Visibility
) -> Namespace:
    """The namespace a new skill goes into: the principal's own unless another is named."""
    principal.require_scope(Scope.WRITE)
    namespace = await namespace_named(session, principal.tenant_id, name or principal.name)
    if namespace is None or not may_know(principal, namespace):
        raise no_namespace(name or principal.name)
    require_role(principal, namespace, role_to_show(visibility), Scope.WRITE)
    return namespace


def role_to_show(visibility: Visibility) -> Role:
    """The role that may have a skill of this visibility."""
    return Role.EDITOR if visibility is Visibility.PRIVATE else Role.PUBLISHER


def role_to_change(skill: Skill, visibility: Visibility | None) -> Role:
    """The role that may edit a skill, and with a visibility, show it to others than now."""
    if visibility is None or visibility is skill.visibility:
        return Role.EDITOR
    return max(role_to_show(visibility), role_to_show(skill.visibility), key=lambda role: role.rank)


def no_skill(name: str) -> NotFoundError:
    return NotFoundError(
        f"There is no skill {name!r}, or not for you.",
        hint="List what you can see: skillyard registry list",
        details={"skill": name},
    )
