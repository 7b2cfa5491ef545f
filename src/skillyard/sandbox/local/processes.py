"""Processes of this machine: whose they are, and ending them for sure."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SYSTEM: Final = {"PATH": os.defpath, "LC_ALL": "C"}
"""The environment of the system's own tools: found where systems keep them, whatever the server was started with."""
_PROC: Final = Path("/proc")


@dataclass(frozen=True, kw_only=True)
class Process:
    """One process, as `/proc` has it."""

    pid: int
    parent: int
    threads: int


def all_processes() -> Iterator[Process]:
    """Those that run now; zombies are left out."""
    for entry in os.scandir(_PROC):
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            # The name is in brackets and may contain anything, also brackets.
            fields = (_PROC / entry.name / "stat").read_bytes().rpartition(b")")[2].split()
            if fields[0] != b"Z":
                yield Process(pid=int(entry.name), parent=int(fields[1]), threads=int(fields[17]))


def descendants(pid: int) -> list[int]:
    """The children of a process, their children, and so on."""
    children: dict[int, list[int]] = {}
    for process in all_processes():
        children.setdefault(process.parent, []).append(process.pid)
    found: list[int] = []
    unseen = [pid]
    while unseen:
        below = children.get(unseen.pop(), [])
        found += below
        unseen += below
    return found


def threads_of(uid: int) -> int:
    """How much of its limit of processes a user has used."""
    total = 0
    for process in all_processes():
        with contextlib.suppress(OSError):
            if (_PROC / str(process.pid)).stat().st_uid == uid:
                total += process.threads
    return total


def marked(mark: str) -> list[int]:
    """The processes that have this `NAME=value` in their environment, as far as it can be read."""
    found: list[int] = []
    for process in all_processes():
        with contextlib.suppress(OSError):
            if mark.encode() in (_PROC / str(process.pid) / "environ").read_bytes().split(b"\0"):
                found.append(process.pid)
    return found


async def end_process(pid: int, *, seconds: float, first: signal.Signals = signal.SIGKILL) -> None:
    """End a process by a signal, and by SIGKILL when that does not do it; returns when all below it is gone too."""
    watched = list(_handles([pid, *descendants(pid)]))
    try:
        if watched:
            _signal(watched[0], first)
        if not await _all_gone(watched, seconds):
            for handle in watched:
                _signal(handle, signal.SIGKILL)
            await _all_gone(watched, seconds)
    finally:
        for handle in watched:
            os.close(handle)


def _handles(pids: Iterable[int]) -> Iterator[int]:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            yield os.pidfd_open(pid)


def _signal(handle: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(handle, number)


async def _all_gone(handles: Iterable[int], seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            for handle in handles:
                await _gone(handle)
    except TimeoutError:
        return False
    return True


async def _gone(handle: int) -> None:
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_reader(handle, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(handle)
