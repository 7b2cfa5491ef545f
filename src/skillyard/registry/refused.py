"""Letting go of content that was refused, or that nothing came of: what is told of it goes on without its files."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from sqlalchemy import delete, or_, select, union
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
    """Keeps what was sent in attempts that were refused, and drafts that nothing came of, for a while; what something
    else names is kept for good.
    """

    def __init__(
        self, database: Database, *, keep: timedelta, namers: Sequence[Namer] = (), clock: Clock = utc_now
    ) -> None:
        self._database = database
        self._keep = keep
        self._namers = namers
        self._clock = clock

    async def sweep(self) -> int:
        """Let go of what was last refused, or kept, so long ago; its blobs go with the next sweep of orphans."""
        gone, after, before = 0, "", self._clock() - self._keep
        while True:
            # Looked for first beside those who write: reading the history takes a while.
            async with self._database.read() as session:
                found = await _dispensable(session, before, after)
            if not found:
                return gone
            async with self._database.write(bookkeeping=True) as transaction:
                gone += await self._drop(transaction.session, before, after)
            after = found[-1]

    async def _drop(self, session: AsyncSession, before: datetime, after: str) -> int:
        digests = set(await _dispensable(session, before, after))
        for named in self._namers:
            digests -= await named(session, digests)
        await session.execute(delete(BundleFileRow).where(BundleFileRow.digest.in_(digests)))
        await session.execute(delete(BundleRow).where(BundleRow.digest.in_(digests)))
        return len(digests)


async def _dispensable(session: AsyncSession, before: datetime, after: str) -> list[str]:
    """Some of the bundles from that long ago that nothing of the registry names but attempts that were refused then."""
    refused, old = EntryRow.outcome == Outcome.REFUSED, EntryRow.at <= before
    named = union(
        select(SkillRow.digest),
        select(VersionRow.digest),
        select(EntryRow.digest_after).where(or_(~refused, ~old), EntryRow.digest_after.is_not(None)),
        # What a change began from is what undoing it leads back to.
        select(EntryRow.digest_before).where(EntryRow.digest_before.is_not(None)),
    )
    sent = select(EntryRow.digest_after).where(refused, old)
    query = select(BundleRow.digest).where(
        BundleRow.digest > after,
        or_(BundleRow.digest.in_(sent), BundleRow.created_at <= before),
        BundleRow.digest.not_in(named),
    )
    return list(await session.scalars(query.order_by(BundleRow.digest).limit(_BATCH)))
