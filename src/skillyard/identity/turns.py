"""Runs long work off the event loop, one piece at a time for each person."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Final, TypeVar

from skillyard.cancellation import to_the_end
from skillyard.errors import TooManyRequestsError
from skillyard.identity.principals import Principal

T = TypeVar("T")

MAX_AT_ONCE: Final = 8
"""Pieces of one person: the running one and those that wait."""
_THREADS: Final = 2
"""For work of many seconds. They share one interpreter: more would slow down each other, and all other requests."""


class Turns:
    """Gives each person one turn at a time, so that a person with many requests delays nobody else."""

    def __init__(self, *, threads: int = _THREADS) -> None:
        self._most_threads = threads
        self._locks: dict[str, asyncio.Lock] = {}
        self._counts: dict[str, int] = {}

    async def run(self, principal: Principal, work: Callable[[], T]) -> T:
        """The answer of some work, when it is this person's turn; refused where too much of theirs waits already."""
        count = self._counts.get(principal.person_id, 0)
        if count >= MAX_AT_ONCE:
            raise TooManyRequestsError(
                f"{count} such requests of yours are being worked on; no more than {MAX_AT_ONCE} may wait at once.",
                hint="Send them one after the other.",
                details={"value": count + 1, "limit": MAX_AT_ONCE, "retry_after": 1},
            )
        return await self.complete(principal, work)

    async def complete(self, principal: Principal, work: Callable[[], T]) -> T:
        """The same for the end of what was done already: it is never refused."""
        person = principal.person_id
        self._counts[person] = self._counts.get(person, 0) + 1
        try:
            async with self._locks.setdefault(person, asyncio.Lock()):
                # A thread cannot be stopped: the turn of a caller who goes away lasts until its work is done.
                return await to_the_end(asyncio.wrap_future(self._threads.submit(work)))
        finally:
            self._counts[person] -= 1
            if not self._counts[person]:
                del self._counts[person], self._locks[person]

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self._most_threads, thread_name_prefix="turn")
