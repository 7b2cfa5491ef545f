"""Rows that are work to be done, and how one goes from state to state. The row is the truth, whoever works on it."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar, Final, NamedTuple

from sqlalchemy import ColumnElement, Integer, String, Text, and_, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from skillyard.db.base import Base, UtcTime
from skillyard.db.transaction import UNSEEN, Transaction

ID_LENGTH: Final = 36


class JobState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


OPEN: Final = frozenset({JobState.QUEUED.value, JobState.RUNNING.value})
"""The states of jobs that are to be worked on. In any other, even one that a room has of its own, a job rests."""


class JobRow(Base):
    """What every table of work has. To queue is to insert a row, in the write that asks for the work."""

    __abstract__: ClassVar[bool] = True

    id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    state: Mapped[str] = mapped_column(String(16))
    attempts: Mapped[int] = mapped_column(Integer, default=0)
    """How often someone began with it."""
    due_at: Mapped[datetime | None] = mapped_column(UtcTime)
    """When it is tried again; None: at once."""
    error: Mapped[str | None] = mapped_column(Text)
    """Why the last attempt failed."""
    created_at: Mapped[datetime] = mapped_column(UtcTime)
    finished_at: Mapped[datetime | None] = mapped_column(UtcTime)


class OpenJob(NamedTuple):
    """A row that is not over."""

    id: str
    state: JobState
    attempts: int


async def open_jobs(session: AsyncSession, rows: type[JobRow], *, now: datetime, limit: int) -> list[OpenJob]:
    """What is to be worked on now, or is being worked on, the oldest first."""
    due = or_(rows.due_at.is_(None), rows.due_at <= now)
    wanted = or_(rows.state == JobState.RUNNING, and_(rows.state == JobState.QUEUED, due))
    query = select(rows.id, rows.state, rows.attempts).where(wanted).order_by(rows.created_at, rows.id).limit(limit)
    return [OpenJob(*row) for row in await session.execute(query)]


async def begin(transaction: Transaction, rows: type[JobRow], job_id: str, attempt: int) -> bool:
    """Begin an attempt, or go on with it; False when the row has moved on."""
    fresh = and_(rows.state == JobState.QUEUED, rows.attempts == attempt - 1)
    return await _move(
        transaction,
        rows,
        job_id,
        or_(fresh, _under_way(rows, attempt)),
        {
            "state": JobState.RUNNING.value,
            "attempts": attempt,
            "due_at": None,
        },
    )


async def leave(
    transaction: Transaction, rows: type[JobRow], job_id: str, attempt: int, values: Mapping[str, Any]
) -> bool:
    """End an attempt; False when it is no longer the one under way."""
    return await _move(transaction, rows, job_id, _under_way(rows, attempt), values)


def _under_way(rows: type[JobRow], attempt: int) -> ColumnElement[bool]:
    return and_(rows.state == JobState.RUNNING, rows.attempts == attempt)


async def _move(
    transaction: Transaction,
    rows: type[JobRow],
    job_id: str,
    where: ColumnElement[bool],
    values: Mapping[str, Any],
) -> bool:
    statement = update(rows).where(rows.id == job_id, where).values(**values).returning(rows.id)
    return await transaction.session.scalar(statement, execution_options=UNSEEN) is not None
