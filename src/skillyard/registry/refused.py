"""Letting go of content that was refused: the history goes on telling of it, without its files."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import timedelta
from typing import Final, TypeAlias

from sqlalchemy import ColumnElement, delete, or_, select, union
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.history.entries import Outcome
from skillyard.history.models import EntryRow
from skillyard.registry.models import BundleFileRow, BundleRow, SkillRow, VersionRow

_BATCH: Final = 500

Namer: TypeAlias = Callable[[AsyncSession, Collection[str]], Awaitable[set[str]]]
"""Tells which of some bundles a room beyond the registry still names."""


class RefusedContent:
    """Keeps what was sent in attempts that were refused for a while, and what else names it for good."""

    def __init__(
        self, database: Database, *, keep: timedelta, namers: Sequence[Namer] = (), clock: Clock = utc_now
    ) -> None:
        self._database = database
        self._keep = keep
        self._namers = namers
        self._clock = clock

    async def sweep(self) -> int:
        """Let go of what was last refused so long ago; its blobs go with the next sweep of orphans."""
        gone = 0
        while dropped := await self._drop():
            gone += dropped
        return gone

    async def _drop(self) -> int:
        old = EntryRow.at <= self._clock() - self._keep
        # Looked for first beside those who write: reading the history takes a while.
        async with self._database.read() as session:
            if not await _dispensable(session, old):
                return 0
        async with self._database.write(bookkeeping=True) as transaction:
            session = transaction.session
            digests = await _dispensable(session, old)
            for named in self._namers:
                digests -= await named(session, digests)
            await session.execute(delete(BundleFileRow).where(BundleFileRow.digest.in_(digests)))
            await session.execute(delete(BundleRow).where(BundleRow.digest.in_(digests)))
        return len(digests)


async def _dispensable(session: AsyncSession, old: ColumnElement[bool]) -> set[str]:
    """Some of the bundles that only attempts name which were refused that long ago."""
    refused = EntryRow.outcome == Outcome.REFUSED
    named = union(
        select(SkillRow.digest),
        select(VersionRow.digest),
        select(EntryRow.digest_after).where(or_(~refused, ~old), EntryRow.digest_after.is_not(None)),
        # What a change began from is what undoing it leads back to.
        select(EntryRow.digest_before).where(EntryRow.digest_before.is_not(None)),
    )
    sent = select(EntryRow.digest_after).where(refused, old)
    query = select(BundleRow.digest).where(BundleRow.digest.in_(sent), BundleRow.digest.not_in(named))
    return set(await session.scalars(query.limit(_BATCH)))
