"""Watching what the folders of a sandbox take up, from outside, where nothing inside can look away."""

import asyncio
import contextlib
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from skillyard.sandbox.local.processes import SYSTEM, descendants, hidden_bytes

_LOOK_SECONDS: Final = 0.1
"""Between looks at the free space, which cost next to nothing."""
_MEASURE_SECONDS: Final = 5.0
"""Between measurements when the free space says nothing new."""
_REST: Final = 10
"""A measurement is followed by this many times its own duration without one."""
_TIMEOUT_SECONDS: Final = 60.0
_BYTES_PER_FILE: Final = 2048
"""A folder may have one file for so many bytes of its bound, or a file system runs out of entries before bytes."""


@dataclass(frozen=True, kw_only=True)
class Usage:
    """What folders take up, or may."""

    bytes_used: int
    files: int

    @classmethod
    def at_most(cls, bytes_used: int) -> "Usage":
        """A bound on both."""
        return cls(bytes_used=bytes_used, files=max(bytes_used // _BYTES_PER_FILE, 1))

    def over(self, bound: "Usage") -> bool:
        return self.bytes_used > bound.bytes_used or self.files > bound.files


async def measure(folders: Sequence[Path], pid: int | None = None) -> Usage:
    """What is in these folders, and what the processes below `pid` keep there in removed files.

    By `du`: it follows no link, counts a file with several names once, and holds up nobody here. What cannot be
    counted in some time is more than any bound.
    """
    try:
        return await _measured(folders, pid)
    except TimeoutError:
        return Usage(bytes_used=sys.maxsize, files=sys.maxsize)


async def _measured(folders: Sequence[Path], pid: int | None) -> Usage:
    used, files = await asyncio.gather(_du(folders), _du(folders, "--inodes"))
    if pid is not None:
        used += await asyncio.to_thread(_hidden, folders, pid)
    return Usage(bytes_used=used, files=files)


def _hidden(folders: Sequence[Path], pid: int) -> int:
    below = [pid, *descendants(pid)]
    return sum(hidden_bytes(below, device) for device in {folder.stat().st_dev for folder in folders})


async def _du(folders: Sequence[Path], *options: str) -> int:
    command = ("du", "--summarize", "--total", "--one-file-system", "--block-size=1", *options, "--")
    output, complaints = await _output(*command, *map(str, folders))
    if b"Permission denied" in complaints:  # closed by its owner, to whom we can open it again
        await _output("chmod", "-R", "u+rwX", "--", *map(str, folders))
        output, _ = await _output(*command, *map(str, folders))
    return int(output.rsplit(b"\n", 2)[-2].split(b"\t")[0])


async def _output(*command: str) -> tuple[bytes, bytes]:
    """Run a program in a thread, where it can be given up at any moment: asyncio loses track of one that is."""
    started: list[subprocess.Popen[bytes]] = []

    def run() -> tuple[bytes, bytes]:
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=SYSTEM,
        ) as process:
            started.append(process)
            return process.communicate()

    try:
        async with asyncio.timeout(_TIMEOUT_SECONDS):
            return await asyncio.to_thread(run)
    finally:
        for process in started:
            with contextlib.suppress(ProcessLookupError):
                process.kill()


class DiskWatch:
    """Measures folders while a sandbox runs, at once when free space goes quickly, and ends it when they outgrow."""

    def __init__(
        self, folders: Sequence[Path], bound: Usage, *, pid: int, on_excess: Callable[[Usage], Awaitable[None]]
    ) -> None:
        self._folders = folders
        self._bound = bound
        self._pid = pid
        self._on_excess = on_excess
        self._task = asyncio.create_task(self._watch())

    async def stop(self) -> None:
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task

    async def _watch(self) -> None:
        loop = asyncio.get_running_loop()
        room, free, rested, due = Usage(bytes_used=0, files=0), (0, 0), 0.0, 0.0
        while True:
            now = loop.time()
            less = tuple(before - left for before, left in zip(free, self._free(), strict=True))
            hurried = less[0] > room.bytes_used // 2 or less[1] > room.files // 2
            if now >= due or (hurried and now >= rested):
                free = self._free()
                usage = await measure(self._folders, self._pid)
                if usage.over(self._bound):
                    # Not awaited: whoever ends the sandbox also stops this.
                    self._ending = asyncio.ensure_future(self._on_excess(usage))
                    return
                room = Usage(
                    bytes_used=self._bound.bytes_used - usage.bytes_used, files=self._bound.files - usage.files
                )
                rested = loop.time() + (loop.time() - now) * _REST
                due = max(rested, loop.time() + _MEASURE_SECONDS)
            await asyncio.sleep(_LOOK_SECONDS)

    def _free(self) -> tuple[int, int]:
        state = os.statvfs(self._folders[0])
        return state.f_bfree * state.f_frsize, state.f_ffree
