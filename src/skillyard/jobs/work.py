"""Kinds of work, and one job of a kind while someone works on it."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from skillyard.clock import Clock, utc_now
from skillyard.db.transaction import Transaction
from skillyard.jobs.rows import JobRow, JobState, leave

Json: TypeAlias = bool | int | float | str | Sequence[Any] | Mapping[str, Any] | None
Doing: TypeAlias = Callable[[], Awaitable[Json]]


class Steps(Protocol):
    """Does the steps of a job."""

    async def run(self, name: str, doing: Doing) -> Any:  # noqa: ANN401 -- any JSON
        """Do a step and keep what came of it; where that is kept already, answer it without doing the step again."""
        ...


class PlainSteps:
    """Keeps nothing: after a kill, a job begins from its first step."""

    async def run(self, name: str, doing: Doing) -> Any:  # noqa: ANN401, ARG002 -- as declared
        return json.loads(json.dumps(await doing()))  # as it would come back from where it is kept


class SupersededError(Exception):
    """The attempt is no longer the one under way: someone else has gone on with the job."""


class Job:
    """One attempt at a job."""

    def __init__(self, job_id: str, attempt: int, rows: type[JobRow], steps: Steps, *, clock: Clock = utc_now) -> None:
        self.id = job_id
        self.attempt = attempt
        self.is_finished = False
        self._rows = rows
        self._steps = steps
        self._clock = clock

    async def step(self, name: str, doing: Doing) -> Any:  # noqa: ANN401 -- any JSON
        """Do a step once; a kill in the middle of it makes it happen twice, so it must be safe to repeat.

        The steps of a job come in the same order each time. What comes of one is kept as JSON until the job is over,
        beside the database: no secrets.
        """
        return await self._steps.run(name, doing)

    async def finish(self, transaction: Transaction, **values: Any) -> None:  # noqa: ANN401 -- columns of the row
        """The job is done, in the same write as its effect."""
        done = {"state": JobState.DONE.value, "error": None, "finished_at": self._clock(), **values}
        if not await leave(transaction, self._rows, self.id, self.attempt, done):
            raise SupersededError(self.id)
        transaction.after_commit(self._finished)

    def _finished(self) -> None:
        self.is_finished = True


class Work(Protocol):
    """A kind of work."""

    @property
    def rows(self) -> type[JobRow]: ...

    async def run(self, job: Job) -> None:
        """Do it. An `UnavailableError`, or one that nobody expected, has it tried again; other errors end it."""
        ...

    async def give_up(self, transaction: Transaction, job_id: str, reason: str) -> None:
        """What else is to be noted when a job fails for good, in the write that says so."""
        ...
