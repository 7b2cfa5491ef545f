"""Where feedback, memories and decision rules live: in a namespace, whose roles say who may change them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.identity.namespaces import may_know, no_namespace, role_refusal
from skillyard.identity.people import SYSTEM
from skillyard.identity.principals import Principal, Role, Scope, namespace_audience, tenant_audience
from skillyard.identity.store import namespace_named, namespace_with_id
from skillyard.learning.models import FeedbackRow, MemoryRow, RuleRow

_COMMON: Final = "the tenant's common ground"


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A namespace, and whether only its members may read what is there."""

    namespace_id: str | None = None
    """None: the common ground of the tenant, where everything was before it had a namespace."""
    namespace: str | None = None
    private: bool = False

    @property
    def visibility(self) -> str:
        return "private" if self.private else "public"

    @property
    def columns(self) -> dict[str, Any]:
        return {"namespace_id": self.namespace_id, "namespace": self.namespace, "private": self.private}

    def audience(self, tenant_id: str) -> str:
        """The audience that may see what is there."""
        if self.private and self.namespace_id is not None:
            return namespace_audience(self.namespace_id)
        return tenant_audience(tenant_id)

    @classmethod
    def read(cls, columns: Mapping[str, Any]) -> "Place":
        return cls(**{name: columns[name] for name in ("namespace_id", "namespace", "private")})


COMMON: Final = Place()


def place_of(row: FeedbackRow | MemoryRow | RuleRow) -> Place:
    return Place(namespace_id=row.namespace_id, namespace=row.namespace, private=bool(row.private))


def is_visible(principal: Principal, row: FeedbackRow | MemoryRow | RuleRow) -> bool:
    return row.tenant_id == principal.tenant_id and place_of(row).audience(row.tenant_id) in principal.audiences


def visible(principal: Principal, rows: type[FeedbackRow | MemoryRow | RuleRow]) -> ColumnElement[bool]:
    """The condition for rows that a principal may read."""
    is_shown = or_(rows.private.is_(False), rows.namespace_id.in_(list(principal.roles)))
    return (rows.tenant_id == principal.tenant_id) & is_shown


async def hidden_knowledge(session: AsyncSession, principal: Principal, ids: Collection[str]) -> set[str]:
    """Those of the memories and rules, deleted ones included, that the principal may not know of now."""
    found: set[str] = set()
    for rows in (MemoryRow, RuleRow):
        found |= set(await session.scalars(select(rows.id).where(rows.id.in_(list(ids)), ~visible(principal, rows))))
    return found


def writable(principal: Principal, rows: type[FeedbackRow]) -> ColumnElement[bool]:
    """The condition for rows that the roles of a principal allow to change."""
    editable = [namespace for namespace, role in principal.roles.items() if role.covers(Role.EDITOR)]
    in_theirs = or_(rows.namespace_id.is_(None), rows.namespace_id.in_(editable))
    if principal.admin:
        in_theirs = or_(in_theirs, rows.namespace == SYSTEM)
    return (rows.tenant_id == principal.tenant_id) & in_theirs


def role_at(principal: Principal, place: Place) -> Role:
    """On the common ground everyone may do what a publisher may, and the tenant's administrators administer."""
    if place.namespace_id is None:
        return Role.ADMIN if principal.admin else Role.PUBLISHER
    if place.namespace == SYSTEM:
        return Role.ADMIN if principal.admin else Role.VIEWER
    return principal.role_in(place.namespace_id) or Role.VIEWER


def may_change(principal: Principal, place: Place, *, locked: bool = False) -> bool:
    """Whether their role lets a principal change what lives in a place; their token may still not."""
    return role_at(principal, place).covers(Role.ADMIN if locked else Role.EDITOR)


def require_at(principal: Principal, place: Place, role: Role, scope: Scope, *, locked: bool = False) -> None:
    """Refuses a person without the role and scope for a change in a place; only its administrators change what is
    locked there.
    """
    principal.require_scope(scope)
    needed, held = Role.ADMIN if locked else role, role_at(principal, place)
    if not held.covers(needed):
        is_member = place.namespace_id is None or place.namespace_id in principal.roles
        raise role_refusal(place.namespace or _COMMON, needed, held if is_member else None)


async def place_named(session: AsyncSession, principal: Principal, name: str | None, *, private: bool = False) -> Place:
    """Where something new goes: the principal's own namespace, unless another is named."""
    namespace = await namespace_named(session, principal.tenant_id, name or principal.name)
    if namespace is None or not may_know(principal, namespace):
        raise no_namespace(name or principal.name)
    place = Place(namespace_id=namespace.id, namespace=namespace.name, private=private)
    require_at(principal, place, Role.EDITOR, Scope.WRITE)
    return place


async def is_reviewed(session: AsyncSession, place: Place) -> bool:
    """Whether its namespace requires that somebody other than the author approves changes."""
    namespace = None if place.namespace_id is None else await namespace_with_id(session, place.namespace_id)
    return namespace is not None and namespace.policy.review
