"""The sweep: what is over is taken away, whoever was in charge of it and however that ended."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from sqlalchemy import select, update

from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.db.transaction import UNSEEN
from skillyard.errors import InputError, SkillyardError
from skillyard.sandbox.cargo_ledger import CargoLedger
from skillyard.sandbox.models import SandboxRow
from skillyard.sandbox.running import Running
from skillyard.sandbox.sandboxes import State
from skillyard.sandbox.service import Sandboxes
from skillyard.sandbox.store import RELEASED

SWEEP_SECONDS: Final = 10.0
"""Between two sweeps of a server."""


@dataclass(frozen=True, kw_only=True)
class Swept:
    """What one task of a sweep did."""

    task: str
    cleaned: int = 0
    skipped: int = 0
    errors: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Sweeping:
    """A whole sweep."""

    tasks: Sequence[Swept]
    milliseconds: int


class Sweep:
    """Four tasks, each safe to repeat and to be killed in. One sweep runs at a time in a process."""

    def __init__(
        self,
        database: Database,
        sandboxes: Sandboxes,
        cargos: CargoLedger,
        running: Running,
        *,
        clock: Clock = utc_now,
    ) -> None:
        self._database = database
        self._sandboxes = sandboxes
        self._cargos = cargos
        self._running = running
        self._clock = clock
        self._turn = asyncio.Lock()
        self._tasks: Mapping[str, Callable[[], Awaitable[Swept]]] = {
            "idle_session": self.idle_sessions,
            "expired_sandbox": self.expired_sandboxes,
            "orphan_cargo": self.orphan_cargos,
            "orphan_container": self.orphan_places,
        }

    @property
    def tasks(self) -> Sequence[str]:
        return tuple(self._tasks)

    @property
    def is_running(self) -> bool:
        return self._turn.locked()

    async def run(self, tasks: Collection[str] | None = None) -> Sweeping:
        """Some of the tasks, or all; what goes wrong in one is told and stops none."""
        unknown = sorted(set(tasks or ()) - set(self._tasks))
        if unknown:
            raise InputError(
                f"There is no task {unknown[0]!r}.",
                hint=f"Use some of: {', '.join(self._tasks)}.",
                details={"field": "tasks", "value": unknown, "known": list(self._tasks)},
            )
        began = time.monotonic()
        async with self._turn:
            done = [await work() for name, work in self._tasks.items() if tasks is None or name in tasks]
        return Sweeping(tasks=done, milliseconds=round((time.monotonic() - began) * 1000))

    async def idle_sessions(self) -> Swept:
        """End what was idle for too long or was told to stop; let go of what dead processes held."""
        async with self._database.read() as session:
            rows = list(await session.scalars(select(SandboxRow).where(SandboxRow.holder.is_not(None))))
        mine = self._running.host.id
        dead = await self._running.host.dead_among([row.holder for row in rows])
        tally = _Tally("idle_session")
        for row in rows:
            if row.holder in dead:
                await tally.count(self._let_go(row))
            elif row.holder == mine and self._is_over(row):
                told = row.state == State.STOPPING or row.deleted_at is not None
                await tally.count(self._running.stop(row.id, unless_used=not told))
        await self._running.host.forget_dead()
        return tally.swept()

    async def expired_sandboxes(self) -> Swept:
        """Delete the sandboxes whose time is over."""
        over = select(SandboxRow.id).where(SandboxRow.expires_at <= self._clock(), SandboxRow.deleted_at.is_(None))
        async with self._database.read() as session:
            ids = list(await session.scalars(over))
        tally = _Tally("expired_sandbox")
        for sandbox_id in ids:
            await tally.count(self._sandboxes.expire(sandbox_id))
        return tally.swept()

    async def orphan_cargos(self) -> Swept:
        """Remove the files of deleted cargos."""
        tally = _Tally("orphan_cargo")
        for cargo_id in await self._cargos.leftover():
            await tally.count(self._cargos.remove_files(cargo_id))
        return tally.swept()

    async def orphan_places(self) -> Swept:
        """Have every backend end what no living process holds."""
        held = select(SandboxRow.id, SandboxRow.holder).where(SandboxRow.holder.is_not(None))
        async with self._database.read() as session:
            holders = dict(iter(await session.execute(held)))
            names = sorted(set(await session.scalars(select(SandboxRow.backend).distinct())))
        dead = await self._running.host.dead_among(holders.values())
        keep = {sandbox_id for sandbox_id, holder in holders.items() if holder not in dead}
        tally = _Tally("orphan_container")
        for name in names:
            await tally.count(self._sweep_backend(name, keep))
        return tally.swept(skipped=0)

    async def _sweep_backend(self, name: str, keep: Collection[str]) -> int:
        backend = await self._running.backend(name)
        return await backend.sweep(keep)

    def _is_over(self, row: SandboxRow) -> bool:
        held = self._running.here(row.id)
        if row.state == State.STARTING:
            return False
        if row.state == State.STOPPING or row.deleted_at is not None or held is None:
            return True
        if not row.idle_ttl:
            return False
        return max(row.active_at, held.active_at) + timedelta(seconds=row.idle_ttl) <= self._clock()

    async def _let_go(self, row: SandboxRow) -> bool:
        free = update(SandboxRow).where(SandboxRow.id == row.id, SandboxRow.holder == row.holder)
        async with self._database.write(bookkeeping=True) as transaction:
            statement = free.values(state=State.IDLE.value, **RELEASED)
            await transaction.session.execute(statement, execution_options=UNSEEN)
        return True


class _Tally:
    """Counts what a task does to one thing after the other."""

    def __init__(self, task: str) -> None:
        self._task = task
        self._cleaned = 0
        self._skipped = 0
        self._errors: list[str] = []

    async def count(self, work: Awaitable[bool | int]) -> None:
        try:
            done = int(await work)
        except SkillyardError as error:
            self._errors.append(error.message)
        except OSError as error:
            self._errors.append(str(error))
        else:
            self._cleaned += done
            self._skipped += not done

    def swept(self, *, skipped: int | None = None) -> Swept:
        left = self._skipped if skipped is None else skipped
        return Swept(task=self._task, cleaned=self._cleaned, skipped=left, errors=tuple(self._errors))
