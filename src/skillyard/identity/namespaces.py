"""Namespaces: who is in them, in which role, and what they demand of what is published."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import delete, update

from skillyard.clock import Clock, utc_now
from skillyard.db.base import new_id
from skillyard.db.database import Database
from skillyard.db.transaction import Transaction
from skillyard.errors import ConflictError, NotAllowedError, NotFoundError
from skillyard.history.entries import Change, Entry, Why
from skillyard.history.service import History, Step, moved_on
from skillyard.identity.directory import Member, Namespace
from skillyard.identity.models import MemberRow, NamespaceRow
from skillyard.identity.people import require_name
from skillyard.identity.policy import Policy
from skillyard.identity.principals import NamespaceKind, Principal, Role, Scope, person_audience
from skillyard.identity.store import (
    count_admins,
    members_of,
    namespace_named,
    namespace_with_id,
    namespaces_visible,
    person_named,
)

MEMBER_SET = "member.set"
MEMBER_REMOVED = "member.removed"
POLICY_SET = "policy.set"


class Namespaces:
    """What members and administrators do with a namespace."""

    def __init__(self, database: Database, history: History, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._history = history
        self._clock = clock
        history.register_undo(MEMBER_SET, self._undo_member)
        history.register_undo(MEMBER_REMOVED, self._undo_member)
        history.register_undo(POLICY_SET, self._undo_policy)

    async def visible(self, principal: Principal) -> list[Namespace]:
        """The namespaces the principal is in, and the system's."""
        async with self._database.read() as session:
            return await namespaces_visible(session, principal.tenant_id, list(principal.roles))

    async def get(self, principal: Principal, name: str) -> Namespace:
        """One the principal may know of: their own, a team's they are in, the system's."""
        async with self._database.read() as session:
            found = await namespace_named(session, principal.tenant_id, name)
        if found is None or not may_know(principal, found):
            raise no_namespace(name)
        return found

    async def members(self, principal: Principal, name: str) -> list[Member]:
        namespace = await self.get(principal, name)
        async with self._database.read() as session:
            return await members_of(session, namespace.id)

    async def create_team(self, principal: Principal, name: str, *, why: Why) -> Namespace:
        """Make a team; whoever makes it administers it."""
        principal.require_scope(Scope.ADMIN)
        require_name(name, "team")
        namespace = Namespace(
            id=new_id(),
            tenant_id=principal.tenant_id,
            name=name,
            kind=NamespaceKind.TEAM,
            policy=Policy(),
            created_at=self._clock(),
        )
        async with self._database.write() as transaction:
            if await namespace_named(transaction.session, principal.tenant_id, name):
                raise ConflictError(
                    f"The name {name!r} is taken by a person or a team.", details={"field": "name", "value": name}
                )
            transaction.session.add(
                NamespaceRow(
                    id=namespace.id,
                    tenant_id=namespace.tenant_id,
                    name=name,
                    kind=namespace.kind.value,
                    policy=namespace.policy.as_dict(),
                    created_at=namespace.created_at,
                )
            )
            await transaction.session.flush()
            transaction.session.add(
                MemberRow(namespace_id=namespace.id, person_id=principal.person_id, role=Role.ADMIN)
            )
            change = Change(action="namespace.created", subject=namespace.subject, after={"name": name})
            self._history.record(transaction, principal.actor, change, why)
        return namespace

    async def set_member(self, principal: Principal, name: str, person: str, role: Role, *, why: Why) -> Member:
        """Give a person of the tenant a role in a team."""
        namespace = await self._administered(principal, name)
        async with self._database.write() as transaction:
            found = await person_named(transaction.session, principal.tenant_id, person)
            if found is None:
                raise NotFoundError(
                    f"There is no person {person!r} in this tenant.", details={"field": "person", "value": person}
                )
            present = await transaction.session.get(MemberRow, (namespace.id, found.id))
            if present is None or present.role != role:
                change = await self._change_role(transaction, namespace, found.id, found.name, role)
                self._history.record(transaction, principal.actor, change, why)
        return Member(person_id=found.id, name=found.name, role=role)

    async def remove_member(self, principal: Principal, name: str, person: str, *, why: Why) -> None:
        """Take a person out of a team; who is in it may always leave."""
        if person == principal.name:
            principal.require_scope(Scope.ADMIN)
            namespace = await self.get(principal, name)
            _require_team(namespace)
        else:
            namespace = await self._administered(principal, name)
        async with self._database.write() as transaction:
            found = await person_named(transaction.session, principal.tenant_id, person)
            if found is None or await transaction.session.get(MemberRow, (namespace.id, found.id)) is None:
                raise NotFoundError(f"{person!r} is no member of {name!r}.", details={"person": person})
            change = await self._change_role(transaction, namespace, found.id, found.name, None)
            self._history.record(transaction, principal.actor, change, why)

    async def set_policy(self, principal: Principal, name: str, values: Mapping[str, Any], *, why: Why) -> Namespace:
        """Set what the namespace demands of what is published in it; rules left out are at their default."""
        namespace = await self._administered(principal, name, team_only=False)
        policy = Policy.read(values)
        async with self._database.write() as transaction:
            change = await self._change_policy(transaction, namespace, policy)
            if change.before != change.after:
                self._history.record(transaction, principal.actor, change, why)
        return replace(namespace, policy=policy)

    async def _administered(self, principal: Principal, name: str, *, team_only: bool = True) -> Namespace:
        namespace = await self.get(principal, name)
        require_role(principal, namespace, Role.ADMIN, Scope.ADMIN)
        if team_only:
            _require_team(namespace)
        return namespace

    async def _change_role(
        self, transaction: Transaction, namespace: Namespace, person_id: str, person: str, role: Role | None
    ) -> Change:
        row = await transaction.session.get(MemberRow, (namespace.id, person_id))
        before = Role(row.role) if row else None
        if (
            before is Role.ADMIN
            and role is not Role.ADMIN
            and await count_admins(transaction.session, namespace.id) == 1
        ):
            raise ConflictError(
                f"{person!r} is the last administrator of {namespace.name!r}.",
                hint="Make someone else an administrator first.",
                details={"person": person},
            )
        if role is None:
            key = (MemberRow.namespace_id == namespace.id) & (MemberRow.person_id == person_id)
            await transaction.session.execute(delete(MemberRow).where(key))
        elif row is None:
            transaction.session.add(MemberRow(namespace_id=namespace.id, person_id=person_id, role=role))
        else:
            row.role = role
        who = {"person_id": person_id, "person": person}
        return Change(
            action=MEMBER_REMOVED if role is None else MEMBER_SET,
            subject=namespace.subject,
            before={**who, "role": before},
            after={**who, "role": role},
            audience_before=person_audience(person_id),
        )

    async def _change_policy(self, transaction: Transaction, namespace: Namespace, policy: Policy) -> Change:
        row = update(NamespaceRow).where(NamespaceRow.id == namespace.id).values(policy=policy.as_dict())
        present = await namespace_with_id(transaction.session, namespace.id)
        await transaction.session.execute(row)
        before = (present or namespace).policy.as_dict()
        return Change(action=POLICY_SET, subject=namespace.subject, before=before, after=policy.as_dict())

    async def _undo_member(self, entry: Entry) -> Step:
        before, after = entry.change.before or {}, entry.change.after or {}

        async def step(transaction: Transaction) -> Change:
            namespace = await _still_there(transaction, entry)
            row = await transaction.session.get(MemberRow, (namespace.id, before["person_id"]))
            if (row.role if row else None) != after["role"]:
                raise moved_on(entry)
            role = Role(before["role"]) if before["role"] else None
            return await self._change_role(transaction, namespace, before["person_id"], before["person"], role)

        return step

    async def _undo_policy(self, entry: Entry) -> Step:
        async def step(transaction: Transaction) -> Change:
            namespace = await _still_there(transaction, entry)
            if namespace.policy.as_dict() != entry.change.after:
                raise moved_on(entry)
            return await self._change_policy(transaction, namespace, Policy.read(entry.change.before or {}))

        return step


def may_know(principal: Principal, namespace: Namespace) -> bool:
    return namespace.id in principal.roles or namespace.kind is NamespaceKind.SYSTEM


def role_held(principal: Principal, namespace: Namespace) -> Role:
    """The role of a principal in a namespace they may know of; that of everyone is the least."""
    if namespace.kind is NamespaceKind.SYSTEM:
        return Role.ADMIN if principal.admin else Role.VIEWER
    return principal.role_in(namespace.id) or Role.VIEWER


def require_role(principal: Principal, namespace: Namespace, role: Role, scope: Scope) -> None:
    """Refuses a principal whose role in the namespace, or whose token, is not enough."""
    principal.require_scope(scope)
    held = role_held(principal, namespace)
    if not held.covers(role):
        raise role_refusal(namespace.name, role, held if namespace.id in principal.roles else None)


def role_refusal(namespace: str, needed: Role, held: Role | None) -> NotAllowedError:
    """The error for a person with a lower role in a namespace, or none."""
    return NotAllowedError(
        f"This needs the role '{needed}' in {namespace!r}; "
        + (f"yours is '{held}'." if held else "you have none there."),
        hint="Ask one of its administrators.",
        details={"namespace": namespace, "needed": needed.value, "role": held and held.value},
    )


def no_namespace(name: str) -> NotFoundError:
    return NotFoundError(
        f"There is no namespace {name!r}, or not for you.",
        hint="List yours: skillyard registry namespaces list",
        details={"field": "namespace", "value": name},
    )


def _require_team(namespace: Namespace) -> None:
    if namespace.kind is not NamespaceKind.TEAM:
        raise ConflictError(
            f"{namespace.name!r} is no team: it has no members to change.",
            hint="Make a team: skillyard registry namespaces create NAME",
        )


async def _still_there(transaction: Transaction, entry: Entry) -> Namespace:
    namespace = await namespace_with_id(transaction.session, entry.change.subject.id)
    if namespace is None:
        raise moved_on(entry)
    return namespace
