"""Checks the whole database in the background when a server starts."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

from skillyard.db.soundness import damage
from skillyard.errors import StoreUnavailableError, UnavailableError

_log = logging.getLogger(__name__)


class Soundness:
    """The result of checking every page of the database, once it has ended."""

    def __init__(self) -> None:
        self._found: list[str] = []

    async def look(self, database: str) -> None:
        try:
            self._found = await asyncio.to_thread(damage, database)
        except UnavailableError as error:  # the check of the database tells whether it answers now
            _log.warning("Whether the database is damaged is not known: %s", error.message)
        for problem in self._found:
            _log.error("The database is damaged: %s", problem)

    async def require(self) -> None:
        """Raises `StoreUnavailableError` where the database is known to be damaged."""
        if self._found:
            raise StoreUnavailableError(
                f"The database is damaged: {self._found[0]}",
                hint="Restore it from a backup. `skillyard doctor` shows the damage.",
            )


@asynccontextmanager
async def background_look(soundness: Soundness, database: str) -> AsyncGenerator[None]:
    """Check the database in the background of the block."""
    task = asyncio.create_task(soundness.look(database))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
