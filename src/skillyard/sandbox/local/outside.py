"""What there is of one running sandbox outside of it, and the end of all that."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING

from skillyard.sandbox.local.cgroups import Group
from skillyard.sandbox.local.processes import marked
from skillyard.sandbox.local.runtime import MARK, Runtime, abandoned

if TYPE_CHECKING:
    from skillyard.sandbox.local.disk import DiskWatch
    from skillyard.sandbox.local.launch import Launched


class Outside:
    """Processes, groups, the watch and the folder of one sandbox."""

    def __init__(self, runtime: Runtime, on_end: Callable[["Outside"], None]) -> None:
        self.runtime = runtime
        self.group: Group | None = None
        self.launched: Launched | None = None
        self.watch: DiskWatch | None = None
        self._on_end = on_end
        self._ending: asyncio.Task[None] | None = None

    @property
    def ending(self) -> bool:
        return self._ending is not None

    async def end(self) -> None:
        """End everything, once; whoever asks again waits for the same end."""
        if self._ending is None:
            self._ending = asyncio.create_task(self._end())
        await asyncio.shield(self._ending)

    async def _end(self) -> None:
        if self.watch is not None:
            await self.watch.stop()
        if self.launched is not None:
            await self.launched.end()
        if self.group is not None:
            await self.group.remove()
        await asyncio.to_thread(self.runtime.remove)
        self._on_end(self)


def end_abandoned(folder: Path, keep: Collection[str]) -> int:
    """End what servers left that are gone; answers for how many sandboxes there was something to do."""
    ended = 0
    for runtime in abandoned(folder, keep):
        Group(runtime.groups()).kill()
        for pid in marked(f"{MARK}={runtime.sandbox_id}"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        runtime.remove()
        ended += 1
    return ended
