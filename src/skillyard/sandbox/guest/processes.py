"""Starting programs under the limits of the sandbox, and finding and ending everything that they started."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import time
from typing import TYPE_CHECKING, NamedTuple

import kernel

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

MARK = "SKILLYARD_RUN"
"""The variable by which a process tells, after it left its group and lost its parent, what it belongs to."""

_LIMITS = {
    "processes": resource.RLIMIT_NPROC,
    "open_files": resource.RLIMIT_NOFILE,
    "file_bytes": resource.RLIMIT_FSIZE,
    "memory_bytes": resource.RLIMIT_AS,
    "cpu_seconds": resource.RLIMIT_CPU,
}
RESET_SIGNALS = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD, signal.SIGINT, signal.SIGTERM)
"""Which this process, being a Python, has set for itself."""
_OOM_FIRST = b"1000"
_STATE, _PARENT, _SESSION, _USER_TIME, _SYSTEM_TIME, _STARTED, _PAGES = 0, 1, 3, 11, 12, 19, 21
_PAGE = resource.getpagesize()
_TICKS = os.sysconf("SC_CLK_TCK")


class Limits:
    """What bounds each process inside, as resource limits."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = {
            number: int(values[name]) for name, number in _LIMITS.items() if isinstance(values.get(name), int)
        }
        self.output_bytes = int(values.get("output_bytes", 4 * 1024 * 1024))
        self.file_bytes = int(values.get("file_bytes", 512 * 1024 * 1024))
        self.disk_bytes = int(values.get("disk_bytes", 1024 * 1024 * 1024))
        self.cpu_seconds = self._values.get(resource.RLIMIT_CPU)

    def apply(self, *, without: Sequence[int] = ()) -> None:
        """Bound this process, which is about to become a program; what is bound tighter already stays so."""
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for number, value in self._values.items():
            if number not in without:
                _, hard = resource.getrlimit(number)
                bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
                resource.setrlimit(number, (bound, bound))


class Program(NamedTuple):
    """What is to be started: descriptors 0, 1 and 2 are given, others are closed unless they are kept."""

    argv: Sequence[str]
    environment: Mapping[str, str]
    folder: int
    files: tuple[int, int, int]
    keep: tuple[int, ...] = ()
    unlimited: tuple[int, ...] = ()


def start(program: Program, limits: Limits) -> int:
    """Start it in a session of its own, as a child of this process."""
    pid = os.fork()
    if pid:
        return pid
    try:
        _become(program, limits)
    finally:
        os._exit(127)  # whatever went wrong, the child must never go on as a second guest


def _become(program: Program, limits: Limits) -> None:
    kernel.die_with_parent()
    os.setsid()
    for number in RESET_SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    os.fchdir(program.folder)
    for target, source in enumerate(program.files):
        os.dup2(source, target)
    for fd in program.keep:
        os.set_inheritable(fd, True)
    close_others({0, 1, 2, *program.keep})  # now: from here on, others may look into this process
    be_killed_first()
    limits.apply(without=program.unlimited)
    os.execvpe(program.argv[0], list(program.argv), dict(program.environment))  # noqa: S606 - that is what it is for


def close_others(kept: set[int]) -> None:
    """What the guest has open: above all its stream to the host, which is for the guest alone."""
    try:
        numbers = [int(name) for name in os.listdir("/proc/self/fd")]  # noqa: PTH208 - only numbers are wanted
    except OSError:
        numbers = list(range(3, 1024))
    for fd in numbers:
        if fd not in kept:
            with contextlib.suppress(OSError):
                os.close(fd)


def be_killed_first() -> None:
    """Before the guest, when memory runs out."""
    kernel.set_dumpable(True)  # the file belongs to root as long as nobody may look into this process
    with contextlib.suppress(OSError):
        set_oom_score(_OOM_FIRST)


def set_oom_score(score: bytes) -> None:
    """How soon this process goes when memory runs out."""
    fd = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
    try:
        os.write(fd, score)
    finally:
        os.close(fd)


class Process(NamedTuple):
    pid: int
    parent: int
    session: int
    zombie: bool
    memory_bytes: int
    cpu_seconds: float
    started: int
    """In ticks, as `ticks` tells the time."""


def ticks() -> int:
    """The time in the unit in which the kernel records the start of processes."""
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * _TICKS)


def look(pid: int) -> Process | None:
    """A process as the kernel tells of it; nothing when there is none."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - quick: there are many
            fields = file.read().rpartition(b")")[2].split()
        return Process(
            pid,
            int(fields[_PARENT]),
            int(fields[_SESSION]),
            fields[_STATE] in b"ZX",
            int(fields[_PAGES]) * _PAGE,
            (int(fields[_USER_TIME]) + int(fields[_SYSTEM_TIME])) / _TICKS,
            int(fields[_STARTED]),
        )
    except (OSError, ValueError, IndexError):
        return None


def descendants(root: int) -> dict[int, Process]:
    """Everything that a process started and what those started; orphans too, when it adopts them."""
    try:
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208
    except OSError:
        return {}
    seen = {process.pid: process for process in map(look, pids) if process is not None}
    return {process.pid: process for process in below([root], seen) if process.pid != root}


def below(roots: Iterable[int], processes: Mapping[int, Process]) -> list[Process]:
    """Those processes and all that come from them."""
    children: dict[int, list[int]] = {}
    for process in processes.values():
        children.setdefault(process.parent, []).append(process.pid)
    found: dict[int, Process] = {}
    waiting = list(roots)
    while waiting:
        pid = waiting.pop()
        if pid not in found and pid in processes:
            found[pid] = processes[pid]
            waiting.extend(children.get(pid, ()))
    return list(found.values())


def mark_of(pid: int) -> str | None:
    """What a process says it belongs to."""
    start_of = MARK.encode() + b"="
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123
            variables = file.read().split(b"\0")
    except OSError:
        return None
    return next(
        (value[len(start_of) :].decode("ascii", "replace") for value in variables if value.startswith(start_of)), None
    )


def belonging(main: int, mark: str, others: Iterable[int]) -> list[Process]:
    """The processes of one run: its first process and all that it started.

    That is its session, every process started from it, and orphans that left the session and carry its mark or hide
    their origin. `others` are the first processes of everything else that runs.
    """
    guest = os.getpid()
    everything = descendants(guest)
    kept = {main, *others}
    roots = [
        process.pid
        for process in everything.values()
        if process.session == main
        or (process.parent == guest and process.pid not in kept and mark_of(process.pid) in {None, mark})
    ]
    return [process for process in below(roots, everything) if not process.zombie]


def kill_run(main: int, mark: str, others: Iterable[int]) -> int:
    """Kill the processes of one run, once; returns how many of them still exist."""
    with contextlib.suppress(OSError):
        os.killpg(main, signal.SIGKILL)
    return _kill(belonging(main, mark, others))


def kill_since(start_of: int, main: int, mark: str, others: Iterable[int]) -> int:
    """Kill what a run started since then, but not its first process; returns how many processes that were."""
    return _kill(each for each in belonging(main, mark, others) if each.started >= start_of and each.pid != main)


def kill_everything() -> int:
    """Kill all that comes from this guest, once; answers how many processes are still there.

    What was started goes before what started it: this guest may itself be killed in the middle, with its host, and what
    starts programs then ends those that it has started.
    """
    everything = list(descendants(os.getpid()).values())  # each after its parent
    return _kill(process for process in reversed(everything) if not process.zombie)


def _kill(processes: Iterable[Process]) -> int:
    count = 0
    for process in processes:
        count += 1
        with contextlib.suppress(OSError):
            os.kill(process.pid, signal.SIGKILL)
    return count
