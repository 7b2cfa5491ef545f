"""Browsers that are signed in: each holds a secret, and has the rights of whoever signed in as they are now."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import delete, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.clock import Clock, utc_now
from skillyard.db.base import new_id
from skillyard.db.database import Database
from skillyard.errors import NotAllowedError, UnauthenticatedError
from skillyard.history.entries import Actor, Change, Subject, Why
from skillyard.history.service import History
from skillyard.identity.access import Access, Admission
from skillyard.identity.directory import Person
from skillyard.identity.models import PersonRow, SessionRow, TokenRow
from skillyard.identity.principals import Principal, Scope, person_audience
from skillyard.identity.store import person_of, principal_of
from skillyard.identity.tokens import hash_of

IDLE: Final = timedelta(hours=12)
"""A session that nobody uses for so long ends."""
LONGEST: Final = timedelta(days=7)
"""After so long every session ends."""
_NOTED_EVERY: Final = timedelta(minutes=5)
"""When a session was last used is known to about this, so that a read seldom costs a write."""
_RANDOM_BYTES: Final = 32


@dataclass(frozen=True, kw_only=True, slots=True)
class NewSession:
    """A session just begun: the only time its secret is known."""

    principal: Principal
    secret: str = field(repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Found:
    """What the tables say of a session."""

    id: str
    person: Person
    scope: Scope
    token_id: str | None
    token_expires_at: datetime | None
    token_revoked: bool
    operator_proof: str | None
    used_at: datetime
    expires_at: datetime
    revoked: bool

    @property
    def until(self) -> datetime:
        """The moment it ends if it is not used again."""
        ends = min(self.used_at + IDLE, self.expires_at)
        return ends if self.token_expires_at is None else min(ends, self.token_expires_at)


class Sessions:
    """Begins, checks and ends sessions. A session never has more rights than what it was begun with."""

    def __init__(
        self,
        database: Database,
        history: History,
        access: Access,
        *,
        admin_token: str | None = None,
        clock: Clock = utc_now,
    ) -> None:
        self._database = database
        self._history = history
        self._access = access
        self._admin_hash = hash_of(admin_token) if admin_token else None
        self._clock = clock

    async def begin_by_token(self, token: str, *, why: Why) -> NewSession:
        """Sign in with a token; the session has its scope, and ends when the token does."""
        principal = (await self._access.by_token(token)).principal
        return await self._begin(principal, why, method="token")

    async def begin_for(self, person: Person, *, why: Why) -> NewSession:
        """Sign in a person whom an identity provider vouches for."""
        if person.disabled_at is not None:
            raise NotAllowedError("You are shut out of this yard.", hint="Ask an administrator to let you in again.")
        return await self._begin(await self._access.of_person(person), why, method="oidc")

    async def admit(self, secret: str) -> Admission:
        """Who a session speaks for, now; an unknown or ended one is refused without saying which."""
        return (await self._admitted(secret))[1]

    async def use(self, secret: str) -> Admission:
        """The same for a request, which lets the session go on."""
        found, admission = await self._admitted(secret)
        now = self._clock()
        if now - found.used_at > _NOTED_EVERY:
            async with self._database.write() as transaction:
                row = update(SessionRow).where(SessionRow.id == found.id).values(used_at=now)
                await transaction.session.execute(row)
        return admission

    async def end(self, secret: str, *, why: Why) -> None:
        """Sign out; ending what is over changes nothing."""
        async with self._database.write() as transaction:
            found = await _find(transaction.session, hash_of(secret))
            if found is None or found.revoked:
                return
            row = update(SessionRow).where(SessionRow.id == found.id).values(revoked_at=self._clock())
            await transaction.session.execute(row)
            actor = Actor(tenant_id=found.person.tenant_id, name=found.person.name, id=found.person.id)
            change = Change(action="session.ended", subject=_subject(found.id, found.person.id, found.person.name))
            self._history.record(transaction, actor, change, why)

    async def _begin(self, principal: Principal, why: Why, *, method: str) -> NewSession:
        secret = secrets.token_urlsafe(_RANDOM_BYTES)
        now = self._clock()
        proof = _proof(secret, self._admin_hash) if principal.operator and self._admin_hash else None
        row = SessionRow(
            id=new_id(),
            hash=hash_of(secret),
            person_id=principal.person_id,
            token_id=principal.token_id,
            operator_proof=proof,
            scope=principal.scope,
            created_at=now,
            used_at=now,
            expires_at=now + LONGEST,
            revoked_at=None,
        )
        async with self._database.write() as transaction:
            over = or_(SessionRow.expires_at < now, SessionRow.used_at < now - IDLE)
            await transaction.session.execute(delete(SessionRow).where(over))
            transaction.session.add(row)
            after = {"method": method, "scope": principal.scope.value, "token_id": principal.token_id}
            subject = _subject(row.id, principal.person_id, principal.name)
            change = Change(action="session.begun", subject=subject, after=after)
            self._history.record(transaction, principal.actor, change, why)
        return NewSession(principal=principal, secret=secret)

    async def _admitted(self, secret: str) -> tuple[_Found, Admission]:
        async with self._database.read() as session:
            found = await _find(session, hash_of(secret))
            if found is None or not self._good(found):
                raise _refusal()
            principal = await principal_of(session, found.person, scope=found.scope, token_id=found.token_id)
        if found.operator_proof is not None:
            principal = await self._operator(secret, found.operator_proof)
        return found, Admission(principal=principal, until=found.until)

    async def _operator(self, secret: str, proof: str) -> Principal:
        if self._admin_hash is None or not hmac.compare_digest(_proof(secret, self._admin_hash), proof):
            raise _refusal()
        return await self._access.operator()

    def _good(self, found: _Found) -> bool:
        ended = found.revoked or found.token_revoked or found.person.disabled_at is not None
        # The operator is who has the token, whatever became of the person that bears their name.
        if found.operator_proof is not None:
            ended = found.revoked
        return not ended and self._clock() < found.until


async def _find(session: AsyncSession, key: str) -> _Found | None:
    query = (
        select(SessionRow, PersonRow, TokenRow)
        .join(PersonRow, PersonRow.id == SessionRow.person_id)
        .outerjoin(TokenRow, TokenRow.id == SessionRow.token_id)
        .where(SessionRow.hash == key)
    )
    found = (await session.execute(query)).one_or_none()
    return _found(found[0], person_of(found[1]), found[2]) if found else None


def _found(row: SessionRow, person: Person, token: TokenRow | None) -> _Found:
    scope = Scope(row.scope)
    return _Found(
        id=row.id,
        person=person,
        scope=min(scope, Scope(token.scope), key=lambda one: one.rank) if token else scope,
        token_id=row.token_id,
        token_expires_at=token.expires_at if token else None,
        token_revoked=token is not None and token.revoked_at is not None,
        operator_proof=row.operator_proof,
        used_at=row.used_at,
        expires_at=row.expires_at,
        revoked=row.revoked_at is not None,
    )


def _subject(session_id: str, person_id: str, name: str) -> Subject:
    return Subject(kind="session", id=session_id, label=name, audience=person_audience(person_id))


def _proof(secret: str, admin_hash: str) -> str:
    """Shows, to who has the secret, which token the operator signed in with; to a reader of the table, nothing."""
    return hmac.new(secret.encode(), admin_hash.encode(), hashlib.sha256).hexdigest()


def _refusal() -> UnauthenticatedError:
    return UnauthenticatedError("You are not signed in, or no longer.", hint="Sign in again: /sign-in")
