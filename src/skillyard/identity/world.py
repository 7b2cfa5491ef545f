"""Whether the people of a tenant may show skills to the world."""

from typing import Final

from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.db.database import Database
from skillyard.db.transaction import Transaction
from skillyard.errors import NotAllowedError
from skillyard.history.entries import Change, Entry, Why
from skillyard.history.service import History, Step, moved_on
from skillyard.identity.directory import Tenant
from skillyard.identity.models import TenantRow
from skillyard.identity.principals import Principal, Scope
from skillyard.identity.store import tenant_with_id

WORLD_SET: Final = "tenant.policy_set"
_RULE: Final = "discoverable"


class World:
    """The tenant's rule for who may show its skills to the world, whatever its namespaces say."""

    def __init__(self, database: Database, history: History) -> None:
        self._database = database
        self._history = history
        history.register_undo(WORLD_SET, self._undo)

    async def allow(self, principal: Principal, *, allowed: bool, why: Why) -> Tenant:
        """Let all publishers of the tenant show skills to the world, or only its administrators."""
        principal.require_scope(Scope.ADMIN)
        if not principal.admin:
            raise NotAllowedError(
                "Only an administrator of the tenant may set this.",
                hint="Ask an administrator, or the operator of the server.",
            )
        async with self._database.write() as transaction:
            tenant = await tenant_with_id(transaction.session, principal.tenant_id)
            if tenant.shows_world is not allowed:
                self._history.record(
                    transaction, principal.actor, await self._set(transaction, tenant, allowed=allowed), why
                )
            return await tenant_with_id(transaction.session, tenant.id)

    async def _set(self, transaction: Transaction, tenant: Tenant, *, allowed: bool) -> Change:
        row = update(TenantRow).where(TenantRow.id == tenant.id).values(shows_world=allowed)
        await transaction.session.execute(row)
        return Change(
            action=WORLD_SET,
            subject=tenant.subject,
            before={_RULE: tenant.shows_world},
            after={_RULE: allowed},
        )

    async def _undo(self, entry: Entry) -> Step:
        async def step(transaction: Transaction) -> Change:
            tenant = await tenant_with_id(transaction.session, entry.change.subject.id)
            if tenant.shows_world is not (entry.change.after or {})[_RULE]:
                raise moved_on(entry)
            return await self._set(transaction, tenant, allowed=not tenant.shows_world)

        return step


async def require_world(session: AsyncSession, principal: Principal) -> None:
    """Refuses a principal who may not show a skill to the world."""
    if principal.admin and principal.scope.covers(Scope.ADMIN):
        return
    tenant = await tenant_with_id(session, principal.tenant_id)
    if not tenant.shows_world:
        raise NotAllowedError(
            f"In {tenant.name!r}, only its administrators may show skills to the world.",
            hint="Use 'public' to show it to the tenant, or ask an administrator: they can make it discoverable, or "
            "let everyone: skillyard registry policy discoverable=true",
            details={"tenant": tenant.name, "field": "visibility", "value": _RULE},
        )
