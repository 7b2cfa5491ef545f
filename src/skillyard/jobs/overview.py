"""How jobs stand, for whoever runs a yard."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.jobs.rows import JobRow, JobState

RECENT: Final = timedelta(days=1)


@dataclass(frozen=True, kw_only=True)
class Standing:
    """How the jobs of one kind stand."""

    queued: int
    running: int
    failed: int
    """For good, lately."""
    waiting_since: datetime | None
    """When the oldest was queued that nobody began with."""
    last_error: str | None


async def standing_of(session: AsyncSession, rows: type[JobRow], *, now: datetime) -> Standing:
    counts = dict(iter(await session.execute(select(rows.state, func.count()).group_by(rows.state))))
    untouched = select(func.min(rows.created_at)).where(rows.state == JobState.QUEUED, rows.attempts == 0)
    failed = select(rows.error).where(rows.state == JobState.FAILED, rows.finished_at > now - RECENT)
    errors = list(await session.scalars(failed.order_by(rows.finished_at.desc())))
    return Standing(
        queued=counts.get(JobState.QUEUED, 0),
        running=counts.get(JobState.RUNNING, 0),
        failed=len(errors),
        waiting_since=await session.scalar(untouched),
        last_error=errors[0] if errors else None,
    )
