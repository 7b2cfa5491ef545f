"""Control groups: they bound all processes of a sandbox together, and end all of them at once."""

import asyncio
import contextlib
import errno
import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from skillyard.sandbox.local.cgroup_janitor import Janitor
from skillyard.sandbox.place import Limits

_MEMBERSHIP: Final = Path("/proc/self/cgroup")
_ROOT: Final = Path("/sys/fs/cgroup")
_PREFIX: Final = "skillyard-"
_SERVER: Final = "skillyard-server"
_OVERHEAD_PROCESSES: Final = 8
"""What starts and watches a sandbox comes on top of what it may run."""
_REMOVALS: Final = 50
_REMOVAL_SECONDS: Final = 0.01
_SHARES: Final = 256
_WEIGHT: Final = 25
"""A quarter of what others have by default: however many processes a sandbox has, the server gets its turn."""
CPU: Final = "cpu"
MEMORY: Final = "memory"
PIDS: Final = "pids"


@dataclass(frozen=True, kw_only=True)
class Hierarchy:
    """A place where this process may make groups."""

    folder: Path
    controllers: frozenset[str]
    unified: bool

    def bounds(self, limits: Limits) -> Iterator[tuple[str, int]]:
        """File and value of each bound, in the order in which they can be set."""
        if MEMORY in self.controllers and self.unified:
            yield "memory.max", limits.memory_bytes
            yield "memory.swap.max", 0
            yield "memory.oom.group", 0
        elif MEMORY in self.controllers:
            yield "memory.limit_in_bytes", limits.memory_bytes
            yield "memory.memsw.limit_in_bytes", limits.memory_bytes
        if PIDS in self.controllers:
            yield "pids.max", limits.processes + _OVERHEAD_PROCESSES
        if CPU in self.controllers:
            yield ("cpu.weight", _WEIGHT) if self.unified else ("cpu.shares", _SHARES)


class Group:
    """The groups of one sandbox, one in each hierarchy."""

    def __init__(self, folders: Collection[Path]) -> None:
        self.folders = tuple(folders)

    @property
    def entrances(self) -> tuple[str, ...]:
        """The files that a process writes itself to, to join."""
        return tuple(str(folder / "cgroup.procs") for folder in self.folders)

    def kill(self) -> None:
        """End every process in it, also those that made themselves daemons."""
        for folder in self.folders:
            with contextlib.suppress(OSError):
                (folder / "pids.max").write_text("0", encoding="ascii")  # so that nothing slips away by forking
            try:
                (folder / "cgroup.kill").write_text("1", encoding="ascii")
            except OSError:
                for pid in _members(folder):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, 9)

    async def remove(self) -> None:
        """End what is left in it, and give it back."""
        self.kill()
        for folder in self.folders:
            for _ in range(_REMOVALS):
                if _removed(folder):
                    break
                await asyncio.sleep(_REMOVAL_SECONDS)


class Cgroups:
    """Makes groups below those that this process is in, so that what bounds the server bounds its sandboxes too."""

    def __init__(self, hierarchies: Collection[Hierarchy]) -> None:
        self._hierarchies = tuple(hierarchies)
        self._prefix = f"{_PREFIX}{os.urandom(4).hex()}-"
        self._janitor: Janitor | None = None
        self.available = bool(hierarchies)
        """Whether processes can be kept together, so that all are found at the end."""
        self.controllers = frozenset[str]().union(*(each.controllers for each in hierarchies))

    @classmethod
    def here(cls, membership: Path = _MEMBERSHIP, root: Path = _ROOT) -> "Cgroups":
        """Those hierarchies in which groups can be made by whoever runs this."""
        try:
            lines = membership.read_text(encoding="utf-8").splitlines()
        except OSError:
            return cls(())
        found: list[Hierarchy] = []
        for line in lines:
            _, names, path = line.split(":", 2)
            if names:
                controllers = frozenset(names.split(",")) & {CPU, MEMORY, PIDS}
                folder = root / names / path.lstrip("/")
                if controllers and _may_make(folder):
                    found.append(Hierarchy(folder=folder, controllers=controllers, unified=False))
            elif unified := _unified(root, path):
                found.append(unified)
        return cls(found)

    def make(self, sandbox_id: str, limits: Limits) -> Group:
        """A group with its bounds; what cannot be set here is not in `controllers` either."""
        if self._janitor is None:
            self._janitor = Janitor([hierarchy.folder for hierarchy in self._hierarchies], self._prefix)
        folders: list[Path] = []
        try:
            for hierarchy in self._hierarchies:
                folder = hierarchy.folder / f"{self._prefix}{sandbox_id}-{os.urandom(4).hex()}"
                folder.mkdir()
                folders.append(folder)
                for name, value in hierarchy.bounds(limits):
                    _set(folder / name, value)
        except BaseException:
            for folder in folders:
                _removed(folder)
            raise
        return Group(folders)

    def close(self) -> None:
        """All groups are given back, or nobody cares any more."""
        if self._janitor is not None:
            self._janitor.dismiss()
            self._janitor = None


def _unified(root: Path, path: str) -> Hierarchy | None:
    mounted = next((place for place in (root, root / "unified") if (place / "cgroup.controllers").exists()), None)
    if mounted is None:
        return None
    folder = mounted / path.lstrip("/")
    if not _may_make(folder):
        return None
    there = frozenset((folder / "cgroup.controllers").read_text(encoding="ascii").split())
    offered = there & {MEMORY, PIDS}
    if offered and not _hand_down(folder, offered):
        offered = frozenset[str]()
    # By itself: a machine with real-time processes does not hand it down, and has the others all the same.
    elif CPU in there and _hand_down(folder, {CPU}):
        offered |= {CPU}
    return Hierarchy(folder=folder, controllers=offered, unified=True)


def _hand_down(folder: Path, controllers: Collection[str]) -> bool:
    """Let groups below have these controllers: the kernel wants no process in between, so the server moves down."""
    wanted = " ".join(f"+{name}" for name in sorted(controllers))
    control = folder / "cgroup.subtree_control"
    try:
        control.write_text(wanted, encoding="ascii")
    except OSError as error:
        if error.errno != errno.EBUSY or set(_members(folder)) != {os.getpid()}:
            return False
        try:
            (folder / _SERVER).mkdir(exist_ok=True)
            (folder / _SERVER / "cgroup.procs").write_text("0", encoding="ascii")
            control.write_text(wanted, encoding="ascii")
        except OSError:
            return False
    return True


def _may_make(folder: Path) -> bool:
    """By making one: permissions say little, as root may be bounded too."""
    attempt = folder / f"{_PREFIX}try-{os.urandom(4).hex()}"
    try:
        attempt.mkdir()
    except OSError:
        return False
    usable = os.access(attempt / "cgroup.procs", os.W_OK) and os.access(folder / "cgroup.procs", os.W_OK)
    _removed(attempt)
    return usable


def _set(file: Path, value: int) -> None:
    """Set a bound; kernels without accounting of swap have no file for it."""
    with contextlib.suppress(FileNotFoundError):
        file.write_text(str(value), encoding="ascii")


def _members(folder: Path) -> list[int]:
    try:
        return [int(line) for line in (folder / "cgroup.procs").read_text(encoding="ascii").split()]
    except OSError:
        return []


def _removed(folder: Path) -> bool:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
