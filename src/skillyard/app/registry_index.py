"""The search index of a registry, kept up with its changes by whichever process holds the pen."""

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final, NamedTuple, ParamSpec, TypeVar

from skillyard.cancellation import to_the_end
from skillyard.clock import Pause
from skillyard.errors import UnavailableError
from skillyard.registry.search_documents import Mark, SearchDocuments
from skillyard.search.index_folder import BrokenIndexError, IndexFolder, View
from skillyard.search.lexicon import built_in

PATIENCE: Final = 1.0
"""Seconds that a search waits for what was just written, where this process writes the index."""
BUILD_PATIENCE: Final = 20.0
"""Seconds that a search waits while there is no index at all."""
LOOK_EVERY: Final = 0.05
"""Seconds between two looks at what another process has yet to write."""
GATHER: Final = 0.25
"""Seconds in which changes gather before they are written together; a search in this process does not wait for it."""
RETRY_AFTER: Final = 10.0
TRUSTED_FOR: Final = 600.0
"""Seconds after an index was given up before another is: what breaks it again so soon is the query, not the index."""
_MAX_BEHIND: Final = 200
"""The mark is moved on after so many changes that concern no skill: each process passes over those after it."""

P = ParamSpec("P")
T = TypeVar("T")

_log = logging.getLogger(__name__)


class Current(NamedTuple):
    """The index, and the number of the change up to which it knows everything about skills."""

    view: View
    number: int


class RegistryIndex:
    """Gives the index as fresh as it can be had at once, and makes it anew when it cannot be used."""

    def __init__(self, documents: SearchDocuments, folder: IndexFolder) -> None:
        self._documents = documents
        self._folder = folder
        self._current: Current | None = None
        self._writes = False
        self._refresh: asyncio.Task[None] | None = None
        self._failed_at = self._given_up_at = float("-inf")

    async def current(self) -> tuple[View, bool]:
        """The index, and whether it knows of every change that was made until now.

        What this process can still write is waited for; what another process is to write is not.
        """
        number = await self._documents.number()
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE if self._current else BUILD_PATIENCE):
                await self._reach(number)
        if self._current is None:
            raise UnavailableError(
                "There is no search index yet: it is being made.",
                hint="Try again in some seconds; if it stays so, the server's log says why.",
            )
        return self._current.view, self._knows(number)

    async def give_up(self, view: View) -> bool:
        """Let an index that cannot be searched be made anew, and say whether that will be done."""
        now = time.monotonic()
        if now - self._given_up_at < TRUSTED_FOR:
            return False
        self._given_up_at = now
        _log.warning("The search index at %s is broken; it is made anew.", view.stamp.path)
        self._current = None
        await asyncio.to_thread(self._folder.condemn, view)
        return True

    async def follow(self, pause: Pause) -> None:
        """Keep the index up to date for ever."""
        await asyncio.to_thread(built_in)  # so that the first search need not wait for it
        while True:
            try:
                await self._refreshed()
                if self._has_failed:
                    await pause(RETRY_AFTER)
                elif self._current is None:
                    await pause(LOOK_EVERY)
                else:
                    await self._documents.wait_beyond(self._current.number)
                    await pause(GATHER if self._writes else LOOK_EVERY)
            except Exception:  # noqa: BLE001 -- searches go on with the index there is
                _log.exception("The change feed could not be followed; it is tried again later.")
                await pause(RETRY_AFTER)

    async def close(self) -> None:
        if self._refresh is not None:
            self._refresh.cancel()
            await asyncio.wait([self._refresh])
        await asyncio.to_thread(self._folder.close)

    @property
    def _has_failed(self) -> bool:
        return time.monotonic() - self._failed_at < RETRY_AFTER

    def _knows(self, number: int) -> bool:
        return self._current is not None and self._current.number >= number

    async def _reach(self, number: int) -> None:
        while not self._knows(number) and not self._has_failed:
            await self._refreshed()
            if self._current is None:
                await asyncio.sleep(LOOK_EVERY)
            elif not self._writes:
                return

    async def _refreshed(self) -> None:
        """Wait for the one refresh that is under way, or for a new one."""
        if self._refresh is None or self._refresh.done():
            self._refresh = asyncio.create_task(self._try_to_catch_up())
        await asyncio.shield(self._refresh)

    async def _try_to_catch_up(self) -> None:
        try:
            await self._catch_up()
        except Exception:  # noqa: BLE001 -- searches go on with the index there is
            _log.exception("The search index could not be brought up to date; it is tried again later.")
            self._failed_at = time.monotonic()

    async def _catch_up(self) -> None:
        self._writes = await asyncio.to_thread(self._folder.take_pen)
        while True:
            view = await asyncio.to_thread(self._folder.look)
            mark = Mark.read(view.mark) if view else None
            changed = await self._documents.changed_after(mark) if mark else None
            if view is None or mark is None or changed is None:
                self._current = None
                if not self._writes:
                    return
                await self._rebuild()
            elif self._writes and (changed.skills or changed.entries > _MAX_BEHIND):
                self._current = Current(view, mark.number)
                await self._write(changed.skills, changed.until)
            else:
                self._current = Current(view, mark.number if changed.skills else changed.until.number)
                return

    async def _write(self, skills: tuple[str, ...], until: Mark) -> None:
        documents = await self._documents.of(skills)
        try:
            await _written(self._folder.write, documents, gone=skills, mark=str(until))
        except BrokenIndexError:
            _log.warning("The search index could not be written; it is made anew.", exc_info=True)
            await self._rebuild()

    async def _rebuild(self) -> None:
        started = time.monotonic()
        # Read first: what changes while the pages are read is met again when the changes are followed from here.
        until = await self._documents.now()
        build = await _written(self._folder.build)
        count = 0
        try:
            async for documents in self._documents.all():
                await _written(build.add, documents)
                count += len(documents)
            await _written(build.finish, str(until))
        except BaseException:
            await asyncio.to_thread(build.abandon)
            raise
        _log.info("The search index of %d skills was made in %.1f s.", count, time.monotonic() - started)


async def _written(write: Callable[P, T], *args: P.args, **given: P.kwargs) -> T:
    """Write in a thread, to its end: whoever closes the index meanwhile would take the writer from under it."""
    return await to_the_end(asyncio.to_thread(write, *args, **given))
