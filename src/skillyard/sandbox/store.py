"""Queries over sandboxes."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, and_, false, func, or_, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.db.transaction import UNSEEN, Transaction
from skillyard.sandbox.models import SandboxRow
from skillyard.sandbox.sandboxes import State, Status

RELEASED: Final[dict[str, Any]] = {"holder": None, "session_id": None, "idle_expires_at": None}
"""What is set when nothing runs any more."""


async def sandbox_row(session: AsyncSession, sandbox_id: str, *, owner: tuple[str, str] | None) -> SandboxRow | None:
    """A sandbox that is not deleted; with `owner` (tenant and person), only if it is theirs."""
    query = select(SandboxRow).where(SandboxRow.id == sandbox_id, SandboxRow.deleted_at.is_(None))
    if owner is not None:
        query = query.where(SandboxRow.tenant_id == owner[0], SandboxRow.owner_id == owner[1])
    return await session.scalar(query)


async def sandbox_rows(
    session: AsyncSession,
    owner: tuple[str, str],
    *,
    only: ColumnElement[bool] | None,
    before: tuple[datetime, str] | None,
    limit: int,
) -> list[SandboxRow]:
    """Some of someone's sandboxes, the newest first."""
    query = select(SandboxRow).where(
        SandboxRow.tenant_id == owner[0], SandboxRow.owner_id == owner[1], SandboxRow.deleted_at.is_(None)
    )
    if only is not None:
        query = query.where(only)
    if before is not None:
        query = query.where(tuple_(SandboxRow.created_at, SandboxRow.id) < before)
    query = query.order_by(SandboxRow.created_at.desc(), SandboxRow.id.desc()).limit(limit)
    return list(await session.scalars(query))


def with_status(status: Status, *, now: datetime, dead: Collection[str]) -> ColumnElement[bool]:
    """What holds for the sandboxes that have a status (see `status_of`)."""
    over = and_(SandboxRow.expires_at.is_not(None), SandboxRow.expires_at <= now)
    if status is Status.EXPIRED:
        return over
    unexpired = or_(SandboxRow.expires_at.is_(None), SandboxRow.expires_at > now)
    if status is Status.FAILED:
        return and_(unexpired, SandboxRow.state == State.FAILED)
    held = and_(SandboxRow.holder.is_not(None), SandboxRow.holder.not_in(dead) if dead else ~false())
    if status is Status.IDLE:
        runs = and_(held, SandboxRow.state.in_([State.STARTING, State.READY]))
        return and_(unexpired, SandboxRow.state != State.FAILED, ~runs)
    return and_(unexpired, held, SandboxRow.state == status.value)


async def count_of(session: AsyncSession, owner: tuple[str, str], *, now: datetime) -> int:
    """How many sandboxes someone has that are not expired."""
    query = select(func.count()).where(
        SandboxRow.tenant_id == owner[0],
        SandboxRow.owner_id == owner[1],
        SandboxRow.deleted_at.is_(None),
        or_(SandboxRow.expires_at.is_(None), SandboxRow.expires_at > now),
    )
    return (await session.execute(query)).scalar_one()


async def holders(session: AsyncSession) -> set[str]:
    """Every process that holds something, by what the rows say."""
    query = select(SandboxRow.holder).where(SandboxRow.holder.is_not(None)).distinct()
    return {holder for holder in await session.scalars(query) if holder is not None}


async def claim(
    transaction: Transaction, sandbox_id: str, *, holder: str, session_id: str, free_from: Collection[str]
) -> SandboxRow | None:
    """Become the holder of a sandbox that nobody holds, or only processes of which nothing is left."""
    free = or_(SandboxRow.holder.is_(None), SandboxRow.holder.in_([*free_from, holder]))
    values = {"holder": holder, "session_id": session_id, "state": State.STARTING, "error": None}
    query = (
        update(SandboxRow)
        .where(SandboxRow.id == sandbox_id, SandboxRow.deleted_at.is_(None), free)
        .values(**values)
        .returning(SandboxRow)
    )
    return await transaction.session.scalar(query, execution_options=UNSEEN)


async def set_held(transaction: Transaction, sandbox_id: str, life: str, values: Mapping[str, object]) -> bool:
    """Change a sandbox in the life that this process gave it; False when that life is over."""
    query = (
        update(SandboxRow)
        .where(SandboxRow.id == sandbox_id, SandboxRow.session_id == life)
        .values(**values)
        .returning(SandboxRow.deleted_at)
    )
    row = (await transaction.session.execute(query, execution_options=UNSEEN)).one_or_none()
    return row is not None and row[0] is None
