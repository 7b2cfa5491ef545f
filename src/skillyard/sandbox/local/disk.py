"""Watching what the folders of a sandbox take up, from outside, where nothing inside can look away."""

import asyncio
import contextlib
import logging
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from skillyard.sandbox.local.hidden_files import Hidden, hidden
from skillyard.sandbox.local.processes import SYSTEM, descendants

_LOOK_SECONDS: Final = 0.1
"""Between looks at the free space, which cost next to nothing."""
_MEASURE_SECONDS: Final = 5.0
"""Between measurements when the free space says nothing new."""
_REST: Final = 10
"""A measurement is followed by this many times its own duration without one, unless as much is gone as was left."""
_TIMEOUT_SECONDS: Final = 60.0
_ATTEMPTS: Final = 3
_UNSEEN_SECONDS: Final = 3.0
"""Files that processes send to one another arrive at once; those that are on their way for so long are kept there."""
_BYTES_PER_FILE: Final = 2048
"""A folder may have one file for so many bytes of its bound, or a file system runs out of entries before bytes."""
_CLOSED: Final = b": Permission denied"
_TOTAL: Final = b"\ttotal"
_log: Final = logging.getLogger(__name__)


class _UncountableError(Exception):
    """`du` gave up: it does so when folders are moved about while it is in them."""


@dataclass(frozen=True, kw_only=True)
class Usage:
    """What folders take up, or may."""

    bytes_used: int
    files: int
    unseen: bool = False
    """Whether there may be more, where nobody can look."""

    @classmethod
    def at_most(cls, bytes_used: int) -> "Usage":
        """A bound on both."""
        return cls(bytes_used=bytes_used, files=max(bytes_used // _BYTES_PER_FILE, 1))

    def over(self, bound: "Usage") -> bool:
        return self.bytes_used > bound.bytes_used or self.files > bound.files


async def measure(folders: Sequence[Path], pid: int | None = None) -> Usage:
    """What is in these folders, and what the processes below `pid` keep there in removed files.

    By `du`: it follows no link, counts a file with several names once, and holds up nobody here. What cannot be
    counted, in some time and some attempts, is more than any bound.
    """
    try:
        return await _measured(folders, pid)
    except (TimeoutError, _UncountableError):
        return Usage(bytes_used=sys.maxsize, files=sys.maxsize)


async def _measured(folders: Sequence[Path], pid: int | None) -> Usage:
    used, files = await asyncio.gather(_du(folders), _du(folders, "--inodes"))
    kept = [] if pid is None else await asyncio.to_thread(_hidden, folders, pid)
    return Usage(
        bytes_used=used + sum(each.bytes_used for each in kept),
        files=files,
        unseen=any(each.unseen for each in kept),
    )


def _hidden(folders: Sequence[Path], pid: int) -> list[Hidden]:
    below = [pid, *descendants(pid)]
    return [hidden(below, device) for device in {folder.stat().st_dev for folder in folders}]


async def _du(folders: Sequence[Path], *options: str) -> int:
    command = ("du", "--summarize", "--total", "--one-file-system", "--block-size=1", *options, "--")
    for _ in range(_ATTEMPTS):
        output, complaints = await _output(*command, *map(str, folders))
        # Closed by its owner, to whom we can open it again; nothing is closed to root, who must not change what a
        # link leads to.
        if os.geteuid() and any(line.endswith(_CLOSED) for line in complaints.splitlines()):
            await _output("chmod", "-R", "u+rwX", "--", *map(str, folders))
            output, _ = await _output(*command, *map(str, folders))
        *_, total = output.splitlines() or [b""]
        if total.endswith(_TOTAL):
            return int(total.removesuffix(_TOTAL))
    raise _UncountableError


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


class _Unseen:
    """Counts what cannot be looked at, by what the disk has lost since the start."""

    def __init__(self) -> None:
        self._start: int | None = None
        """What was used then, and what was free."""
        self._since: float | None = None

    def added(self, usage: Usage, free: int, now: float) -> Usage:
        if self._start is None:
            self._start = usage.bytes_used + free
        if not usage.unseen:
            self._since = None
            return usage
        self._since = now if self._since is None else self._since
        if now - self._since < _UNSEEN_SECONDS:
            return usage
        return replace(usage, bytes_used=max(usage.bytes_used, self._start - free))


class DiskWatch:
    """Measures folders while a sandbox runs, at once when free space goes quickly, and ends it when they outgrow."""

    def __init__(
        self,
        folders: Sequence[Path],
        bound: Usage,
        *,
        pid: int,
        on_excess: Callable[[Usage], Awaitable[None]],
        used: Usage | None = None,
    ) -> None:
        """`used` is what was measured just before; without it, that is done first."""
        self._folders = folders
        self._bound = bound
        self._pid = pid
        self._on_excess = on_excess
        self._used = used
        self._task = asyncio.create_task(self._watch())

    async def stop(self) -> None:
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task

    async def _watch(self) -> None:
        loop = asyncio.get_running_loop()
        unseen = _Unseen()
        room, free, awake, rested, due = Usage(bytes_used=0, files=0), (0, 0), 0.0, 0.0, 0.0
        if self._used is not None:
            room, free, due = self._room(self._used), self._free(), loop.time() + _MEASURE_SECONDS
            unseen.added(self._used, free[0], loop.time())
        while True:
            now = loop.time()
            less = tuple(before - left for before, left in zip(free, self._free(), strict=True))
            hurried = less[0] > room.bytes_used // 2 or less[1] > room.files // 2
            pressed = less[0] > room.bytes_used or less[1] > room.files
            if now >= due or (hurried and now >= rested) or (pressed and now >= awake):
                free = self._free()
                try:
                    usage = unseen.added(await measure(self._folders, self._pid), free[0], now)
                except OSError:  # of this machine, which may do better soon
                    _log.exception("sandbox.disk.unmeasured")
                    await asyncio.sleep(_MEASURE_SECONDS)
                    continue
                if usage.over(self._bound):
                    # Not awaited: whoever ends the sandbox also stops this.
                    self._ending = asyncio.ensure_future(self._on_excess(usage))
                    return
                room = self._room(usage)
                ended = loop.time()
                awake, rested = ended + (ended - now), ended + (ended - now) * _REST
                due = max(rested, ended + _MEASURE_SECONDS)
            await asyncio.sleep(_LOOK_SECONDS)

    def _room(self, used: Usage) -> Usage:
        return Usage(bytes_used=self._bound.bytes_used - used.bytes_used, files=self._bound.files - used.files)

    def _free(self) -> tuple[int, int]:
        state = os.statvfs(self._folders[0])
        return state.f_bfree * state.f_frsize, state.f_ffree
