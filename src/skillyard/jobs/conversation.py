"""A job on the event loop and the thread of its workflow, which keeps what came of each step, talking to each other."""

import asyncio
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Final, NamedTuple, TypeAlias

from skillyard.errors import UnavailableError
from skillyard.jobs.work import Doing

Record: TypeAlias = Callable[[str, Callable[[], Any]], Any]
"""Does a step by its name and keeps what came of it, or answers what is kept."""


class InterruptedWorkError(BaseException):
    """The work stopped in the middle. No Exception: whoever records the outcomes of work must not take it for one."""


class _Step(NamedTuple):
    name: str


class _Did(NamedTuple):
    value: Any


_NOTHING: Final = None
"""The step came to nothing, or the job is over."""


class Conversation:
    """Both sides of it. The steps themselves are done on the loop, by the task of the job."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._said: SimpleQueue[_Step | _Did | None] = SimpleQueue()
        self._answer: asyncio.Future[tuple[bool, Any]] = loop.create_future()

    async def run(self, name: str, doing: Doing) -> Any:  # noqa: ANN401 -- any JSON
        """Do a step, as `Steps` has it; on the loop."""
        is_kept, value = await self._say(_Step(name))
        if is_kept:
            return value
        try:
            value = await doing()
        except BaseException:
            self._said.put(_NOTHING)
            raise
        _, value = await self._say(_Did(value))
        return value

    def end(self) -> None:
        """The job is over, or was given up."""
        self._said.put(_NOTHING)

    def listen(self, record: Record) -> None:
        """Have each step recorded until the job is over; on the thread of its workflow."""
        while (said := self._said.get()) is not _NOTHING:
            assert isinstance(said, _Step)  # noqa: S101 -- the answer to a question is heard where it was asked
            try:
                value = record(said.name, self._hear_value)
            except InterruptedWorkError:
                continue  # the job has the error itself
            except Exception as error:  # noqa: BLE001 -- it is for the job to say what is to be done
                self._reply(UnavailableError(f"What came of the step {said.name!r} could not be kept: {error}."))
            else:
                self._reply((True, value))

    async def _say(self, words: _Step | _Did) -> tuple[bool, Any]:
        self._answer = self._loop.create_future()
        self._said.put(words)
        return await self._answer

    def _hear_value(self) -> Any:  # noqa: ANN401 -- any JSON
        """Have the job do the step, and wait for it."""
        self._reply((False, None))
        said = self._said.get()
        if not isinstance(said, _Did):
            raise InterruptedWorkError
        return said.value

    def _reply(self, answer: tuple[bool, Any] | Exception) -> None:
        def settle(asked: asyncio.Future[tuple[bool, Any]]) -> None:
            if asked.done():
                return  # the job was given up
            if isinstance(answer, Exception):
                asked.set_exception(answer)
            else:
                asked.set_result(answer)

        self._loop.call_soon_threadsafe(settle, self._answer)
