"""The streams of events that are open: how many, and what they wait for."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from typing import Final

from fastapi.responses import StreamingResponse

from skillyard.db.database import Database
from skillyard.errors import TooManyRequestsError
from skillyard.server.asgi import Receive, Scope, Send

MAX_PER_PERSON: Final = 16
HEARTBEAT: Final = 15.0
"""Seconds of silence after which proxies and clients are told that the stream lives."""
_RETRY_AFTER: Final = 30


class Streams:
    """Lets each person have a few streams, and wakes all of them by one watch on the database."""

    def __init__(self, database: Database, *, most: int = MAX_PER_PERSON, heartbeat: float = HEARTBEAT) -> None:
        self.closed = False
        self._database = database
        self._most = most
        self._heartbeat = heartbeat
        self._open: Counter[str] = Counter()
        self._watch: asyncio.Task[int] | None = None

    def begin(self, person_id: str) -> Callable[[], None]:
        """Count one more stream of a person, and answer with what ends the count."""
        if self._open[person_id] >= self._most:
            raise TooManyRequestsError(
                f"You have {self._most} streams of events open; no more are given.",
                hint="Close one, or let several readers share one.",
                details={"limit": self._most, "retry_after": _RETRY_AFTER},
            )
        self._open[person_id] += 1

        def end() -> None:
            self._open[person_id] -= 1
            if not self._open[person_id]:
                del self._open[person_id]

        return end

    async def news(self, number: int) -> None:
        """Wait until there is a change after this one, a heartbeat is due, or the server stops."""
        latest = await self._database.number()
        if latest > number or self.closed:
            return
        if self._watch is None or self._watch.done():
            self._watch = asyncio.create_task(self._database.wait_beyond(latest))
        watch = self._watch
        await asyncio.wait([watch], timeout=self._heartbeat)
        if watch.done() and not watch.cancelled():
            watch.exception()  # looked at, and left to the next reading of the feed, which meets the same

    def close(self) -> None:
        """End every stream."""
        self.closed = True
        if self._watch is not None:
            self._watch.cancel()


class EventStream(StreamingResponse):
    """An answer that lasts, and says when it is over, however it ends."""

    media_type = "text/event-stream"

    def __init__(self, events: AsyncIterator[bytes], *, over: Callable[[], None]) -> None:
        super().__init__(events, headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        self._over = over

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._over()
