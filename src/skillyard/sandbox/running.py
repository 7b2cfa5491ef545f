"""The sandboxes that run in this process: started when they are first needed, ended when their time is over."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Protocol, TypeAlias

from sqlalchemy import select

from skillyard.cancellation import to_the_end
from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.errors import SandboxFaultError, SandboxNotReadyError, SkillyardError
from skillyard.sandbox.backend import Backend
from skillyard.sandbox.capabilities import Barrier
from skillyard.sandbox.capture.known_secrets import KnownSecrets
from skillyard.sandbox.cargo_homes import CargoHomes
from skillyard.sandbox.hosts import Host
from skillyard.sandbox.ids import new_id
from skillyard.sandbox.models import SandboxRow
from skillyard.sandbox.network import NONE, parse_network
from skillyard.sandbox.place import Limits, Place
from skillyard.sandbox.sandboxes import Sandbox, State, barriers_named, expired, no_sandbox, sandbox_of
from skillyard.sandbox.session import Session
from skillyard.sandbox.store import RELEASED, claim, sandbox_row, set_held

HOOK_SECONDS: Final = 15.0
"""How long all that is done with a start may take."""
_CLOSE_SECONDS: Final = 20.0
_RETRY_AFTER: Final = 2
_NOTED_FOR: Final = timedelta(seconds=1)
_log = logging.getLogger(__name__)


class Choosing(Protocol):
    """Whatever decides how a sandbox is isolated; it fails closed, with the reason and the fix."""

    async def choose(self, requested: str | None, required: Collection[Barrier]) -> Backend: ...


OnRunning: TypeAlias = Callable[[Sandbox, Session], Awaitable[None]]
"""Done before a sandbox that was started is used. It is given some time; a failure is noted and stops nothing."""


@dataclass(kw_only=True)
class Held:
    """A sandbox that runs here, in one of its lives."""

    sandbox_id: str
    session_id: str
    session: Session
    active_at: datetime
    """When it was last used."""
    noted_at: datetime
    """When that was last written down."""
    users: int = 0
    """Calls under way: it is not idle then."""
    secrets: KnownSecrets = field(default_factory=KnownSecrets)
    """What was seen to be secret in it, so that nothing of it is kept of a later run."""

    def takes_note(self, now: datetime) -> bool:
        """Whether its use is to be written down now: doing so with every call would cost more than the call."""
        due = now - self.noted_at >= _NOTED_FOR
        if due:
            self.noted_at = now
        return due


OnUse: TypeAlias = Callable[[Held], Awaitable[None]]
"""Called before each use of a running sandbox; it must not fail."""


@dataclass(kw_only=True)
class _Turn:
    """What those who start or end one sandbox wait for."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    wanted: int = 0


class Running:
    """Starts sandboxes, one start at a time for each, and knows those that this process holds."""

    def __init__(
        self,
        database: Database,
        backends: Choosing,
        host: Host,
        *,
        clock: Clock = utc_now,
        hook_seconds: float = HOOK_SECONDS,
    ) -> None:
        self.host = host
        self.hooks: list[OnRunning] = []
        self.checks: list[OnUse] = []
        self._database = database
        self._backends = backends
        self._clock = clock
        self._hook_seconds = hook_seconds
        self._held: dict[str, Held] = {}
        self._turns: dict[str, _Turn] = {}
        self._used: dict[str, Backend] = {}
        self.homes = CargoHomes(database, self.backend)
        host.lapsed = self._drop_lost

    async def backend(self, requested: str | None, required: Collection[Barrier] = ()) -> Backend:
        found = await self._backends.choose(requested, required)
        self._used[found.name] = found
        return found

    @property
    def now(self) -> datetime:
        return self._clock()

    def here(self, sandbox_id: str) -> Held | None:
        """The sandbox if it runs in this process."""
        held = self._held.get(sandbox_id)
        return held if held is not None and held.session.alive else None

    @property
    def all(self) -> Sequence[Held]:
        return tuple(self._held.values())

    @contextlib.asynccontextmanager
    async def use(self, sandbox_id: str) -> AsyncGenerator[Held]:
        """The running sandbox, which is started if need be, for one call."""
        held = self.here(sandbox_id) or await self._ensure(sandbox_id)
        held.users += 1
        try:
            for check in self.checks:
                await check(held)
            yield held
        finally:
            held.users -= 1
            held.active_at = self._clock()

    async def stop(self, sandbox_id: str, *, unless_used: bool = False) -> bool:
        """End what runs here of a sandbox; its files stay. False: it was in use, and that was not to be ended."""
        async with self._lock(sandbox_id):
            held = self._held.get(sandbox_id)
            if held is None:
                return True
            if unless_used and held.users and held.session.alive:
                return False
            await self._end(held)
            return True

    async def close(self) -> None:
        """End everything that runs here, and be known as a holder no longer."""
        await asyncio.gather(*(self.stop(sandbox_id) for sandbox_id in list(self._held)), return_exceptions=True)
        await self.host.end()
        await asyncio.gather(*(backend.close() for backend in self._used.values()), return_exceptions=True)
        self._used.clear()

    @contextlib.asynccontextmanager
    async def _lock(self, sandbox_id: str) -> AsyncGenerator[None]:
        turn = self._turns.setdefault(sandbox_id, _Turn())
        turn.wanted += 1
        try:
            async with turn.lock:
                yield
        finally:
            turn.wanted -= 1
            if not turn.wanted:
                del self._turns[sandbox_id]

    async def _ensure(self, sandbox_id: str) -> Held:
        async with self._lock(sandbox_id):
            held = self._held.get(sandbox_id)
            if held is not None and held.session.alive:
                return held
            if held is not None:
                await self._end(held)
            row = await self._claimed(sandbox_id)
            try:
                return await self._started(row)
            except BaseException as error:
                # Also when the caller went away: nobody else would let go of it.
                await to_the_end(self._release(row, error if isinstance(error, Exception) else None))
                raise

    async def _claimed(self, sandbox_id: str) -> SandboxRow:
        async with self._database.read() as session:
            row = await sandbox_row(session, sandbox_id, owner=None)
        if row is None:
            raise no_sandbox(sandbox_id)
        now = self._clock()
        if row.expires_at is not None and row.expires_at <= now:
            raise expired(sandbox_id, row.expires_at)
        await self.homes.require(row.cargo_id)
        await self.host.begin()
        dead = await self.host.dead_among([row.holder])
        async with self._database.write(bookkeeping=True) as transaction:
            claimed = await claim(
                transaction, sandbox_id, holder=self.host.id, session_id=new_id("sess"), free_from=dead
            )
        if claimed is None:
            raise SandboxNotReadyError(
                f"The sandbox {sandbox_id} is in the hands of another server process.",
                hint=f"Ask that one (--server URL), or have it let go: skillyard sandbox stop {sandbox_id}",
                details={"sandbox_id": sandbox_id, "holder": row.holder, "retry_after": _RETRY_AFTER},
            )
        return claimed

    async def _started(self, row: SandboxRow) -> Held:
        backend = await self.backend(row.backend, barriers_named(row.isolation))
        await self.homes.claim(row.cargo_id)
        session = await self._start(backend, row)
        now = self._clock()
        held = Held(sandbox_id=row.id, session_id=str(row.session_id), session=session, active_at=now, noted_at=now)
        try:
            noted = await self._note_start(row)
            await self._run_hooks(noted, held)
        except BaseException:
            await to_the_end(_closed(session))
            raise
        self._held[row.id] = held
        return held

    async def _start(self, backend: Backend, row: SandboxRow) -> Session:
        try:
            return await backend.start(place_of(row))
        except SkillyardError as error:
            raise SandboxNotReadyError(
                f"The sandbox {row.id} could not be started: {error.message}",
                hint=error.hint,
                details={**error.details, "sandbox_id": row.id, "backend": backend.name},
            ) from error
        except Exception as error:
            _log.exception("The backend %s failed to start a sandbox.", backend.name)
            raise SandboxFaultError(
                f"The sandbox {row.id} could not be started: the backend {backend.name!r} failed.",
                hint="The server's log says why.",
                details={"sandbox_id": row.id, "backend": backend.name},
            ) from error

    async def _note_start(self, row: SandboxRow) -> Sandbox:
        now = self._clock()
        row.state, row.active_at, row.idle_expires_at = State.READY, now, idle_end(now, row.idle_ttl)
        values = {"state": row.state, "active_at": now, "idle_expires_at": row.idle_expires_at, "hook_error": None}
        async with self._database.write(bookkeeping=True) as transaction:
            if not await set_held(transaction, row.id, str(row.session_id), values):
                raise no_sandbox(row.id)
        return sandbox_of(row, now=now, dead=())

    async def _run_hooks(self, sandbox: Sandbox, held: Held) -> None:
        if not self.hooks:
            return
        problem: str | None = None
        try:
            async with asyncio.timeout(self._hook_seconds):
                for hook in self.hooks:
                    await hook(sandbox, held.session)
        except TimeoutError:
            problem = f"What is done with each start took longer than {self._hook_seconds:g} s."
        except Exception as error:  # noqa: BLE001 -- whatever it is, the sandbox can be used
            problem = error.message if isinstance(error, SkillyardError) else f"{type(error).__name__}: {error}"
        if problem is not None:
            _log.warning("sandbox.hook.failed %s: %s", sandbox.id, problem)
        await self.note(held, problem)

    async def note(self, held: Held, problem: str | None) -> None:
        """Record which part of the work that belongs to each start is not done now, if any."""
        values: dict[str, object] = {"hook_error": problem}
        if problem is None:
            values["skills_injected_at"] = self._clock()
        async with self._database.write(bookkeeping=True) as transaction:
            await set_held(transaction, held.sandbox_id, held.session_id, values)

    async def _end(self, held: Held) -> None:
        """Close first, then let go: a row that says too much is put right, a process without a row is not."""
        await _closed(held.session)
        if self._held.get(held.sandbox_id) is held:
            del self._held[held.sandbox_id]
        async with self._database.write(bookkeeping=True) as transaction:
            await set_held(transaction, held.sandbox_id, held.session_id, {"state": State.IDLE, **RELEASED})

    async def _drop_lost(self) -> None:
        """End what others have taken over, while this process was taken for dead."""
        async with self._database.read() as session:
            query = select(SandboxRow.session_id).where(SandboxRow.holder == self.host.id)
            lives = set(await session.scalars(query))
        for held in self.all:
            if held.session_id not in lives:
                await self.stop(held.sandbox_id)

    async def _release(self, row: SandboxRow, error: Exception | None) -> None:
        failure = {"state": State.IDLE}
        if error is not None:
            message = error.message if isinstance(error, SkillyardError) else type(error).__name__
            failure = {"state": State.FAILED, "error": message}
        async with self._database.write(bookkeeping=True) as transaction:
            await set_held(transaction, row.id, str(row.session_id), {**failure, **RELEASED})


def place_of(row: SandboxRow) -> Place:
    """What is to be started."""
    return Place(
        sandbox_id=row.id,
        cargo_id=row.cargo_id,
        limits=Limits(**row.limits),
        network=parse_network({"allow": row.network}) if row.network else NONE,
        labels=row.labels,
    )


def idle_end(now: datetime, idle_ttl: int) -> datetime | None:
    return now + timedelta(seconds=idle_ttl) if idle_ttl else None


async def _closed(session: Session) -> None:
    """End a session; one that cannot be ended in time is left to the backend, which ends all at last."""
    try:
        async with asyncio.timeout(_CLOSE_SECONDS):
            await session.close()
    except Exception:  # noqa: BLE001 -- also a broken one must be let go of
        _log.exception("A sandbox did not end as it should.")
