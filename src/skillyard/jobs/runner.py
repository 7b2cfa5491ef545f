"""The runner: hands what is queued to durable execution, of which there is one at a time for a database."""

import asyncio
import importlib
import logging
from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Final

from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.jobs.handed import Handed, handed
from skillyard.jobs.locks import Locks
from skillyard.jobs.rows import JobState, open_jobs
from skillyard.jobs.work import Steps, Work
from skillyard.jobs.workplace import Workplace

if TYPE_CHECKING:
    from skillyard.jobs.durable import Durable

LOCK: Final = "runner"
"""Of whoever runs durable execution. When its holder is killed, the next one goes on behind the last steps."""
REST_SECONDS: Final = 10.0
"""Durable execution, which polls, is ended when there was nothing to do for so long."""
_SEEN: Final = 500
"""Rows of a kind that are looked at, the oldest."""
_AHEAD: Final = 8
"""Jobs for each worker that are handed over ahead."""
_CHECK_SECONDS: Final = 15.0
_TIDY_AFTER: Final = 500
"""Jobs after which what is kept of their steps is removed, if there is no rest before."""
_log = logging.getLogger(__name__)


class Runner:
    """Of one server process. Most of the time it has nothing to do, or another process is the runner."""

    def __init__(
        self,
        database: Database,
        locks: Locks,
        workplace: Workplace,
        works: Mapping[str, Work],
        *,
        workers: int,
        wake: Callable[[], None],
        clock: Clock = utc_now,
    ) -> None:
        self._database = database
        self._locks = locks
        self._workplace = workplace
        self._works = works
        self._workers = workers
        self._wake = wake
        self._clock = clock
        self._runs = False
        self._durable: Durable | None = None
        """None, too, where this process cannot have it: then jobs are worked on without."""
        self._handed: set[str] = set()
        """The workflows that are waiting or at work."""
        self._ended: set[str] = set()
        """Those that are over and not yet forgotten."""
        self._waiting: dict[str, str] = {}
        """The jobs of those that were handed over here and are not begun: this process has their locks."""
        self._at_work: set[str] = set()
        self._busy_at = 0.0
        self._checked_at = 0.0
        self._is_lost = False

    async def look(self) -> None:
        """Hand over what is to be done; when there was nothing for a while, end durable execution."""
        if self._is_lost:
            await self.rest()
        queued, begun = await self._open()
        if queued or begun:
            self._busy_at = monotonic()
            if self._runs or (await self._is_any_free([*queued, *begun]) and await self._begin()):
                await self._check()
                await self._take_up(begun)
                await self._hand_over(queued)
        elif self._runs and not self._at_work and monotonic() - self._busy_at > REST_SECONDS:
            await self._tidy()
            await self.rest()

    async def rest(self) -> None:
        """End durable execution; what is in the middle of something stays begun."""
        durable, self._durable = self._durable, None
        if durable is not None:
            await durable.stop()
        for job_id in self._waiting.values():
            await self._workplace.give_back(job_id)
        for ids in (self._handed, self._ended, self._waiting):
            ids.clear()
        if self._runs:
            self._runs = self._is_lost = False
            await self._locks.give_back(LOCK)

    async def _open(self) -> tuple[list[Handed], list[Handed]]:
        """What is queued, and what was begun, other than by this process alone."""
        queued: list[Handed] = []
        begun: list[Handed] = []
        for kind, work in self._works.items():
            async with self._database.read() as session:
                for job in await open_jobs(session, work.rows, now=self._clock(), limit=_SEEN):
                    if not self._workplace.is_here(job.id):
                        (begun if job.state == JobState.RUNNING else queued).append(handed(kind, job))
        return queued, begun

    async def _is_any_free(self, jobs: Sequence[Handed]) -> bool:
        """Whether there is something that nobody works on; durable execution is not begun for nothing."""
        for one in jobs:
            if await self._workplace.take(one.job_id):
                await self._workplace.give_back(one.job_id)
                return True
        return False

    async def _begin(self) -> bool:
        """Be the runner, unless another process is."""
        if not await self._locks.take(LOCK, self._lost):
            return False
        self._runs = True
        try:
            # It takes a while to import, and only whoever has work needs it.
            module = await asyncio.to_thread(importlib.import_module, "skillyard.jobs.durable")
            durable: Durable = module.Durable(self._database.url, self._work, workers=self._workers)
            if await durable.launch():
                self._durable = durable
                self._handed = await durable.live() - self._ended
        except Exception:  # noqa: BLE001 -- whatever it is
            # Only what came of steps is kept there; the rows are here.
            _log.exception("Durable execution cannot be had: after a kill, jobs begin from their first step.")
            if self._durable is not None:
                await self._durable.stop()
                self._durable = None
        return True

    async def _tidy(self) -> None:
        """Forget what came of the steps of jobs that are over."""
        if self._durable is not None:
            await self._durable.tidy()
            self._ended.clear()

    async def _check(self) -> None:
        """Take back what durable execution knows nothing of any more, so that it does not wait for ever."""
        now = monotonic()
        if len(self._ended) > _TIDY_AFTER:
            await self._tidy()
        if self._durable is None or not self._handed or now - self._checked_at < _CHECK_SECONDS:
            return
        self._checked_at = now
        for workflow_id in self._handed - self._at_work - await self._durable.live():
            self._handed.discard(workflow_id)
            self._ended.add(workflow_id)
            if job_id := self._waiting.pop(workflow_id, None):
                await self._workplace.give_back(job_id)

    async def _take_up(self, begun: Sequence[Handed]) -> None:
        """Have begun again what nobody works on any more."""
        for one in begun:
            if one.workflow_id in self._handed or not await self._workplace.take(one.job_id):
                continue
            try:
                await self._workplace.attempts.abandoned(self._works[one.kind], one.job_id, one.attempt)
            finally:
                await self._workplace.give_back(one.job_id)
            self._wake()

    async def _hand_over(self, queued: Sequence[Handed]) -> None:
        room = max(0, self._workers * _AHEAD - len(self._handed))
        taken: list[Handed] = []
        for one in queued:
            if len(taken) == room:
                break
            if one.workflow_id in self._handed:
                continue
            if self._durable is None:
                self._workplace.start(self._works[one.kind], one.job_id)
            elif await self._workplace.take(one.job_id):
                taken.append(one)
        if self._durable is None or not taken:
            return
        ids = {one.workflow_id for one in taken}
        await self._durable.forget(sorted(ids & self._ended))
        self._ended -= ids
        self._handed |= ids
        self._waiting.update({one.workflow_id: one.job_id for one in taken})
        await self._durable.hand_over(taken)

    def _lost(self) -> None:
        self._is_lost = True
        self._wake()

    async def _work(self, one: Handed, steps: Steps) -> None:
        """Make an attempt that was handed over, now or by a runner before this one."""
        self._waiting.pop(one.workflow_id, None)
        self._at_work.add(one.workflow_id)
        try:
            async with self._workplace.working(one.job_id) as mine:
                if mine:
                    await self._workplace.attempts.make(self._works[one.kind], one.job_id, one.attempt, steps)
        finally:
            self._at_work.discard(one.workflow_id)
            self._handed.discard(one.workflow_id)
            self._ended.add(one.workflow_id)
            self._busy_at = monotonic()
            self._wake()
