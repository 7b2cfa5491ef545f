"""Tenants and the people in them."""

import re
from dataclasses import replace
from typing import Final

from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.clock import Clock, utc_now
from skillyard.db.base import new_id
from skillyard.db.database import Database
from skillyard.db.transaction import Transaction
from skillyard.errors import ConflictError, InputError, NotAllowedError, NotFoundError
from skillyard.history.entries import Actor, Change, Subject, Why
from skillyard.history.service import History
from skillyard.identity.directory import Person, Tenant
from skillyard.identity.models import MemberRow, NamespaceRow, PersonRow, TenantRow
from skillyard.identity.policy import Policy
from skillyard.identity.principals import NamespaceKind, Principal, Role, Scope, admin_audience, tenant_audience
from skillyard.identity.store import (
    namespace_named,
    people_of,
    person_named,
    person_with_external_id,
    tenant_named,
    tenant_with_id,
)
from skillyard.skill.names import is_valid_name, slugify

SYSTEM: Final = "system"
"""The namespace of the skills that belong to nobody."""
DEFAULT_TENANT: Final = "default"
_YARD: Final = "skillyard"
"""Who acts where no person does."""


class People:
    """Who there is. People are never removed, only disabled: the history speaks of them."""

    def __init__(self, database: Database, history: History, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._history = history
        self._clock = clock

    async def ensure_tenant(self, name: str = DEFAULT_TENANT) -> Tenant:
        """The tenant of that name, made with its system namespace if it is not there."""
        async with self._database.read() as session:
            found = await tenant_named(session, name)
        if found is not None:
            return found
        require_name(name, "tenant")
        async with self._database.write() as transaction:
            return await tenant_named(transaction.session, name) or await self._add_tenant(transaction, name)

    async def tenant_of(self, principal: Principal) -> Tenant:
        async with self._database.read() as session:
            return await tenant_with_id(session, principal.tenant_id)

    async def create_tenant(self, principal: Principal, name: str, *, why: Why) -> Tenant:
        principal.require_scope(Scope.ADMIN)
        if not principal.operator:
            raise NotAllowedError(
                "Only the operator of this yard may make tenants.", hint="Use the token in SKILLYARD_ADMIN_TOKEN."
            )
        require_name(name, "tenant")
        async with self._database.write() as transaction:
            if await tenant_named(transaction.session, name):
                raise ConflictError(f"There is a tenant {name!r} already.", details={"field": "name", "value": name})
            return await self._add_tenant(transaction, name, actor=principal.name, why=why)

    async def ensure_person(
        self, tenant: Tenant, name: str, *, admin: bool = False, external_id: str | None = None
    ) -> Person:
        """The person of that name, or with that id at an identity provider, made if need be."""
        async with self._database.read() as session:
            found = await self._find(session, tenant, name, external_id)
        if found is not None:
            return found
        async with self._database.write() as transaction:
            found = await self._find(transaction.session, tenant, name, external_id)
            if found is not None:
                return found
            free = name
            if external_id:
                free = await self._free_name(transaction, tenant.id, name)
            elif await namespace_named(transaction.session, tenant.id, name):
                raise _taken(name)
            actor = Actor(tenant_id=tenant.id, name=_YARD)
            return await self._add_person(transaction, actor, free, Why(), admin=admin, external_id=external_id)

    async def create(
        self, principal: Principal, name: str, *, admin: bool = False, tenant: str | None = None, why: Why
    ) -> Person:
        """Add a person to the principal's tenant; the operator may name another one."""
        principal.require_admin()
        require_name(name, "person")
        async with self._database.write() as transaction:
            actor = await actor_in(transaction.session, principal, tenant)
            if await namespace_named(transaction.session, actor.tenant_id, name):
                raise _taken(name)
            return await self._add_person(transaction, actor, name, why, admin=admin)

    async def everyone(self, principal: Principal) -> list[Person]:
        principal.require_admin()
        async with self._database.read() as session:
            return await people_of(session, principal.tenant_id)

    async def set_disabled(self, principal: Principal, name: str, *, disabled: bool, why: Why) -> Person:
        """Shut a person out, or let them in again; their skills stay."""
        principal.require_admin()
        async with self._database.write() as transaction:
            person = await person_named(transaction.session, principal.tenant_id, name)
            if person is None:
                raise NotFoundError(f"There is no person {name!r}.", hint="List them: skillyard registry people list")
            if person.id == principal.person_id:
                raise ConflictError("You cannot disable yourself.", hint="Ask another administrator.")
            if disabled == (person.disabled_at is not None):
                return person
            at = self._clock() if disabled else None
            row = update(PersonRow).where(PersonRow.id == person.id).values(disabled_at=at)
            await transaction.session.execute(row)
            action = "person.disabled" if disabled else "person.enabled"
            self._history.record(transaction, principal.actor, _about(action, person), why)
            return replace(person, disabled_at=at)

    async def _find(self, session: AsyncSession, tenant: Tenant, name: str, external_id: str | None) -> Person | None:
        if external_id is not None:
            return await person_with_external_id(session, external_id)
        return await person_named(session, tenant.id, name)

    async def _free_name(self, transaction: Transaction, tenant_id: str, wanted: str) -> str:
        stem = slugify(wanted)[:48] or "person"
        name, number = stem, 1
        while await namespace_named(transaction.session, tenant_id, name):
            number += 1
            name = f"{stem}-{number}"
        return name

    async def _add_tenant(
        self, transaction: Transaction, name: str, *, actor: str = _YARD, why: Why | None = None
    ) -> Tenant:
        now = self._clock()
        tenant = Tenant(id=new_id(), name=name, created_at=now)
        transaction.session.add(TenantRow(id=tenant.id, name=name, created_at=now))
        await transaction.session.flush()
        self._add_namespace(transaction, tenant.id, SYSTEM, NamespaceKind.SYSTEM)
        subject = Subject(kind="tenant", id=tenant.id, label=name, audience=tenant_audience(tenant.id))
        change = Change(action="tenant.created", subject=subject)
        self._history.record(transaction, Actor(tenant_id=tenant.id, name=actor), change, why or Why())
        return tenant

    async def _add_person(
        self,
        transaction: Transaction,
        actor: Actor,
        name: str,
        why: Why,
        *,
        admin: bool,
        external_id: str | None = None,
    ) -> Person:
        now = self._clock()
        person = Person(id=new_id(), tenant_id=actor.tenant_id, name=name, admin=admin, created_at=now)
        transaction.session.add(
            PersonRow(
                id=person.id,
                tenant_id=person.tenant_id,
                name=name,
                admin=admin,
                external_id=external_id,
                created_at=now,
                disabled_at=None,
            )
        )
        namespace_id = self._add_namespace(transaction, person.tenant_id, name, NamespaceKind.PERSON)
        await transaction.session.flush()
        transaction.session.add(MemberRow(namespace_id=namespace_id, person_id=person.id, role=Role.ADMIN))
        self._history.record(transaction, actor, _about("person.created", person), why)
        return person

    def _add_namespace(self, transaction: Transaction, tenant_id: str, name: str, kind: NamespaceKind) -> str:
        namespace_id = new_id()
        transaction.session.add(
            NamespaceRow(
                id=namespace_id,
                tenant_id=tenant_id,
                name=name,
                kind=kind.value,
                policy=Policy().as_dict(),
                created_at=self._clock(),
            )
        )
        return namespace_id


async def actor_in(session: AsyncSession, principal: Principal, tenant: str | None) -> Actor:
    """The principal as they act in a tenant: their own, or any that the operator names."""
    if tenant is None:
        return principal.actor
    found = await tenant_named(session, tenant)
    if found is None or not (principal.operator or found.id == principal.tenant_id):
        raise NotFoundError(f"There is no tenant {tenant!r}.", details={"field": "tenant", "value": tenant})
    return principal.actor if found.id == principal.tenant_id else Actor(tenant_id=found.id, name=principal.name)


def require_name(name: str, field: str) -> None:
    """Refuses a name that could not be the first half of a skill's."""
    if not is_valid_name(name) or re.search(r"\s", name):
        raise InputError(
            f"{name!r} cannot be the name of a {field}.",
            hint="Use 1 to 64 lower-case letters, digits and single hyphens, such as 'data-team'.",
            details={"field": "name", "value": name},
        )


def _about(action: str, person: Person) -> Change:
    subject = Subject(kind="person", id=person.id, label=person.name, audience=admin_audience(person.tenant_id))
    return Change(action=action, subject=subject, after={"name": person.name, "admin": person.admin})


def _taken(name: str) -> ConflictError:
    return ConflictError(f"The name {name!r} is taken by a person or a team.", details={"field": "name", "value": name})
