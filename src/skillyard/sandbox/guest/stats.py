"""What the sandbox uses right now."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from paths import open_below
from processes import descendants

if TYPE_CHECKING:
    from collections.abc import Generator

    from files import Answer
    from paths import Workspace

_BLOCK = 512
_BATCH = 500
_MAX_DEPTH = 100


def answer(workspace: Workspace, *, hidden: int) -> Answer:
    """`hidden` is a process of the guest's own."""
    found = descendants(os.getpid()).values()
    processes = [process for process in found if not process.zombie and process.pid != hidden]
    disk = yield from _disk(workspace.fd, 0)
    return {
        "processes": len(processes),
        "memory_bytes": sum(process.memory_bytes for process in processes),
        "disk_bytes": disk,
        "cpu_seconds": sum(process.cpu_seconds for process in processes) + _ended_cpu_seconds(),
    }


def _ended_cpu_seconds() -> float:
    times = os.times()
    return times.children_user + times.children_system


def _disk(folder: int, depth: int) -> Generator[bool, None, int]:
    """The space taken by a folder; what lies too deep is not counted."""
    size = 0
    with os.scandir(folder) as found:
        entries = list(found)
    for count, entry in enumerate(entries):
        if count % _BATCH == 0:
            yield False
        with contextlib.suppress(OSError):  # it went away meanwhile, or is not for us to look into
            size += os.stat(entry.name, dir_fd=folder, follow_symlinks=False).st_blocks * _BLOCK
            if depth < _MAX_DEPTH and entry.is_dir(follow_symlinks=False):
                inner = open_below(folder, entry.name)
                try:
                    size += yield from _disk(inner, depth + 1)
                finally:
                    os.close(inner)
    return size
