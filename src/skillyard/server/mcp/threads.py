"""Threads for what answering a client waits for: a disk, or a yard.

They are MCP's own. The API of this very process, which many of them wait for, does some of its work in the threads of
the application: if these could all be waiting for it, nothing would ever be answered again.
"""

import logging
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

    Whoever gives up does not wait for it.
    """
    try:
        return await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=limiter or _answers())
    except SkillyardError as error:
        raise mcp_error(error) from error
    except OSError as error:
        _log.exception("a handler could not read")
        raise MCPError(SkillyardError.mcp_code, INTERNAL) from error


def _answers() -> CapacityLimiter:
    """The one of the loop that runs."""
    limiter = _ANSWERS.get(None)
    if limiter is None:
        limiter = CapacityLimiter(MOST_ANSWERS)
        _ANSWERS.set(limiter)
    return limiter
