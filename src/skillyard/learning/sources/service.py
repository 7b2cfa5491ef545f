"""The sources of a tenant: made, changed and looked at by whoever runs the yard, since the server itself reads them."""

import logging
from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.db.transaction import Transaction
from skillyard.errors import ConflictError, NotAllowedError, NotFoundError
from skillyard.history.entries import Change, Why
from skillyard.history.service import History
from skillyard.identity.principals import Principal, Scope
from skillyard.learning.ids import new_id
from skillyard.learning.intake import Intake
from skillyard.learning.models import FeedbackSourceRow
from skillyard.learning.sources.dead_letters import DeadLetter, buried, forget
from skillyard.learning.sources.polling import Polled, Polling, reader_of
from skillyard.learning.sources.source import (
    FeedbackSource,
    SourceKind,
    require_name,
    require_seconds,
    source_of,
)

CREATED: Final = "feedback_source.created"
UPDATED: Final = "feedback_source.updated"
DELETED: Final = "feedback_source.deleted"
_log = logging.getLogger(__name__)


class FeedbackSources:
    """Only for whoever runs the yard: a source is read from where the server stands, with what it may reach."""

    def __init__(self, database: Database, history: History, intake: Intake, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._history = history
        self._polling = Polling(database, intake, clock=clock)
        self._clock = clock

    async def all(self, principal: Principal) -> list[FeedbackSource]:
        """By name."""
        _require_operator(principal)
        query = select(FeedbackSourceRow).where(FeedbackSourceRow.tenant_id == principal.tenant_id)
        async with self._database.read() as session:
            return [source_of(row) for row in await session.scalars(query.order_by(FeedbackSourceRow.name))]

    async def get(self, principal: Principal, source_id: str) -> FeedbackSource:
        _require_operator(principal)
        async with self._database.read() as session:
            return source_of(await _row(session, principal, source_id))

    async def create(
        self,
        principal: Principal,
        *,
        name: str,
        kind: SourceKind,
        place: Mapping[str, Any],
        every_seconds: int,
        why: Why,
    ) -> FeedbackSource:
        """A source that is read from now on; what it gives is taken in in the name of who made it."""
        _require_operator(principal)
        require_name(name)
        require_seconds(every_seconds)
        reader_of(kind, place)
        now = self._clock()
        async with self._database.write() as transaction:
            await _require_free(transaction.session, principal, name)
            row = FeedbackSourceRow(
                id=new_id("src"),
                tenant_id=principal.tenant_id,
                owner_id=principal.person_id,
                name=name,
                kind=kind.value,
                place=dict(place),
                every_seconds=every_seconds,
                cursor={},
                worker=None,
                leased_until=None,
                due_at=now,
                failures=0,
                error="",
                enabled=True,
                created_at=now,
            )
            transaction.session.add(row)
            source = source_of(row)
            self._record(
                transaction, principal, Change(action=CREATED, subject=source.subject, after=source.state), why
            )
        return source

    async def change(
        self, principal: Principal, source_id: str, fields: Mapping[str, Any], *, why: Why
    ) -> FeedbackSource:
        """Set `name`, `place`, `every_seconds` or `enabled`. Another place is read from its beginning."""
        _require_operator(principal)
        async with self._database.write() as transaction:
            row = await _row(transaction.session, principal, source_id)
            before = source_of(row)
            if "name" in fields and fields["name"] != row.name:
                require_name(fields["name"])
                await _require_free(transaction.session, principal, fields["name"])
            require_seconds(fields.get("every_seconds", row.every_seconds))
            if "place" in fields and fields["place"] != row.place:
                reader_of(before.kind, fields["place"])
                row.cursor = {}
            for name, value in fields.items():
                setattr(row, name, value)
            row.due_at, row.failures, row.error = self._clock(), 0, ""
            row.worker = row.leased_until = None  # whoever reads it now reads what it was
            source = source_of(row)
            if source.state != before.state:
                change = Change(action=UPDATED, subject=source.subject, before=before.state, after=source.state)
                self._record(transaction, principal, change, why)
        return source

    async def delete(self, principal: Principal, source_id: str, *, why: Why) -> None:
        """Read it no more. What it gave stays; its dead letters go with it."""
        _require_operator(principal)
        async with self._database.write() as transaction:
            row = await _row(transaction.session, principal, source_id)
            source = source_of(row)
            await forget(transaction, source_id)
            await transaction.session.delete(row)
            self._record(
                transaction, principal, Change(action=DELETED, subject=source.subject, before=source.state), why
            )

    async def dead_letters(
        self, principal: Principal, source_id: str, *, limit: int = 50, offset: int = 0
    ) -> tuple[list[DeadLetter], int]:
        """What could not be taken in, the newest first, and how much that is."""
        await self.get(principal, source_id)
        async with self._database.read() as session:
            return await buried(session, source_id, limit, offset)

    async def forget_dead_letters(self, principal: Principal, source_id: str) -> int:
        """Delete them; how many there were."""
        await self.get(principal, source_id)
        async with self._database.write() as transaction:
            transaction.once = True
            return await forget(transaction, source_id)

    async def poll(self, principal: Principal, source_id: str) -> Polled:
        """Look now."""
        await self.get(principal, source_id)
        polled = await self._polling.poll(source_id)
        if polled is None:
            raise ConflictError("The source is being read at this moment.", hint="Look again in a while.")
        return polled

    async def poll_due(self) -> None:
        """Read every source whose time has come; one that fails keeps no other from being read."""
        for source_id in await self._polling.due():
            try:
                await self._polling.poll(source_id)
            except Exception:  # noqa: BLE001 -- the source tells of it
                _log.warning("The source %s could not be read; it is tried again later.", source_id, exc_info=True)

    def _record(self, transaction: Transaction, principal: Principal, change: Change, why: Why) -> None:
        self._history.record(transaction, principal.actor, change, why)


def _require_operator(principal: Principal) -> None:
    principal.require_scope(Scope.ADMIN)
    if not principal.operator:
        raise NotAllowedError(
            "Only whoever runs the yard may have feedback polled.",
            hint="Send feedback instead: POST /api/v1/feedback",
        )


async def _row(session: AsyncSession, principal: Principal, source_id: str) -> FeedbackSourceRow:
    row = await session.get(FeedbackSourceRow, source_id)
    if row is None or row.tenant_id != principal.tenant_id:
        raise NotFoundError(
            f"There is no source {source_id[:64]!r}.",
            hint="List them: GET /api/v1/feedback-sources",
            details={"source": source_id[:64]},
        )
    return row


async def _require_free(session: AsyncSession, principal: Principal, name: str) -> None:
    row = FeedbackSourceRow
    query = select(row.id).where(row.tenant_id == principal.tenant_id, row.name == name)
    if await session.scalar(query) is not None:
        raise ConflictError(
            f"There is a source called {name!r} already.",
            hint="Choose another name.",
            details={"field": "name", "value": name},
        )
