"""What a backend can do here, and which isolation it enforces: proven, not promised."""

from dataclasses import dataclass
from enum import StrEnum


class Ability(StrEnum):
    """What can be asked of a sandbox."""

    PYTHON = "python"
    SHELL = "shell"
    FILESYSTEM = "filesystem"
    BROWSER = "browser"
    NETWORK = "network"
    """An allow-list of endpoints; without it the network is `none`."""
    SNAPSHOT = "snapshot"


class Barrier(StrEnum):
    """Something a sandbox keeps apart or bounds."""

    FILES = "files"
    """Nothing of the host is written, and nothing of its people is read."""
    NETWORK = "network"
    PROCESSES = "processes"
    """Processes outside are neither seen nor signalled."""
    KERNEL = "kernel"
    """No privileges, no user namespaces, no dangerous system calls, no kernel settings."""
    MEMORY = "memory"
    """Of one process."""
    MEMORY_TOTAL = "memory_total"
    PROCESS_COUNT = "process_count"
    FILE_SIZE = "file_size"
    DISK = "disk"
    """The size of the whole workspace."""


BOUNDARY = frozenset({Barrier.FILES, Barrier.NETWORK, Barrier.PROCESSES, Barrier.KERNEL})
"""Without these a backend is never chosen by itself."""


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """What a backend offers on this machine."""

    backend: str
    available: bool
    abilities: frozenset[Ability] = frozenset()
    enforced: frozenset[Barrier] = frozenset()
    reason: str = ""
    """Why it is not available, or what it does not contain."""
    fix: str = ""
    """A command to paste that makes it available, or better."""

    @property
    def trusted(self) -> bool:
        """Whether it may be chosen without being asked for."""
        return self.available and self.enforced >= BOUNDARY
