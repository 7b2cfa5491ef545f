"""Collecting the blobs that no row names, and never one that a row is about to name.

A blob passes through three states, each in a write of its own: *condemned* once it is old and nothing names it,
*deleting* when that is still so a grace later, *deleted* when its bytes are gone. `claims` is the other side.
"""

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from sqlalchemy import and_, delete, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.blobs.bounded import bounded
from skillyard.blobs.claims import LEASE
from skillyard.blobs.models import CONDEMNED, DELETED, DELETING, CondemnedBlobRow
from skillyard.blobs.store import Blobs
from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database

Referrer: TypeAlias = Callable[[AsyncSession, Collection[str]], Awaitable[set[str]]]
"""Answers which of some blobs the rows of a room name."""

GRACE: Final = timedelta(hours=1)
"""Longer than any request: what was put, read or removed within it may still matter to one under way."""
_HURRY: Final = LEASE / 10
_BATCH: Final = 500


@dataclass(frozen=True, kw_only=True)
class Swept:
    """What one sweep did, in numbers of blobs."""

    condemned: int
    rescued: int
    deleted: int


class Orphans:
    """The collector. Several processes may sweep at once, and any of them may be killed."""

    def __init__(
        self,
        database: Database,
        blobs: Blobs,
        referrers: Sequence[Referrer],
        *,
        clock: Clock = utc_now,
        grace: timedelta = GRACE,
    ) -> None:
        if not referrers:
            raise ValueError("Without a referrer every blob is an orphan: give those of all rooms that name blobs")
        self._database = database
        self._blobs = blobs
        self._referrers = tuple(referrers)
        self._clock = clock
        self._grace = grace

    async def sweep(self) -> Swept:
        """Delete those whose time has come, condemn those that nothing names now."""
        await self._blobs.tidy(self._clock() - self._grace)
        rescued = deleted = 0
        while due := await self._mark():
            rescued += due.rescued
            deleted += await self._delete(due)
        return Swept(condemned=await self._condemn(), rescued=rescued, deleted=deleted)

    async def _mark(self) -> "_Due | None":
        """Take a batch of those to delete now; what another sweep left unfinished is taken over."""
        async with self._database.write() as transaction:
            session, now = transaction.session, self._clock()
            row = CondemnedBlobRow
            await session.execute(delete(row).where(row.state == DELETED, row.at <= now - self._grace))
            waited = and_(row.state == CONDEMNED, row.at <= now - self._grace)
            unfinished = and_(row.state == DELETING, row.at <= now - LEASE)
            hashes = (await session.scalars(select(row.sha256).where(or_(waited, unfinished)).limit(_BATCH))).all()
            if not hashes:
                return None
            named = await self._named(session, hashes)
            doomed = [sha256 for sha256 in hashes if sha256 not in named]
            await session.execute(delete(row).where(row.sha256.in_(named)))
            await session.execute(update(row).where(row.sha256.in_(doomed)).values(state=DELETING, at=now))
        return _Due(hashes=doomed, at=now, rescued=len(named))

    async def _delete(self, due: "_Due") -> int:
        """Remove the bytes, and note that they are gone: someone may have seen them a moment ago."""

        async def remove(sha256: str) -> str | None:
            # A process that stood still may find that its time is over, and the blob put again and named.
            if self._clock() - due.at > _HURRY:
                return None
            await self._blobs.delete(sha256)
            return sha256

        removed = [sha256 for sha256 in await bounded(remove, due.hashes) if sha256 is not None]
        row = CondemnedBlobRow
        mine = and_(row.sha256.in_(removed), row.state == DELETING, row.at == due.at)
        async with self._database.write() as transaction:
            await transaction.session.execute(update(row).where(mine).values(state=DELETED, at=self._clock()))
        return len(removed)

    async def _condemn(self) -> int:
        condemned = 0
        batch: list[str] = []
        async for sha256 in self._blobs.list(self._clock() - self._grace):
            batch.append(sha256)
            if len(batch) == _BATCH:
                condemned += await self._condemn_batch(batch)
                batch = []
        return condemned + await self._condemn_batch(batch)

    async def _condemn_batch(self, hashes: Sequence[str]) -> int:
        async with self._database.read() as session:
            suspects = await self._unnamed(session, hashes)
        if not suspects:
            return 0
        async with self._database.write() as transaction:
            now = self._clock()
            orphans = await self._unnamed(transaction.session, suspects)
            transaction.session.add_all(CondemnedBlobRow(sha256=sha256, state=CONDEMNED, at=now) for sha256 in orphans)
        return len(orphans)

    async def _unnamed(self, session: AsyncSession, hashes: Collection[str]) -> set[str]:
        """Those that no row names, ours included."""
        ours = select(CondemnedBlobRow.sha256).where(CondemnedBlobRow.sha256.in_(hashes))
        return set(hashes) - set(await session.scalars(ours)) - await self._named(session, hashes)

    async def _named(self, session: AsyncSession, hashes: Collection[str]) -> set[str]:
        named: set[str] = set()
        for referrer in self._referrers:
            named |= await referrer(session, hashes)
        return named


@dataclass(frozen=True, kw_only=True)
class _Due:
    hashes: list[str]
    at: datetime
    rescued: int
