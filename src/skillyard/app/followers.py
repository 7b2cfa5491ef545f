"""What a running server does beside answering."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

from skillyard.app.yard import Yard
from skillyard.clock import Pause
from skillyard.errors import SkillyardError
from skillyard.learning.pipeline import wake_waiting
from skillyard.releases.learning_runs import LOOK_SECONDS
from skillyard.sandbox.sweep import SWEEP_SECONDS

SAVE_LAST_USED_EVERY: Final = 30.0
SWEEP_EVERY: Final = 30 * 60.0
FORGET_EVERY: Final = 24 * 3600.0
RETRY_AFTER: Final = 10.0
POLL_EVERY: Final = 4.0
"""How soon a source of feedback is read once its time has come."""
TAKEN_EVERY: Final = 20.0
"""How soon feedback is worked on again that a connected agent took and did not finish."""
RESUME_EVERY: Final = 15.0
"""How soon a proposal is carried out whose approval was cut off."""


_log = logging.getLogger(__name__)


@asynccontextmanager
async def following(yard: Yard, *, pause: Pause = asyncio.sleep) -> AsyncGenerator[None]:
    """Keep a yard tidy while the block runs."""
    learning = yard.learning
    tasks = [
        asyncio.create_task(_every(SAVE_LAST_USED_EVERY, yard.access.save_last_used, pause)),
        asyncio.create_task(_every(SWEEP_EVERY, yard.orphans.sweep, pause)),
        asyncio.create_task(_every(FORGET_EVERY, partial(_forget, yard), pause)),
        asyncio.create_task(_prepare_discovery(yard, pause)),
        asyncio.create_task(yard.search.index.follow(pause)),
        asyncio.create_task(_every(SWEEP_SECONDS, yard.sandboxes.sweep.run, pause)),
        asyncio.create_task(yard.injection.follow(yard.sandboxes.running, yard.database, pause)),
        asyncio.create_task(yard.jobs.follow(pause)),
        asyncio.create_task(_every(LOOK_SECONDS, yard.upkeep.learning_runs.look, pause)),
        asyncio.create_task(_every(yard.upkeep.watch_seconds, yard.upkeep.watch.tick, pause)),
        asyncio.create_task(_every(POLL_EVERY, learning.sources.poll_due, pause)),
        asyncio.create_task(_every(TAKEN_EVERY, learning.taking.queue_expired, pause)),
        asyncio.create_task(_every(RESUME_EVERY, learning.decisions.resume, pause)),
    ]
    if learning.models.configured:
        tasks.append(asyncio.create_task(_wake_waiting(yard, pause)))
        tasks.append(asyncio.create_task(_load_model(yard)))
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


async def _wake_waiting(yard: Yard, pause: Pause) -> None:
    """Have worked on what came in while no model was set."""
    while True:
        try:
            await wake_waiting(yard.database, yard.jobs)
        except Exception:  # noqa: BLE001 -- the next time may do better
            _log.exception("Feedback that waited for a model has to wait on.")
            await pause(RETRY_AFTER)
        else:
            return


async def _load_model(yard: Yard) -> None:
    """Have the model ready before the first feedback comes: making it takes seconds."""
    try:
        await yard.learning.models.load()
    except SkillyardError as error:
        _log.warning("Nothing can be learned: %s %s", error.message, error.hint)


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
