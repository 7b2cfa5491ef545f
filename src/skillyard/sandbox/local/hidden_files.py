"""Removed files that still take up space: processes have them open or mapped, or have sent them to one another."""

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")
_REMOVED: Final = b" (deleted)\n"
_SENT: Final = b"scm_fds:"
"""How the kernel tells of the descriptors that wait in a socket to be received."""


@dataclass(frozen=True, kw_only=True)
class Hidden:
    """What processes keep without a name."""

    bytes_used: int
    unseen: bool
    """Whether descriptors wait in sockets: what they are of cannot be looked at."""


def hidden(pids: Iterable[int], device: int) -> Hidden:
    """What the removed files of some processes take up on a device."""
    sizes: dict[int, int] = {}
    unseen = False
    for pid in pids:
        folder = _PROC / str(pid)
        with contextlib.suppress(OSError):
            for entry in os.scandir(folder / "fd"):
                with contextlib.suppress(OSError):
                    state = entry.stat()
                    _count(state, device, sizes)
                    unseen |= stat.S_ISSOCK(state.st_mode) and _has_sent(folder / "fdinfo" / entry.name)
        with contextlib.suppress(OSError):
            _count_mapped(folder, device, sizes)
    return Hidden(bytes_used=sum(sizes.values()), unseen=unseen)


def _count(state: os.stat_result, device: int, sizes: dict[int, int]) -> None:
    if state.st_dev == device and not state.st_nlink and stat.S_ISREG(state.st_mode):
        sizes[state.st_ino] = state.st_blocks * 512


def _has_sent(about: Path) -> bool:
    lines = about.read_bytes().splitlines()
    return any(line.startswith(_SENT) and int(line.removeprefix(_SENT)) for line in lines)


def _count_mapped(folder: Path, device: int, sizes: dict[int, int]) -> None:
    mapped: dict[int, int] = {}
    for mapping in _removed_maps(folder):
        try:
            _count((folder / "map_files" / mapping.addresses).stat(), device, sizes)
        except OSError:  # unmapped since, or only root may look: at least as much of the file is there
            if mapping.device == device:
                mapped[mapping.inode] = max(mapped.get(mapping.inode, 0), mapping.end)
    for inode, end in mapped.items():
        sizes.setdefault(inode, end)


@dataclass(frozen=True, kw_only=True)
class _Mapping:
    """A part of a removed file in the memory of a process."""

    addresses: str
    device: int
    inode: int
    end: int
    """Where in the file it ends."""


def _removed_maps(folder: Path) -> Iterator[_Mapping]:
    with (folder / "maps").open("rb") as maps:
        for line in maps:
            if line.endswith(_REMOVED):
                addresses, _, offset, device, inode, _ = line.split(None, 5)
                start, end = (int(number, 16) for number in addresses.split(b"-"))
                yield _Mapping(
                    addresses=f"{start:x}-{end:x}",
                    device=os.makedev(*(int(number, 16) for number in device.split(b":"))),
                    inode=int(inode),
                    end=int(offset, 16) + end - start,
                )
