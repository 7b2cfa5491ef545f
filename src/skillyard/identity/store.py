"""Queries over people, namespaces and tokens."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.identity.directory import Member, Namespace, Person, Tenant, Token
from skillyard.identity.models import MemberRow, NamespaceRow, PersonRow, TenantRow, TokenRow
from skillyard.identity.policy import Policy
from skillyard.identity.principals import NamespaceKind, Principal, Role, Scope

# Every request asks these: to make a statement costs more than to carry it out.
_ROLES: Final = select(MemberRow.namespace_id, MemberRow.role).where(MemberRow.person_id == bindparam("person"))
_NAMESPACE: Final = select(NamespaceRow).where(
    NamespaceRow.tenant_id == bindparam("tenant"), NamespaceRow.name == bindparam("name")
)


async def tenant_named(session: AsyncSession, name: str) -> Tenant | None:
    row = await session.scalar(select(TenantRow).where(TenantRow.name == name))
    return row and _tenant(row)


async def tenant_with_id(session: AsyncSession, tenant_id: str) -> Tenant:
    row = await session.get_one(TenantRow, tenant_id)
    return _tenant(row)


def _tenant(row: TenantRow) -> Tenant:
    return Tenant(id=row.id, name=row.name, created_at=row.created_at, shows_world=row.shows_world)


async def person_named(session: AsyncSession, tenant_id: str, name: str) -> Person | None:
    row = await session.scalar(select(PersonRow).where(PersonRow.tenant_id == tenant_id, PersonRow.name == name))
    return row and person_of(row)


async def person_with_external_id(session: AsyncSession, external_id: str) -> Person | None:
    row = await session.scalar(select(PersonRow).where(PersonRow.external_id == external_id))
    return row and person_of(row)


async def people_of(session: AsyncSession, tenant_id: str) -> list[Person]:
    rows = await session.scalars(select(PersonRow).where(PersonRow.tenant_id == tenant_id).order_by(PersonRow.name))
    return [person_of(row) for row in rows]


async def roles_of(session: AsyncSession, person_id: str) -> dict[str, Role]:
    found = await session.execute(_ROLES, {"person": person_id})
    return {namespace_id: Role(role) for namespace_id, role in found}


async def principal_of(
    session: AsyncSession, person: Person, *, scope: Scope, operator: bool = False, token_id: str | None = None
) -> Principal:
    """A person as they act now, with the roles they have and no more than a scope allows."""
    return Principal(
        person_id=person.id,
        name=person.name,
        tenant_id=person.tenant_id,
        scope=scope,
        admin=person.admin,
        operator=operator,
        roles=await roles_of(session, person.id),
        token_id=token_id,
    )


async def namespace_named(session: AsyncSession, tenant_id: str, name: str) -> Namespace | None:
    row = await session.scalar(_NAMESPACE, {"tenant": tenant_id, "name": name})
    return row and namespace_of(row)


async def namespace_with_id(session: AsyncSession, namespace_id: str) -> Namespace | None:
    row = await session.get(NamespaceRow, namespace_id)
    return row and namespace_of(row)


async def namespaces_visible(session: AsyncSession, tenant_id: str, ids: Sequence[str]) -> list[Namespace]:
    """The namespaces with one of these ids, and the system's."""
    wanted = or_(NamespaceRow.id.in_(ids), NamespaceRow.kind == NamespaceKind.SYSTEM.value)
    query = select(NamespaceRow).where(NamespaceRow.tenant_id == tenant_id, wanted).order_by(NamespaceRow.name)
    return [namespace_of(row) for row in await session.scalars(query)]


async def members_of(session: AsyncSession, namespace_id: str) -> list[Member]:
    query = (
        select(MemberRow.person_id, PersonRow.name, MemberRow.role)
        .join(PersonRow, PersonRow.id == MemberRow.person_id)
        .where(MemberRow.namespace_id == namespace_id)
        .order_by(PersonRow.name)
    )
    return [Member(person_id=key, name=name, role=Role(role)) for key, name, role in await session.execute(query)]


async def count_admins(session: AsyncSession, namespace_id: str) -> int:
    query = (
        select(func.count())
        .select_from(MemberRow)
        .where(MemberRow.namespace_id == namespace_id, MemberRow.role == Role.ADMIN.value)
    )
    return await session.scalar(query) or 0


async def token_with_hash(session: AsyncSession, token_hash: str) -> tuple[Token, Person] | None:
    query = (
        select(TokenRow, PersonRow)
        .join(PersonRow, PersonRow.id == TokenRow.person_id)
        .where(TokenRow.hash == token_hash)
    )
    found = (await session.execute(query)).one_or_none()
    return (token_of(found[0], found[1]), person_of(found[1])) if found else None


async def token_with_id(session: AsyncSession, tenant_id: str, token_id: str) -> Token | None:
    query = (
        select(TokenRow, PersonRow)
        .join(PersonRow, PersonRow.id == TokenRow.person_id)
        .where(TokenRow.id == token_id, PersonRow.tenant_id == tenant_id)
    )
    found = (await session.execute(query)).one_or_none()
    return token_of(found[0], found[1]) if found else None


async def tokens_made_with(session: AsyncSession, token_id: str) -> list[Token]:
    """Those that were made with a token, with one of these, and so on; also those that have ended."""
    made = select(TokenRow.id).where(TokenRow.parent_id == token_id).cte(recursive=True)
    made = made.union(select(TokenRow.id).where(TokenRow.parent_id == made.c.id))
    query = select(TokenRow, PersonRow).join(PersonRow, PersonRow.id == TokenRow.person_id)
    found = await session.execute(
        query.where(TokenRow.id.in_(select(made.c.id))).order_by(TokenRow.created_at, TokenRow.id)
    )
    return [token_of(token, person) for token, person in found]


async def any_token(session: AsyncSession, *, at: datetime) -> bool:
    """Whether there is a token that is good at that moment."""
    good = or_(TokenRow.expires_at.is_(None), TokenRow.expires_at > at)
    query = select(TokenRow.id).where(TokenRow.revoked_at.is_(None), good).limit(1)
    return await session.scalar(query) is not None


async def tokens_of(session: AsyncSession, tenant_id: str, person_id: str | None) -> list[Token]:
    """The tokens of one person, or of everyone in the tenant."""
    query = select(TokenRow, PersonRow).join(PersonRow, PersonRow.id == TokenRow.person_id)
    query = query.where(PersonRow.tenant_id == tenant_id)
    if person_id is not None:
        query = query.where(TokenRow.person_id == person_id)
    found = await session.execute(query.order_by(TokenRow.created_at, TokenRow.id))
    return [token_of(token, person) for token, person in found]


def person_of(row: PersonRow) -> Person:
    return Person(
        id=row.id,
        tenant_id=row.tenant_id,
        name=row.name,
        admin=row.admin,
        created_at=row.created_at,
        disabled_at=row.disabled_at,
    )


def namespace_of(row: NamespaceRow) -> Namespace:
    return Namespace(
        id=row.id,
        tenant_id=row.tenant_id,
        name=row.name,
        kind=NamespaceKind(row.kind),
        policy=Policy.read(row.policy),
        created_at=row.created_at,
    )


def token_of(row: TokenRow, person: PersonRow) -> Token:
    return Token(
        id=row.id,
        person_id=row.person_id,
        person=person.name,
        tenant_id=person.tenant_id,
        label=row.label,
        scope=Scope(row.scope),
        created_at=row.created_at,
        expires_at=row.expires_at,
        last_used_at=row.last_used_at,
        revoked_at=row.revoked_at,
        parent_id=row.parent_id,
    )
