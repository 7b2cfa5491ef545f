"""What a running server does beside answering."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Final, TypeAlias

from skillyard.app.yard import Yard
from skillyard.sandbox.sweep import SWEEP_SECONDS

SAVE_LAST_USED_EVERY: Final = 30.0
SWEEP_EVERY: Final = 30 * 60.0
FORGET_EVERY: Final = 24 * 3600.0
RETRY_AFTER: Final = 10.0

Pause: TypeAlias = Callable[[float], Awaitable[None]]

_log = logging.getLogger(__name__)


@asynccontextmanager
async def following(yard: Yard, *, pause: Pause = asyncio.sleep) -> AsyncGenerator[None]:
    """Keep a yard tidy while the block runs."""
    tasks = [
        asyncio.create_task(_every(SAVE_LAST_USED_EVERY, yard.access.save_last_used, pause)),
        asyncio.create_task(_every(SWEEP_EVERY, yard.orphans.sweep, pause)),
        asyncio.create_task(_every(FORGET_EVERY, partial(_forget, yard), pause)),
        asyncio.create_task(_prepare_discovery(yard, pause)),
        asyncio.create_task(yard.search.index.follow(pause)),
        asyncio.create_task(_every(SWEEP_SECONDS, yard.sandboxes.sweep.run, pause)),
        asyncio.create_task(yard.injection.follow(yard.sandboxes.running, yard.database, pause)),
    ]
    if yard.vectors is not None:
        tasks.append(asyncio.create_task(yard.vectors.follow(pause)))
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await yard.access.save_last_used()


async def _forget(yard: Yard) -> None:
    await yard.registry.usage.sweep()
    await yard.refused.sweep()


async def _prepare_discovery(yard: Yard, pause: Pause) -> None:
    """Pack what the world may find as it is published, so that nobody who asks has to wait for it."""
    number = -1
    while True:
        try:
            number = await yard.database.wait_beyond(number)
            await yard.registry.discovery.listing(None)
        except Exception:  # noqa: BLE001 -- whoever asks tries again, too
            _log.exception("The discovery index could not be prepared.")
            await pause(RETRY_AFTER)


async def _every(seconds: float, work: Callable[[], Awaitable[object]], pause: Pause) -> None:
    while True:
        await pause(seconds)
        try:
            await work()
        except Exception:  # noqa: BLE001 -- the next round may do better
            _log.exception("Work in the background failed; it is tried again later.")
