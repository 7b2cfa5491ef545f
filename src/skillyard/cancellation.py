"""Being cancelled in the middle of what cannot be left there."""

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


async def to_the_end(doing: Awaitable[T]) -> T:
    """Do something to its end, and only then be cancelled, however often that is asked for."""
    task = asyncio.ensure_future(doing)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([task])
        raise
