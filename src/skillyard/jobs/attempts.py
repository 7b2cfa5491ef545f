"""One attempt at a job: begun, done or failed, and tried again where that may help."""

import logging
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.errors import SkillyardError, UnavailableError
from skillyard.jobs.rows import JobState, begin, leave
from skillyard.jobs.work import Job, Steps, SupersededError, Work

RETRY_AFTER: Final = (timedelta(seconds=2), timedelta(seconds=15), timedelta(seconds=60))
"""How long a failed job rests before each further attempt."""
MAX_BEGUN: Final = 10
"""So often a job is begun when those who work on it are killed."""
UNEXPECTED: Final = "Something went wrong that nobody expected"
CUT_OFF: Final = "The process that worked on it ended in the middle"
"""How the reason begins where a job fails for want of whoever does it, and not of what it was given."""
_log = logging.getLogger(__name__)


class Attempts:
    """Makes attempts; whoever calls holds the lock of the job."""

    def __init__(self, database: Database, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._clock = clock

    async def make(self, work: Work, job_id: str, attempt: int, steps: Steps) -> None:
        """Make an attempt, unless the row has moved on."""
        async with self._database.write(bookkeeping=True) as transaction:
            if not await begin(transaction, work.rows, job_id, attempt):
                return
        job = Job(job_id, attempt, work.rows, steps, clock=self._clock)
        try:
            await work.run(job)
        except SupersededError:
            _log.warning("The job %s was taken over by someone else.", job_id)
        except SkillyardError as error:
            reason = f"{error.message} {error.hint}".strip()
            await self._fail(work, job, reason, again=isinstance(error, UnavailableError))
        except Exception as error:  # noqa: BLE001 -- the row tells of it
            _log.exception("The job %s failed.", job_id)
            reason = f"{UNEXPECTED} ({type(error).__name__}); the log has more."
            await self._fail(work, job, reason, again=True)
        else:
            await self._close(work, job)

    async def abandoned(self, work: Work, job_id: str, attempt: int) -> None:
        """Whoever made an attempt is dead: have it made again, but not without end."""
        if attempt < MAX_BEGUN:
            async with self._database.write(bookkeeping=True) as transaction:
                await leave(transaction, work.rows, job_id, attempt, _queued(None))
            return
        reason = f"{CUT_OFF}, {attempt} times."
        await self._give_up(work, job_id, attempt, reason)

    async def _close(self, work: Work, job: Job) -> None:
        """A job that did not say that it is done is done when it returns."""
        if job.is_finished:
            return
        done = {"state": JobState.DONE.value, "error": None, "finished_at": self._clock()}
        async with self._database.write(bookkeeping=True) as transaction:
            await leave(transaction, work.rows, job.id, job.attempt, done)

    async def _fail(self, work: Work, job: Job, reason: str, *, again: bool) -> None:
        if not again or job.attempt > len(RETRY_AFTER):
            await self._give_up(work, job.id, job.attempt, reason)
            return
        due = self._clock() + RETRY_AFTER[job.attempt - 1]
        async with self._database.write(bookkeeping=True) as transaction:
            await leave(transaction, work.rows, job.id, job.attempt, {**_queued(reason), "due_at": due})

    async def _give_up(self, work: Work, job_id: str, attempt: int, reason: str) -> None:
        failed = {"state": JobState.FAILED.value, "error": reason, "finished_at": self._clock()}
        try:
            async with self._database.write(bookkeeping=True) as transaction:
                if await leave(transaction, work.rows, job_id, attempt, failed):
                    await work.give_up(transaction, job_id, reason)
        except UnavailableError:
            raise
        except Exception:  # noqa: BLE001 -- a job that cannot even be given up would be tried for ever
            _log.exception("What is to be noted when the job %s fails could not be.", job_id)
            async with self._database.write(bookkeeping=True) as transaction:
                await leave(transaction, work.rows, job_id, attempt, failed)


def _queued(reason: str | None) -> Mapping[str, Any]:
    return {"state": JobState.QUEUED.value, "error": reason}
