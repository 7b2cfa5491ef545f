"""Telling a client how far a tool has got, and that it lives while it says nothing."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from mcp.server.session import ServerSession

from skillyard.agents.progress import reporting

HEARTBEAT: Final = 5.0
"""Seconds of silence after which a client that wants to know is told that there is still something to wait for."""


@asynccontextmanager
async def told_to(session: ServerSession, *, heartbeat: float = HEARTBEAT) -> AsyncGenerator[None]:
    """Send what is reported within to the client; nothing is sent to one that did not ask for it."""
    loop = asyncio.get_running_loop()
    began = time.monotonic()
    news: asyncio.Queue[tuple[float, float | None, str] | None] = asyncio.Queue()

    def report(done: float, total: float | None, message: str) -> None:
        loop.call_soon_threadsafe(news.put_nowait, (done, total, message))

    async def follow() -> None:
        steps = 0.0
        silent = True
        while True:
            try:
                async with asyncio.timeout(heartbeat):
                    told = await news.get()
                if told is None:
                    return
                silent = False
            except TimeoutError:
                if not silent:
                    continue  # what a tool counts must not be mixed with seconds
                told = time.monotonic() - began, None, "Still at it."
            done, total, message = told
            if done > steps:  # a count that does not grow is none
                steps = done
                await session.report_progress(done, total, message or None)

    following = asyncio.create_task(follow())
    try:
        with reporting(report):
            yield
        news.put_nowait(None)
        await following
    finally:
        following.cancel()
