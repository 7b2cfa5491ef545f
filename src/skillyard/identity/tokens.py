"""API tokens: made once, shown once, kept as a hash."""

import hashlib
import secrets
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.clock import Clock, utc_now
from skillyard.db.base import new_id
from skillyard.db.database import Database
from skillyard.errors import InputError, NotFoundError, UnauthenticatedError
from skillyard.history.entries import Change, Why
from skillyard.history.service import History
from skillyard.identity.directory import NewToken, Token
from skillyard.identity.models import TokenRow
from skillyard.identity.people import actor_in
from skillyard.identity.principals import Principal, Scope
from skillyard.identity.store import any_token, person_named, token_with_id, tokens_made_with, tokens_of

PREFIX: Final = "sky_"
"""By which a token is known wherever it leaks."""
_RANDOM_BYTES: Final = 32
_MAX_LABEL: Final = 200
_LONGEST: Final = timedelta(days=3650)


class Tokens:
    """A person's tokens; an administrator sees and ends everyone's."""

    def __init__(self, database: Database, history: History, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._history = history
        self._clock = clock

    async def create(
        self,
        principal: Principal,
        *,
        label: str,
        scope: Scope = Scope.READ,
        expires_in: timedelta | None = None,
        person: str | None = None,
        tenant: str | None = None,
        why: Why,
    ) -> NewToken:
        """Make a token for oneself or, as an administrator, for another person; the operator may name their tenant.

        One that is made with a token ends no later than that.
        """
        principal.require_scope(Scope.ADMIN)
        _check(label, expires_in)
        if tenant is not None or person not in {None, principal.name}:
            principal.require_admin()
        secret = PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)
        now = self._clock()
        async with self._database.write() as transaction:
            actor = await actor_in(transaction.session, principal, tenant)
            owner = await person_named(transaction.session, actor.tenant_id, person or principal.name)
            if owner is None:
                raise NotFoundError(f"There is no person {person!r}.", details={"field": "person", "value": person})
            expires_at = await self._end(transaction.session, principal, now + expires_in if expires_in else None)
            token = Token(
                id=new_id(),
                person_id=owner.id,
                person=owner.name,
                tenant_id=owner.tenant_id,
                label=label,
                scope=scope,
                created_at=now,
                expires_at=expires_at,
                last_used_at=None,
                revoked_at=None,
                parent_id=principal.token_id,
            )
            transaction.session.add(
                TokenRow(
                    id=token.id,
                    person_id=owner.id,
                    label=label,
                    hash=hash_of(secret),
                    scope=scope,
                    created_at=now,
                    expires_at=expires_at,
                    last_used_at=None,
                    revoked_at=None,
                    parent_id=principal.token_id,
                )
            )
            after = {"label": label, "scope": scope.value, "person": owner.name, "parent_id": principal.token_id}
            change = Change(action="token.created", subject=token.subject, after=after)
            self._history.record(transaction, actor, change, why)
        return NewToken(token=token, secret=secret)

    async def any(self) -> bool:
        """Whether anyone could come in with a token."""
        async with self._database.read() as session:
            return await any_token(session, at=self._clock())

    async def listing(self, principal: Principal, *, everyone: bool = False) -> list[Token]:
        if everyone:
            principal.require_admin()
        async with self._database.read() as session:
            return await tokens_of(session, principal.tenant_id, None if everyone else principal.person_id)

    async def revoke(self, principal: Principal, token_id: str, *, keep_made: bool = False, why: Why) -> Token:
        """End a token, at once and for good, and unless they are kept all that were made with it.

        Ending what has ended changes nothing.
        """
        principal.require_scope(Scope.ADMIN)
        async with self._database.write() as transaction:
            token = await token_with_id(transaction.session, principal.tenant_id, token_id)
            if token is None or not (principal.admin or token.person_id == principal.person_id):
                raise NotFoundError(
                    f"There is no token {token_id!r}.", hint="List yours: skillyard registry tokens list"
                )
            made = [] if keep_made else await tokens_made_with(transaction.session, token.id)
            now = self._clock()
            for one in (token, *made):
                if one.revoked_at is None:
                    row = update(TokenRow).where(TokenRow.id == one.id).values(revoked_at=now)
                    await transaction.session.execute(row)
                    change = Change(action="token.revoked", subject=one.subject, before={"scope": one.scope.value})
                    self._history.record(transaction, principal.actor, change, why)
            return replace(token, revoked_at=token.revoked_at or now)

    async def _end(self, session: AsyncSession, principal: Principal, asked: datetime | None) -> datetime | None:
        """When a new token ends: as asked for, or with the one that it is made with."""
        parent = await session.get(TokenRow, principal.token_id) if principal.token_id else None
        if parent is not None and parent.revoked_at is not None:
            raise UnauthenticatedError("The token that this was to be made with has ended.")
        latest = parent and parent.expires_at
        if asked is not None and latest is not None and asked > latest:
            raise InputError(
                f"A token cannot outlast the one it is made with, which ends at {latest:%Y-%m-%d %H:%M} UTC.",
                hint="Give fewer days, or none: then it ends at the same time.",
                details={"field": "expires_in", "limit": latest.isoformat()},
            )
        return asked or latest


def hash_of(secret: str) -> str:
    """What is kept of a token. It is random and long, so one round of a plain hash is enough."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _check(label: str, expires_in: timedelta | None) -> None:
    if not label.strip() or len(label) > _MAX_LABEL:
        raise InputError(
            "A token needs a label.",
            hint=f"Say in 1 to {_MAX_LABEL} characters what it is for, such as 'ci'.",
            details={"field": "label", "value": label[:_MAX_LABEL], "limit": _MAX_LABEL},
        )
    if expires_in is not None and not timedelta() < expires_in <= _LONGEST:
        raise InputError(
            "A token's life must be more than nothing and at most ten years.",
            hint="Give a number of days from 1 to 3650, or none at all.",
            details={"field": "expires_in", "value": str(expires_in)},
        )
