"""Runs that are to be learned from: when their sandbox is quiet, someone is to look through them."""

from collections.abc import Collection
from datetime import timedelta
from typing import Final, NamedTuple

from sqlalchemy import Select, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.jobs.rows import JobState
from skillyard.jobs.service import Jobs
from skillyard.releases.ids import new_id
from skillyard.releases.mining_material import IS_REPLAY, MAX_EXECUTIONS
from skillyard.releases.mining_requests import MINING
from skillyard.releases.models import MiningRow
from skillyard.sandbox.executions import PENDING
from skillyard.sandbox.models import ExecutionNoteRow, ExecutionRow, SandboxRow

LOOK_SECONDS: Final = 5.0
"""Between two looks of a server."""
QUIET: Final = timedelta(seconds=30)
_SEEN: Final = 10_000


class _Waiting(NamedTuple):
    """A run that is to be learned from."""

    execution_id: str
    tenant_id: str
    owner_id: str
    sandbox_id: str


class LearningRuns:
    """Queues what is to be looked through: at most one request of a person at a time."""

    def __init__(self, database: Database, jobs: Jobs, *, quiet: timedelta = QUIET, clock: Clock = utc_now) -> None:
        self._database = database
        self._jobs = jobs
        self._quiet = quiet
        self._clock = clock

    async def look(self) -> list[str]:
        """Queue what is quiet; the ids of the requests."""
        async with self._database.read() as session:
            waiting = [_Waiting(*row) for row in await session.execute(_pending())]
            if not waiting:
                return []
            quiet = await self._quiet_among(session, {run.sandbox_id for run in waiting})
        by_owner: dict[tuple[str, str], list[str]] = {}
        for run in waiting:
            if run.sandbox_id in quiet:
                by_owner.setdefault((run.tenant_id, run.owner_id), []).append(run.execution_id)
        queued = [await self._queue(*owner, ids[:MAX_EXECUTIONS]) for owner, ids in by_owner.items()]
        for job_id in filter(None, queued):
            self._jobs.wake(MINING, job_id)
        return [job_id for job_id in queued if job_id]

    async def _queue(self, tenant_id: str, owner_id: str, execution_ids: list[str]) -> str | None:
        """Ask for executions to be looked through, unless some of the owner's are already."""
        row = MiningRow(
            id=new_id("mine"),
            tenant_id=tenant_id,
            owner_id=owner_id,
            asked={"learn": True, "execution_ids": execution_ids},
            state=JobState.QUEUED.value,
            attempts=0,
            created_at=self._clock(),
        )
        open_states = [JobState.QUEUED.value, JobState.RUNNING.value]
        being_done = select(MiningRow.id).where(MiningRow.owner_id == owner_id, MiningRow.state.in_(open_states))
        async with self._database.write(bookkeeping=True) as transaction:
            if await transaction.session.scalar(being_done.limit(1)) is not None:
                return None
            transaction.session.add(row)
        return row.id

    async def _quiet_among(self, session: AsyncSession, sandbox_ids: Collection[str]) -> set[str]:
        """The sandboxes in which nothing runs any more, or nothing was run for a while."""
        last = (
            select(ExecutionRow.sandbox_id, func.max(ExecutionRow.created_at).label("at"))
            .where(ExecutionRow.sandbox_id.in_(list(sandbox_ids)))
            .group_by(ExecutionRow.sandbox_id)
            .subquery()
        )
        query = select(SandboxRow.id, SandboxRow.holder, SandboxRow.deleted_at, last.c.at)
        rows = await session.execute(query.join(last, last.c.sandbox_id == SandboxRow.id))
        since = self._clock() - self._quiet
        return {
            sandbox_id
            for sandbox_id, holder, deleted_at, at in rows
            if holder is None or deleted_at is not None or at <= since
        }


def _pending() -> Select[str, str, str, str]:
    columns = (ExecutionRow.id, ExecutionRow.tenant_id, ExecutionRow.owner_id, ExecutionRow.sandbox_id)
    return (
        select(*columns)
        .join(ExecutionNoteRow, ExecutionNoteRow.execution_id == ExecutionRow.id)
        .where(ExecutionNoteRow.learn_status == PENDING, ~IS_REPLAY)
        .order_by(ExecutionRow.created_at, ExecutionRow.id)
        .limit(_SEEN)
    )
