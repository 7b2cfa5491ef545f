"""What a sandbox is to be: its limits, its network, and what it finds inside."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from skillyard.sandbox.network import NONE, NetworkPolicy

WORKSPACE: Final = "/workspace"
"""Where every sandbox has its files; paths that people give are relative to it."""
LABEL_LENGTH: Final = 256
"""Characters of the name and of the value of a label."""

MIB: Final = 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The most that a sandbox may use; what a backend really enforces is in its `Capabilities`."""

    memory_bytes: int = 1024 * MIB
    """Of one process where only rlimits bound it, of all together where cgroups do."""
    processes: int = 128
    """Threads count as well: a browser has more than a hundred."""
    open_files: int = 1024
    file_bytes: int = 512 * MIB
    disk_bytes: int = 1024 * MIB
    """Of the whole workspace."""
    tmp_bytes: int = 256 * MIB
    cpu_seconds: int = 600
    """Of one process."""
    output_bytes: int = 4 * MIB
    """Of one execution; what comes after is dropped, and that is said."""


@dataclass(frozen=True, kw_only=True)
class Mount:
    """A folder or file of the host that is seen inside, read-only unless said otherwise."""

    source: Path
    target: str
    writable: bool = False


@dataclass(frozen=True, kw_only=True)
class Place:
    """One sandbox to start. The same place, started again, finds the files of its cargo."""

    sandbox_id: str
    cargo_id: str
    limits: Limits = Limits()
    network: NetworkPolicy = NONE
    mounts: tuple[Mount, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
