"""From a token, or from being at this machine, to a principal."""

import hmac
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from sqlalchemy import update

from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.errors import UnauthenticatedError
from skillyard.identity.directory import Person
from skillyard.identity.models import TokenRow
from skillyard.identity.people import People
from skillyard.identity.principals import Principal, Scope
from skillyard.identity.store import principal_of, token_with_hash
from skillyard.identity.tokens import hash_of

OPERATOR: Final = "admin"
"""The name of the person behind the first administrator's token."""
_REMEMBERED: Final = 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class Admission:
    """A principal, and until when they may be taken for it."""

    principal: Principal
    until: datetime | None = None


class Access:
    """Knows who is asking. Answers are remembered until anything changes."""

    def __init__(
        self, database: Database, people: People, *, admin_token: str | None = None, clock: Clock = utc_now
    ) -> None:
        self._database = database
        self._people = people
        self._admin_hash = hash_of(admin_token) if admin_token else None
        self._clock = clock
        self._known: OrderedDict[str, tuple[int, Admission]] = OrderedDict()
        self._operators: dict[str, Person] = {}
        self._used: dict[str, datetime] = {}

    async def by_token(self, secret: str) -> Admission:
        """The principal a token speaks for; a wrong, ended or expired one is refused without saying which."""
        key = hash_of(secret)
        admission = await self._remembered(key, lambda: self._admit(key))
        now = self._clock()
        if admission.until is not None and admission.until <= now:
            raise _refusal()
        if admission.principal.token_id is not None:
            self._used[admission.principal.token_id] = now
        return admission

    async def number(self) -> int:
        """The number of the last change: rights are as they were then, or later."""
        return await self._database.number()

    async def of_person(self, person: Person, *, scope: Scope = Scope.ADMIN) -> Principal:
        """A person with all their rights, whom something else than a token vouches for."""
        async with self._database.read() as session:
            return await principal_of(session, person, scope=scope)

    async def operator(self, name: str = OPERATOR) -> Principal:
        """Whoever runs the yard, under that name; they administer the tenant, whoever else has a say in it."""
        return (await self._remembered(f"operator:{name}", lambda: self._admit_operator(name))).principal

    async def save_last_used(self) -> None:
        """Write down when tokens were last used; called now and then, since a read should not cost a write."""
        used, self._used = self._used, {}
        if not used:
            return
        async with self._database.write(bookkeeping=True) as transaction:
            for token_id, at in used.items():
                row = update(TokenRow).where(TokenRow.id == token_id).values(last_used_at=at)
                await transaction.session.execute(row)

    async def _admit(self, key: str) -> Admission:
        if self._admin_hash is not None and hmac.compare_digest(key, self._admin_hash):
            return await self._admit_operator(OPERATOR)
        async with self._database.read() as session:
            found = await token_with_hash(session, key)
            if found is None:
                raise _refusal()
            token, person = found
            if token.revoked_at is not None or person.disabled_at is not None:
                raise _refusal()
            principal = await principal_of(session, person, scope=token.scope, token_id=token.id)
        return Admission(principal=principal, until=token.expires_at)

    async def _admit_operator(self, name: str) -> Admission:
        person = self._operators.get(name)
        if person is None:
            tenant = await self._people.ensure_tenant()
            person = self._operators[name] = await self._people.ensure_person(tenant, name, admin=True)
        async with self._database.read() as session:
            everything = replace(person, admin=True)
            return Admission(principal=await principal_of(session, everything, scope=Scope.ADMIN, operator=True))

    async def _remembered(self, key: str, admit: Callable[[], Awaitable[Admission]]) -> Admission:
        # Read first: a change that comes between makes the answer younger than its number, and so looked up again.
        number = await self._database.number()
        known = self._known.get(key)
        if known is None or known[0] != number:
            known = (number, await admit())
            self._known[key] = known
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        self._known.move_to_end(key)
        return known[1]


def _refusal() -> UnauthenticatedError:
    return UnauthenticatedError("The token is not valid: it is unknown, expired or revoked.")
