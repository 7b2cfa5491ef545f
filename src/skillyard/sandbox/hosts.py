"""The server processes that hold sandboxes, and which of them are alive.

A process that ends by itself lets go of what it holds. One that is killed cannot: on the same home, the lock that it
held on a file of its own is free then; elsewhere, its beats stop. A copy of a home has its id, and the files in it are
not the same for long: of a home and its copies, one is used at a time.
"""

import asyncio
import contextlib
import logging
import os
from collections.abc import Awaitable, Callable, Collection
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from sqlalchemy import delete, select, update

from skillyard.cancellation import to_the_end
from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.db.transaction import UNSEEN
from skillyard.errors import ElsewhereError
from skillyard.file_lock import lock_now
from skillyard.sandbox.home_id import home_id
from skillyard.sandbox.ids import new_id
from skillyard.sandbox.models import CargoRow, SandboxHostRow, SandboxRow

LEASE: Final = timedelta(seconds=30)
"""After so long without a beat, a process elsewhere counts as dead."""
BEAT_SECONDS: Final = 8.0
_log = logging.getLogger(__name__)


class Host:
    """This process among those that hold sandboxes. Nobody knows of it before it holds one."""

    def __init__(self, database: Database, home: Path, *, clock: Clock = utc_now) -> None:
        self.id = new_id("host")
        self._database = database
        self._home = home
        self._folder = home / "hosts"
        self._clock = clock
        self._lock: int | None = None
        self._beating: asyncio.Task[None] | None = None
        self._beginning = asyncio.Lock()
        self.lapsed: Callable[[], Awaitable[None]] = _nothing
        """Called when this process was silent for longer than its lease."""

    async def begin(self) -> None:
        """Become known, once, and go on saying that this process lives."""
        await to_the_end(self._begin())  # half of it, left by a caller who goes away, could not be gone on with

    async def _begin(self) -> None:
        async with self._beginning:
            if self._beating is not None:
                return
            home = await asyncio.to_thread(home_id, self._home)
            await self._require_original(home)
            if self._lock is None:
                self._lock = await asyncio.to_thread(self._take_lock)
            await self._say_alive(home)
            self._beating = asyncio.create_task(self._beat())

    async def end(self) -> None:
        """Be known no longer; whatever was held is let go of before."""
        async with self._beginning:
            if self._lock is None:
                return
            if self._beating is not None:
                self._beating.cancel()
                await asyncio.gather(self._beating, return_exceptions=True)
                self._beating = None
            async with self._database.write(bookkeeping=True) as transaction:
                await transaction.session.execute(delete(SandboxHostRow).where(SandboxHostRow.id == self.id))
            await asyncio.to_thread(self._unlink, [self.id])
            os.close(self._lock)
            self._lock = None
            self.id = new_id("host")

    async def beat(self) -> None:
        """Say that this process lives. After a silence, others may have taken over what it held: that is looked at."""
        if not await self._is_still_known():
            await self._say_alive(await asyncio.to_thread(home_id, self._home))
            await self.lapsed()

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            try:
                await self.beat()
            except Exception:  # noqa: BLE001 -- the next beat may do better
                _log.exception("This process could not say that it lives.")

    async def _require_original(self, home: str) -> None:
        """Refuse to run on a copy of a home while the original is in use."""
        now = self._clock()
        query = select(SandboxHostRow.id).where(
            SandboxHostRow.home == home, SandboxHostRow.id != self.id, SandboxHostRow.alive_until > now
        )
        async with self._database.read() as session:
            alive = list(await session.scalars(query))
        if any([await asyncio.to_thread(self._is_locked, host_id) is None for host_id in alive]):
            raise ElsewhereError(
                f"A copy of the home {home} is in use by another server on this database.",
                hint="Stop that server, or give this one a home of its own (SKILLYARD_HOME) without the file home-id.",
                details={"home": home},
            )

    async def _say_alive(self, home: str) -> None:
        now = self._clock()
        row = SandboxHostRow(id=self.id, started_at=now, alive_until=now + LEASE, home=home)
        async with self._database.write(bookkeeping=True) as transaction:
            await transaction.session.merge(row)

    async def _is_still_known(self) -> bool:
        now = self._clock()
        until = now + LEASE
        mine = (SandboxHostRow.id == self.id) & (SandboxHostRow.alive_until > now)
        async with self._database.write(bookkeeping=True) as transaction:
            statement = update(SandboxHostRow).where(mine).values(alive_until=until).returning(SandboxHostRow.id)
            return await transaction.session.scalar(statement, execution_options=UNSEEN) is not None

    async def dead_among(self, ids: Collection[str | None]) -> frozenset[str]:
        """Those of some processes that are dead."""
        others = {host_id for host_id in ids if host_id is not None and host_id != self.id}
        if not others:
            return frozenset()
        async with self._database.read() as session:
            query = select(SandboxHostRow.id, SandboxHostRow.alive_until).where(SandboxHostRow.id.in_(others))
            until = dict(iter(await session.execute(query)))
        return await asyncio.to_thread(self._dead, others, until)

    async def forget_dead(self) -> int:
        """Remove what is known of dead processes that nothing is held by any more."""
        held = select(SandboxRow.holder).where(SandboxRow.holder.is_not(None))
        filling = select(CargoRow.maker).where(CargoRow.maker.is_not(None))
        async with self._database.read() as session:
            ids = list(
                await session.scalars(
                    select(SandboxHostRow.id).where(SandboxHostRow.id.not_in(held), SandboxHostRow.id.not_in(filling))
                )
            )
        dead = await self.dead_among(ids)
        if dead:
            async with self._database.write(bookkeeping=True) as transaction:
                await transaction.session.execute(delete(SandboxHostRow).where(SandboxHostRow.id.in_(dead)))
            await asyncio.to_thread(self._unlink, dead)
        return len(dead)

    def _dead(self, ids: Collection[str], until: dict[str, datetime]) -> frozenset[str]:
        now = self._clock()
        dead: set[str] = set()
        for host_id in ids:
            locked = self._is_locked(host_id)
            if locked is None:  # not on this home: only its beats tell
                locked = host_id in until and until[host_id] > now
            if not locked:
                dead.add(host_id)
        return frozenset(dead)

    def _is_locked(self, host_id: str) -> bool | None:
        """Whether a process holds its lock; None where there is no file of its own, or only a copy of it."""
        try:
            descriptor = os.open(self._file(host_id), os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            if os.pread(descriptor, 32, 0) not in {b"", _inode(descriptor)}:
                return None
            lock_now(descriptor)
        except OSError:
            return True
        else:
            return False
        finally:
            os.close(descriptor)

    def _take_lock(self) -> int:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(self._file(self.id), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        lock_now(descriptor)
        os.pwrite(descriptor, _inode(descriptor), 0)
        return descriptor

    def _unlink(self, ids: Collection[str]) -> None:
        for host_id in ids:
            with contextlib.suppress(OSError):
                self._file(host_id).unlink()

    def _file(self, host_id: str) -> Path:
        return self._folder / f"{host_id}.lock"


def _inode(descriptor: int) -> bytes:
    """The identity of a file, which a copy does not share."""
    return str(os.fstat(descriptor).st_ino).encode()


async def _nothing() -> None:
    """Nobody asked to be told."""
