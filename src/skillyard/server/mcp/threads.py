"""Threads for what answering a client waits for: a disk, or a yard.

They are MCP's own. The API of this very process, which many of them wait for, does some of its work in the threads of
the application: if these could all be waiting for it, nothing would ever be answered again.
"""

import asyncio
import logging
import threading
from collections.abc import Callable
from typing import Final, TypeVar

import anyio.to_thread
from anyio import CapacityLimiter
from anyio.lowlevel import RunVar
from mcp.shared.exceptions import MCPError

from skillyard.errors import SkillyardError
from skillyard.server.mcp.errors import INTERNAL, mcp_error

T = TypeVar("T")

MOST_ANSWERS: Final = 40
"""Answers that are worked out at once, for all clients; they are short."""
MOST_CALLS: Final = 32
"""Calls of tools that run at once for one person; they may take long."""
_ANSWERS: Final = RunVar[CapacityLimiter]("_ANSWERS")
_log = logging.getLogger(__name__)


async def aside(work: Callable[[], T], limiter: CapacityLimiter | None = None) -> T:
    """Do what may wait in a thread; its errors as MCP tells them.

    Whoever gives up does not wait for it, but it counts among those that are worked out until it is over.
    """
    try:
        return await _in_thread(work, limiter or _answers())
    except SkillyardError as error:
        raise mcp_error(error) from error
    except OSError as error:
        _log.exception("a handler could not read")
        raise MCPError(SkillyardError.mcp_code, INTERNAL) from error


async def _in_thread(work: Callable[[], T], limiter: CapacityLimiter) -> T:
    begun = threading.Event()

    def begin() -> T:
        begun.set()
        return work()

    # Of its own, so that it holds its place until the thread is done with it, whoever waits.
    working = asyncio.create_task(anyio.to_thread.run_sync(begin, limiter=limiter))
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        if not begun.is_set():
            working.cancel()
        raise


def _answers() -> CapacityLimiter:
    """The one of the loop that runs."""
    limiter = _ANSWERS.get(None)
    if limiter is None:
        limiter = CapacityLimiter(MOST_ANSWERS)
        _ANSWERS.set(limiter)
    return limiter
