"""Jobs: rooms register kinds of work and queue rows; servers work on them, and who has no server does so itself."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable
from contextlib import asynccontextmanager
from typing import Final

from skillyard.clock import Clock, Pause, utc_now
from skillyard.db.database import Database
from skillyard.errors import SkillyardError
from skillyard.jobs.locks import Locks, open_locks
from skillyard.jobs.rows import OPEN
from skillyard.jobs.runner import Runner
from skillyard.jobs.work import Work
from skillyard.jobs.workplace import Workplace

LOOK_SECONDS: Final = 1.0
"""How soon a server sees a job that another process queued."""
WORKERS: Final = 4
_LOOK_AT_ONE: Final = 0.25


_log = logging.getLogger(__name__)


class Jobs:
    """The jobs of a yard. To queue one is to insert its row, and to wake when that is committed."""

    def __init__(self, database: Database, *, workers: int = WORKERS, clock: Clock = utc_now) -> None:
        self._database = database
        self._locks: Locks = open_locks(database.url)
        self._workplace = Workplace(database, self._locks, workers=workers, clock=clock)
        self._works: dict[str, Work] = {}
        self._woken = asyncio.Event()
        self._is_following = False
        self._runner = Runner(
            database,
            self._locks,
            self._workplace,
            self._works,
            workers=workers,
            wake=self._woken.set,
            clock=clock,
        )

    def register(self, kind: str, work: Work) -> None:
        self._works[kind] = work

    def wake(self, kind: str, job_id: str) -> None:
        """A job was queued: a server works on it soon, whichever, and any other process begins with it itself."""
        if self._is_following:
            self._woken.set()
        else:
            self._workplace.start(self._works[kind], job_id)

    @asynccontextmanager
    async def kept_here(self, kind: str, job_id: str) -> AsyncGenerator[None]:
        """Queue a job in the block that only this process can do, because of something that is written nowhere.

        If the process ends before the job does, others do the job without that, or find that they cannot.
        """
        if not await self._workplace.take(job_id):
            raise AssertionError(f"the job {job_id} is not new")
        try:
            yield
        except BaseException:
            await self._workplace.give_back(job_id)
            raise
        self._workplace.start(self._works[kind], job_id)

    async def run(self, kind: str, job_id: str) -> str:
        """Work on a job here, or wait for whoever does, until it rests; the state that it then has."""
        work = self._works[kind]
        while True:
            await asyncio.shield(self._workplace.start(work, job_id))
            async with self._database.read() as session:
                state = (await session.get_one(work.rows, job_id)).state
            if state not in OPEN:
                return state
            await asyncio.sleep(_LOOK_AT_ONE)

    async def follow(self, pause: Pause = asyncio.sleep) -> None:
        """Work on whatever is queued, by whichever process, for as long as a server runs."""
        self._is_following = True
        try:
            while True:
                self._woken.clear()
                try:
                    await self._runner.look()
                except SkillyardError as error:
                    _log.warning("Jobs have to wait: %s", error.message)
                except Exception:  # noqa: BLE001 -- the next look may do better
                    _log.exception("Jobs have to wait.")
                await self._rest(pause(LOOK_SECONDS))
        finally:
            self._is_following = False
            await self._runner.rest()

    async def close(self) -> None:
        """Stop in the middle of what is worked on here."""
        await self._workplace.close()
        await self._locks.close()

    async def _rest(self, pause: Awaitable[None]) -> None:
        """Until the pause is over, or someone wakes."""
        both = [asyncio.ensure_future(pause), asyncio.ensure_future(self._woken.wait())]
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in both:
                one.cancel()
