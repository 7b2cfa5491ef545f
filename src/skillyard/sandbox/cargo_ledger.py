"""The ledger of cargos: which workspaces there are, whose they are, and which are to be removed."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import delete, func, or_, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.cancellation import to_the_end
from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.db.transaction import UNSEEN
from skillyard.errors import (
    ConflictError,
    InputError,
    NotFoundError,
    QuotaError,
    SandboxNotReadyError,
)
from skillyard.identity.principals import Principal, Scope
from skillyard.sandbox.cursors import cursor_of, read_cursor, require_page
from skillyard.sandbox.defaults import SandboxDefaults
from skillyard.sandbox.ids import new_id
from skillyard.sandbox.models import CargoRow, SandboxRow
from skillyard.sandbox.place import MIB, Limits
from skillyard.sandbox.running import Running

DEFAULT_SIZE_MB: Final = Limits().disk_bytes // MIB


@dataclass(frozen=True, kw_only=True)
class Cargo:
    """What is known of a workspace."""

    id: str
    managed_by: str | None
    backend: str
    size_limit_mb: int
    created_at: datetime
    accessed_at: datetime


@dataclass(frozen=True, kw_only=True)
class CargoPage:
    cargos: Sequence[Cargo]
    next: str | None


class CargoLedger:
    """Makes, lists and removes workspaces; each belongs to one person."""

    def __init__(
        self,
        database: Database,
        running: Running,
        *,
        defaults: SandboxDefaults | None = None,
        clock: Clock = utc_now,
    ) -> None:
        self._database = database
        self._defaults = defaults or SandboxDefaults()
        self._running = running
        self._clock = clock

    @property
    def default_size_mb(self) -> int:
        return min(DEFAULT_SIZE_MB, self._most_mb)

    @property
    def _most_mb(self) -> int:
        return self._defaults.ceilings.disk_bytes // MIB

    async def create(self, caller: Principal, *, size_limit_mb: int | None = None) -> Cargo:
        """A workspace of its own; its files are made with the first sandbox that uses it."""
        caller.require_scope(Scope.WRITE)
        size = self.default_size_mb if size_limit_mb is None else size_limit_mb
        if not 1 <= size <= self._most_mb:
            raise InputError(
                f"A cargo cannot have {size} MB.",
                hint=f"Use 1 to {self._most_mb}: more is not allowed here.",
                details={"field": "size_limit_mb", "value": size, "limit": self._most_mb},
            )
        backend = await self._running.backend(None)
        row = new_cargo(caller, backend=backend.name, size_limit_mb=size, now=self._clock())
        async with self._database.write() as transaction:
            transaction.once = True
            await self._require_room(transaction.session, caller)
            transaction.session.add(row)
        return cargo_of(row)

    async def get(self, caller: Principal, cargo_id: str) -> Cargo:
        async with self._database.read() as session:
            return cargo_of(await own_cargo(session, caller, cargo_id))

    async def page(
        self, caller: Principal, *, managed: bool = False, limit: int = 50, cursor: str | None = None
    ) -> CargoPage:
        """Some of the caller's cargos, the newest first: those made for themselves, or those made with a sandbox."""
        require_page(limit)
        before = read_cursor(cursor)
        query = select(CargoRow).where(
            CargoRow.tenant_id == caller.tenant_id,
            CargoRow.owner_id == caller.person_id,
            CargoRow.deleted_at.is_(None),
            CargoRow.managed_by.is_not(None) if managed else CargoRow.managed_by.is_(None),
        )
        if before is not None:
            query = query.where(tuple_(CargoRow.created_at, CargoRow.id) < before)
        query = query.order_by(CargoRow.created_at.desc(), CargoRow.id.desc()).limit(limit + 1)
        async with self._database.read() as session:
            rows = list(await session.scalars(query))
        more = cursor_of(rows[limit - 1].created_at, rows[limit - 1].id) if len(rows) > limit else None
        return CargoPage(cargos=[cargo_of(row) for row in rows[:limit]], next=more)

    async def delete(self, caller: Principal, cargo_id: str) -> None:
        """Remove a workspace that no sandbox uses."""
        caller.require_scope(Scope.WRITE)
        await self.get(caller, cargo_id)
        await self._running.homes.require(cargo_id)
        async with self._database.write() as transaction:
            row = await own_cargo(transaction.session, caller, cargo_id)
            using = select(SandboxRow.id).where(SandboxRow.cargo_id == cargo_id, SandboxRow.deleted_at.is_(None))
            sandboxes = sorted(await transaction.session.scalars(using))
            if sandboxes:
                details: dict[str, object] = {"active_sandbox_ids": sandboxes}
                if row.managed_by is not None:
                    details["managed_by_sandbox_id"] = row.managed_by
                raise ConflictError(
                    f"The cargo {cargo_id} is in use by {', '.join(sandboxes)}.",
                    hint="Delete these sandboxes first; a cargo that was made with one goes with it.",
                    details=details,
                )
            transaction.once = True
            row.deleted_at = self._clock()
        await self.remove_files(cargo_id)

    async def copy(self, caller: Principal, source: str) -> Cargo:
        """A new workspace with the files of another, which nobody sees before it is whole."""
        caller.require_scope(Scope.WRITE)
        async with self._database.read() as session:
            original = await own_cargo(session, caller, source)
        await self._running.homes.claim(source)
        await self._running.host.begin()
        now = self._clock()
        row = new_cargo(caller, backend=original.backend, size_limit_mb=original.size_limit_mb, now=now)
        row.deleted_at, row.maker = now, self._running.host.id
        backend = await self._running.backend(original.backend)
        row.home = await backend.home()
        async with self._database.write() as transaction:
            transaction.once = True
            await self._require_room(transaction.session, caller)
            transaction.session.add(row)
        try:
            await backend.copy_cargo(source, row.id)
            await self._show(row.id)
        except BaseException:
            await to_the_end(self._give_up(row.id))
            raise
        return cargo_of(row)

    async def remove_files(self, cargo_id: str) -> bool:
        """Remove what a deleted cargo left, then its row. False: it is in use, being made, or in another home."""
        async with self._database.read() as session:
            row = await session.scalar(
                select(CargoRow).where(CargoRow.id == cargo_id, CargoRow.deleted_at.is_not(None))
            )
            query = select(SandboxRow.holder).where(SandboxRow.cargo_id == cargo_id, SandboxRow.holder.is_not(None))
            holders = set(await session.scalars(query))
        if row is None:
            return True
        busy = {holder for holder in (*holders, row.maker) if holder is not None}
        if busy - await self._running.host.dead_among(busy):
            return False
        backend = await self._running.backend(row.backend)
        if not await self._running.homes.is_here(row, backend):
            return False
        await backend.remove_cargo(cargo_id)
        async with self._database.write(bookkeeping=True) as transaction:
            await transaction.session.execute(delete(CargoRow).where(CargoRow.id == cargo_id))
        return True

    async def leftover(self) -> list[str]:
        """The cargos that are deleted, or should be, and whose files may still be there."""
        kept = select(SandboxRow.id).where(SandboxRow.deleted_at.is_(None))
        orphaned = CargoRow.managed_by.is_not(None) & CargoRow.managed_by.not_in(kept)
        gone = select(CargoRow.id).where(CargoRow.deleted_at.is_not(None)).order_by(CargoRow.deleted_at)
        async with self._database.read() as session:
            found = list(await session.scalars(select(CargoRow.id).where(CargoRow.deleted_at.is_(None), orphaned)))
            ids = list(await session.scalars(gone))
        if found:
            async with self._database.write(bookkeeping=True) as transaction:
                marked = update(CargoRow).where(CargoRow.id.in_(found)).values(deleted_at=self._clock())
                await transaction.session.execute(marked, execution_options=UNSEEN)
        return [*ids, *found]

    async def _require_room(self, session: AsyncSession, caller: Principal) -> None:
        most = self._defaults.cargos_per_person
        mine = select(func.count()).where(
            CargoRow.tenant_id == caller.tenant_id,
            CargoRow.owner_id == caller.person_id,
            CargoRow.managed_by.is_(None),
            or_(CargoRow.deleted_at.is_(None), CargoRow.maker.is_not(None)),
        )
        if most and (await session.execute(mine)).scalar_one() >= most:
            raise QuotaError(
                f"You have {most} cargos, and no more are given.",
                hint="Delete some, or have SKILLYARD_CARGOS_PER_PERSON raised.",
                details={"limit": most},
            )

    async def _show(self, cargo_id: str) -> None:
        async with self._database.write(bookkeeping=True) as transaction:
            whole = update(CargoRow).where(CargoRow.id == cargo_id).values(deleted_at=None, maker=None)
            if await transaction.session.scalar(whole.returning(CargoRow.id), execution_options=UNSEEN) is None:
                raise SandboxNotReadyError(f"The copy {cargo_id} was taken away while it was made.", hint="Try again.")

    async def _give_up(self, cargo_id: str) -> None:
        async with self._database.write(bookkeeping=True) as transaction:
            unmade = update(CargoRow).where(CargoRow.id == cargo_id).values(maker=None)
            await transaction.session.execute(unmade, execution_options=UNSEEN)


def new_cargo(
    owner: Principal, *, backend: str, size_limit_mb: int, now: datetime, managed_by: str | None = None
) -> CargoRow:
    return CargoRow(
        id=new_id("cargo"),
        tenant_id=owner.tenant_id,
        owner_id=owner.person_id,
        managed_by=managed_by,
        backend=backend,
        size_limit_mb=size_limit_mb,
        created_at=now,
        accessed_at=now,
        deleted_at=None,
        maker=None,
        home=None,
    )


async def own_cargo(session: AsyncSession, caller: Principal, cargo_id: str) -> CargoRow:
    row = await session.scalar(
        select(CargoRow).where(
            CargoRow.id == cargo_id,
            CargoRow.tenant_id == caller.tenant_id,
            CargoRow.owner_id == caller.person_id,
            CargoRow.deleted_at.is_(None),
        )
    )
    if row is None:
        raise NotFoundError(
            f"There is no cargo {cargo_id!r}, or it is not yours.",
            hint="`GET /v1/cargos` lists yours.",
            details={"cargo_id": cargo_id},
        )
    return row


def cargo_of(row: CargoRow) -> Cargo:
    return Cargo(
        id=row.id,
        managed_by=row.managed_by,
        backend=row.backend,
        size_limit_mb=row.size_limit_mb,
        created_at=row.created_at,
        accessed_at=row.accessed_at,
    )
