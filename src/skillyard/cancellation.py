"""Being cancelled in the middle of what cannot be left there."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


async def to_the_end(doing: Awaitable[T]) -> T:
    """Do something to its end, and only then be cancelled."""
    task = asyncio.ensure_future(doing)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
