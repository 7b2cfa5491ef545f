"""The workplace: what this process works on, each job under its lock."""

import asyncio
import contextvars
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.jobs.attempts import Attempts
from skillyard.jobs.locks import Locks
from skillyard.jobs.rows import OPEN, JobState
from skillyard.jobs.work import PlainSteps, Work

_STOP_SECONDS: Final = 3.0
_log = logging.getLogger(__name__)


class Workplace:
    """Whoever works on a job holds its lock, which ends with the process.

    So a row that is said to be worked on, and whose lock is free, was abandoned, and is begun again.
    """

    def __init__(self, database: Database, locks: Locks, *, workers: int, clock: Clock = utc_now) -> None:
        self.attempts = Attempts(database, clock=clock)
        self._database = database
        self._locks = locks
        self._clock = clock
        self._places = asyncio.Semaphore(workers)
        self._held: dict[str, asyncio.Task[None] | None] = {}
        """The jobs whose locks this process has, and what works on them."""
        self._here: dict[str, asyncio.Task[None]] = {}

    def is_here(self, job_id: str) -> bool:
        """Whether a job is worked on here, without durable execution."""
        return job_id in self._here

    async def take(self, job_id: str) -> bool:
        """Take the lock of a job; False if anyone has it, this process among them."""
        if job_id in self._held or not await self._locks.take(job_id, lambda: self._lost(job_id)):
            return False
        self._held[job_id] = None
        return True

    async def give_back(self, job_id: str) -> None:
        if job_id in self._held:
            del self._held[job_id]
            await self._locks.give_back(job_id)

    @asynccontextmanager
    async def working(self, job_id: str) -> AsyncGenerator[bool]:
        """Work on a job in the block; False if someone else has its lock. Afterwards nobody has it."""
        if job_id not in self._held and not await self.take(job_id):
            yield False
            return
        self._held[job_id] = asyncio.current_task()
        try:
            yield True
        finally:
            await self.give_back(job_id)

    def start(self, work: Work, job_id: str) -> asyncio.Task[None]:
        """Work on a job here, without durable execution, unless someone else does."""
        task = self._here.get(job_id)
        if task is None:
            # In a context of its own: the job is not part of the request that queued it, nor are its writes.
            working = self._work(work, job_id)
            task = asyncio.get_running_loop().create_task(working, context=contextvars.Context())
            self._here[job_id] = task
            task.add_done_callback(lambda done: self._stopped(job_id, done))
        return task

    async def close(self) -> None:
        """Stop in the middle of what is worked on here."""
        tasks = list(self._here.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_STOP_SECONDS)

    async def _work(self, work: Work, job_id: str) -> None:
        async with self.working(job_id) as mine:
            while mine:
                async with self._database.read() as session:
                    row = await session.get_one(work.rows, job_id)
                if row.state not in OPEN:
                    return
                if row.state == JobState.RUNNING:
                    await self.attempts.abandoned(work, job_id, row.attempts)
                    continue
                if row.due_at is not None:
                    await asyncio.sleep((row.due_at - self._clock()).total_seconds())
                async with self._places:  # which a job that rests does not take up
                    await self.attempts.make(work, job_id, row.attempts + 1, PlainSteps())

    def _stopped(self, job_id: str, task: asyncio.Task[None]) -> None:
        del self._here[job_id]
        if not task.cancelled() and (error := task.exception()):
            _log.error("The job %s could not be worked on; its row tells how it stands.", job_id, exc_info=error)

    def _lost(self, job_id: str) -> None:
        """The lock is gone, and with it the right to go on."""
        task = self._held.pop(job_id, None)
        if task is not None:
            task.cancel()
