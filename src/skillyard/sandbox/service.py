"""Sandboxes: made, found, kept alive, stopped and deleted, each by its owner."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.db.transaction import UNSEEN
from skillyard.errors import (
    ConflictError,
    InputError,
    NotAllowedError,
    QuotaError,
    SandboxEndlessError,
    SkillyardError,
)
from skillyard.identity.principals import Principal, Scope
from skillyard.sandbox.cargo_ledger import Cargo, CargoLedger, new_cargo, own_cargo
from skillyard.sandbox.cursors import cursor_of, read_cursor, require_page
from skillyard.sandbox.defaults import SandboxDefaults
from skillyard.sandbox.ids import new_id
from skillyard.sandbox.models import CargoRow, SandboxRow
from skillyard.sandbox.network import NetworkPolicy
from skillyard.sandbox.place import MIB
from skillyard.sandbox.profiles import limits_of, profile_named
from skillyard.sandbox.proxy.addresses import is_private
from skillyard.sandbox.running import OnRunning, Running, idle_end
from skillyard.sandbox.sandboxes import (
    MAX_SECONDS,
    Sandbox,
    SandboxSpec,
    State,
    Status,
    expired,
    no_sandbox,
    sandbox_of,
    status_of,
    stored_limits,
)
from skillyard.sandbox.session import Stats
from skillyard.sandbox.store import RELEASED, count_of, holders, sandbox_row, sandbox_rows, with_status

_Owner: TypeAlias = tuple[str, str]
_NOTHING: Final = Stats(processes=0, memory_bytes=0, disk_bytes=0, cpu_seconds=0.0)


@dataclass(frozen=True, kw_only=True)
class SandboxPage:
    sandboxes: Sequence[Sandbox]
    next: str | None


class Sandboxes:
    """The lives of sandboxes. Making one starts nothing: that is left to the first call that needs it."""

    def __init__(
        self,
        database: Database,
        running: Running,
        cargos: CargoLedger,
        *,
        defaults: SandboxDefaults | None = None,
        clock: Clock = utc_now,
    ) -> None:
        self.defaults = defaults or SandboxDefaults()
        self.foresee: Callable[[Sandbox], Awaitable[str | None]] = _nothing
        """Which part of the work that belongs to each start is already known to fail."""
        self._database = database
        self._running = running
        self._cargos = cargos
        self._clock = clock

    def on_running(self, hook: OnRunning) -> None:
        """Have something done with every start, before the sandbox is used."""
        self._running.hooks.append(hook)

    async def create(self, caller: Principal, spec: SandboxSpec) -> Sandbox:
        """Make a sandbox on a new cargo or on one of the caller's."""
        caller.require_scope(Scope.WRITE)
        self._require_reach(caller, spec.network)
        profile = profile_named(spec.profile)
        limits = limits_of(profile, dict(spec.limits), self.defaults.ceilings)
        requested = await self._requested_backend(caller, spec)
        backend = await self._running.backend(requested, spec.barriers)
        abilities = (await backend.capabilities()).abilities
        now = self._clock()
        ttl = self.defaults.ttl if spec.ttl is None else spec.ttl
        row = SandboxRow(
            id=new_id("sandbox"),
            tenant_id=caller.tenant_id,
            owner_id=caller.person_id,
            cargo_id=spec.cargo_id or "",
            profile=profile.id,
            backend=backend.name,
            capabilities=[ability.value for ability in profile.abilities if ability in abilities],
            isolation=[barrier.value for barrier in spec.barriers],
            network=[str(endpoint) for endpoint in spec.network.allow],
            limits=stored_limits(limits),
            labels=dict(spec.labels),
            created_at=now,
            expires_at=now + timedelta(seconds=ttl) if ttl else None,
            idle_ttl=self.defaults.idle_ttl if spec.idle_ttl is None else spec.idle_ttl,
            idle_expires_at=None,
            active_at=now,
            deleted_at=None,
            state=State.IDLE.value,
            holder=None,
            session_id=None,
            error=None,
            skills_injected_at=None,
            hook_error=None,
        )
        row.hook_error = await self.foresee(sandbox_of(row, now=now, dead=()))
        async with self._database.write() as transaction:
            transaction.once = True
            await self._require_room(transaction.session, caller, now)
            if spec.cargo_id is None:
                size = max(1, limits.disk_bytes // MIB) if "disk_bytes" in spec.limits else self._cargos.default_size_mb
                cargo = new_cargo(caller, backend=backend.name, size_limit_mb=size, now=now, managed_by=row.id)
                transaction.session.add(cargo)
                row.cargo_id = cargo.id
            else:
                cargo = await self._free_cargo(transaction.session, caller, spec.cargo_id, backend.name)
            if "disk_bytes" not in spec.limits:
                row.limits = {**row.limits, "disk_bytes": cargo.size_limit_mb * MIB}
            transaction.session.add(row)
        return sandbox_of(row, now=now, dead=())

    def _require_reach(self, caller: Principal, network: NetworkPolicy) -> None:
        private = [str(endpoint) for endpoint in network.allow if is_private(endpoint)]
        runs_the_yard = caller.operator and caller.scope.covers(Scope.ADMIN)
        if private and not self.defaults.private_network and not runs_the_yard:
            raise NotAllowedError(
                f"Sandboxes here may not reach this machine or its network: {', '.join(private)}",
                hint="List public addresses only, or ask whoever runs this yard to set 'sandbox_allow_private'.",
                details={"field": "network", "value": private},
            )

    async def get(self, caller: Principal, sandbox_id: str) -> Sandbox:
        """A sandbox of the caller's; another's is not there."""
        async with self._database.read() as session:
            row = await sandbox_row(session, sandbox_id, owner=_owner(caller))
        if row is None:
            raise no_sandbox(sandbox_id)
        host = self._running.host
        if row.holder == host.id:
            dead = frozenset[str]() if self._is_here(row) else frozenset({host.id})
        else:
            dead = await host.dead_among([row.holder])
        return self._told(row, now=self._clock(), dead=dead)

    async def page(
        self, caller: Principal, *, status: Status | None = None, limit: int = 50, cursor: str | None = None
    ) -> SandboxPage:
        """Some of the caller's sandboxes, the newest first."""
        require_page(limit)
        before = read_cursor(cursor)
        now = self._clock()
        async with self._database.read() as session:
            held_by = await holders(session)
        dead = await self._running.host.dead_among(held_by)
        only = None if status is None else with_status(status, now=now, dead=dead)
        async with self._database.read() as session:
            rows = await sandbox_rows(session, _owner(caller), only=only, before=before, limit=limit + 1)
        more = cursor_of(rows[limit - 1].created_at, rows[limit - 1].id) if len(rows) > limit else None
        return SandboxPage(sandboxes=[self._told(row, now=now, dead=dead) for row in rows[:limit]], next=more)

    async def extend(self, caller: Principal, sandbox_id: str, seconds: int) -> Sandbox:
        """Move the end of a sandbox. Writers take turns, so that of two who do so at once neither is lost."""
        caller.require_scope(Scope.WRITE)
        if not 1 <= seconds <= MAX_SECONDS:
            raise InputError(
                f"A sandbox cannot be given {seconds} seconds more.",
                hint=f"Use 1 to {MAX_SECONDS}.",
                details={"field": "extend_by", "value": seconds, "limit": MAX_SECONDS},
            )
        now = self._clock()
        async with self._database.write() as transaction:
            transaction.once = True
            row = await self._own(transaction.session, caller, sandbox_id)
            if row.expires_at is None:
                raise SandboxEndlessError(
                    f"The sandbox {sandbox_id} has no end that could be moved.",
                    hint="It lives until it is deleted.",
                    details={"sandbox_id": sandbox_id},
                )
            if row.expires_at <= now:
                raise expired(sandbox_id, row.expires_at)
            row.expires_at = min(row.expires_at + timedelta(seconds=seconds), now + timedelta(seconds=MAX_SECONDS))
        return await self.get(caller, sandbox_id)

    async def keep_alive(self, caller: Principal, sandbox_id: str) -> Sandbox:
        """Let a sandbox be idle for its whole time again; nothing is started, and its end does not move."""
        caller.require_scope(Scope.WRITE)
        now = self._clock()
        async with self._database.write() as transaction:
            row = await self._own(transaction.session, caller, sandbox_id)
            if status_of(row, now=now, dead=()) is Status.EXPIRED:
                raise expired(sandbox_id, row.expires_at)
            row.active_at = now
            if row.holder is not None:
                row.idle_expires_at = idle_end(now, row.idle_ttl)
        return await self.get(caller, sandbox_id)

    async def stop(self, caller: Principal, sandbox_id: str) -> Sandbox:
        """End what runs; files stay, and the next call starts it again. Doing so twice changes nothing."""
        caller.require_scope(Scope.WRITE)
        await self.get(caller, sandbox_id)
        await self._end(sandbox_id)
        return await self.get(caller, sandbox_id)

    async def delete(self, caller: Principal, sandbox_id: str) -> None:
        """Take a sandbox away, and its cargo if that was made with it."""
        caller.require_scope(Scope.WRITE)
        sandbox = await self.get(caller, sandbox_id)
        await self._running.homes.require(sandbox.cargo_id)
        async with self._database.write() as transaction:
            await self._own(transaction.session, caller, sandbox_id)
            transaction.once = True
            await self._mark_deleted(transaction.session, sandbox_id)
        await self.clear(sandbox_id)

    async def snapshot(self, caller: Principal, sandbox_id: str) -> Cargo:
        """A new cargo with the files that the sandbox has now."""
        sandbox = await self.get(caller, sandbox_id)
        sandbox.require_unexpired()
        return await self._cargos.copy(caller, sandbox.cargo_id)

    async def stats(self, caller: Principal, sandbox_id: str) -> Stats:
        """What a sandbox uses now; nothing, if it does not run here."""
        await self.get(caller, sandbox_id)
        held = self._running.here(sandbox_id)
        return _NOTHING if held is None else await held.session.stats()

    async def expire(self, sandbox_id: str) -> bool:
        """Take away a sandbox whose time is over; whether it still was so is looked at again."""
        async with self._database.write(bookkeeping=True) as transaction:
            row = await sandbox_row(transaction.session, sandbox_id, owner=None)
            if row is None or row.expires_at is None or row.expires_at > self._clock():
                return False
            await self._mark_deleted(transaction.session, sandbox_id)
        await self.clear(sandbox_id)
        return True

    async def clear(self, sandbox_id: str) -> None:
        """End and remove what a deleted sandbox left; what cannot be done now is left to the sweep."""
        await self._end(sandbox_id)
        async with self._database.read() as session:
            mine = select(CargoRow.id).where(CargoRow.managed_by == sandbox_id, CargoRow.deleted_at.is_not(None))
            cargos = list(await session.scalars(mine))
        for cargo_id in cargos:
            with suppress(SkillyardError):
                await self._cargos.remove_files(cargo_id)

    async def _end(self, sandbox_id: str) -> None:
        """End a sandbox here; whoever else holds it finds that it is to end, and a dead holder is let go of."""
        await self._running.stop(sandbox_id)
        async with self._database.read() as session:
            holder = await session.scalar(select(SandboxRow.holder).where(SandboxRow.id == sandbox_id))
        if holder is None:
            await self._set(sandbox_id, None, {"state": State.IDLE.value})
        elif holder == self._running.host.id or await self._running.host.dead_among([holder]):
            await self._set(sandbox_id, holder, {"state": State.IDLE.value, **RELEASED})
        else:
            await self._set(sandbox_id, holder, {"state": State.STOPPING.value})

    async def _set(self, sandbox_id: str, holder: str | None, values: Mapping[str, object]) -> None:
        same = SandboxRow.holder.is_(None) if holder is None else SandboxRow.holder == holder
        async with self._database.write(bookkeeping=True) as transaction:
            change = update(SandboxRow).where(SandboxRow.id == sandbox_id, same).values(**values)
            await transaction.session.execute(change, execution_options=UNSEEN)

    async def _mark_deleted(self, session: AsyncSession, sandbox_id: str) -> None:
        now = self._clock()
        for row, mine in ((SandboxRow, SandboxRow.id), (CargoRow, CargoRow.managed_by)):
            await session.execute(
                update(row).where(mine == sandbox_id, row.deleted_at.is_(None)).values(deleted_at=now),
                execution_options=UNSEEN,
            )

    def _told(self, row: SandboxRow, *, now: datetime, dead: Collection[str]) -> Sandbox:
        """A row as a value; of one that runs here, uses that are not written down yet count as well."""
        sandbox, held = sandbox_of(row, now=now, dead=dead), self._running.here(row.id)
        if held is None or sandbox.idle_expires_at is None or held.active_at <= row.active_at:
            return sandbox
        idle = idle_end(held.active_at, row.idle_ttl)
        return replace(sandbox, active_at=held.active_at, idle_expires_at=idle)

    def _is_here(self, row: SandboxRow) -> bool:
        return row.state == State.STARTING or self._running.here(row.id) is not None

    async def _own(self, session: AsyncSession, caller: Principal, sandbox_id: str) -> SandboxRow:
        row = await sandbox_row(session, sandbox_id, owner=_owner(caller))
        if row is None:
            raise no_sandbox(sandbox_id)
        return row

    async def _requested_backend(self, caller: Principal, spec: SandboxSpec) -> str | None:
        if spec.cargo_id is None:
            return spec.backend
        async with self._database.read() as session:
            cargo = await own_cargo(session, caller, spec.cargo_id)
        await self._running.homes.require(cargo.id)
        return spec.backend or cargo.backend

    async def _free_cargo(self, session: AsyncSession, caller: Principal, cargo_id: str, backend: str) -> CargoRow:
        cargo = await own_cargo(session, caller, cargo_id)
        if cargo.managed_by is not None:
            raise ConflictError(
                f"The cargo {cargo_id} belongs to the sandbox {cargo.managed_by}, and goes with it.",
                hint="Make a cargo of its own, or take a snapshot of that sandbox.",
                details={"cargo_id": cargo_id, "managed_by_sandbox_id": cargo.managed_by},
            )
        if cargo.backend != backend:
            raise ConflictError(
                f"The files of the cargo {cargo_id} are with the backend {cargo.backend!r}, not {backend!r}.",
                hint=f"Leave the isolation out, or ask for {cargo.backend!r}.",
                details={"cargo_id": cargo_id, "backend": cargo.backend},
            )
        return cargo

    async def _require_room(self, session: AsyncSession, caller: Principal, now: datetime) -> None:
        most = self.defaults.per_person
        if most and await count_of(session, _owner(caller), now=now) >= most:
            raise QuotaError(
                f"You have {most} sandboxes, and no more are given.",
                hint="Delete some, or have SKILLYARD_SANDBOXES_PER_PERSON raised.",
                details={"limit": most},
            )


async def _nothing(_: Sandbox) -> None:
    """No work belongs to a start."""


def _owner(caller: Principal) -> _Owner:
    return caller.tenant_id, caller.person_id
