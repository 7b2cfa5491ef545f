"""What Landlock of this kernel can close, and what stays open to a sandbox by it."""

import ctypes
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from skillyard.sandbox.local.inside import CONFIGURATION, MERGED, SYSTEM
from skillyard.sandbox.local.launch import LandlockRules

_CREATE_RULESET: Final = 444
_VERSION: Final = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = (1 << n for n in range(4))
_MAKE_CHAR, _MAKE_BLOCK = 1 << 6, 1 << 11
_RIGHTS: Final = {1: 13, 2: 14, 3: 15, 5: 16}
"""How many rights to files there are, since which version."""
_TCP: Final = 0b11
_SCOPES: Final = 0b11

TRUNCATE_SINCE: Final = 3
TCP_SINCE: Final = 4
SCOPES_SINCE: Final = 6

READ: Final = _EXECUTE | _READ_FILE | _READ_DIR
LOOK: Final = _READ_FILE | _READ_DIR
DEVICE: Final = _READ_FILE | _WRITE_FILE

_DEVICES: Final = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_FACTS: Final = (
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/uptime",
    "/proc/version",
    "/sys/devices/system/cpu",
)
"""What programs ask of the machine that says nothing about who else runs on it."""


@dataclass(frozen=True, kw_only=True)
class Landlock:
    """Landlock as this kernel has it; the version is 0 where there is none."""

    version: int

    @property
    def _files(self) -> int:
        newest = max(since for since in _RIGHTS if since <= self.version)
        return (1 << _RIGHTS[newest]) - 1

    @property
    def work(self) -> int:
        """Everything that can be done with files, but making devices."""
        return self._files & ~(_MAKE_CHAR | _MAKE_BLOCK)

    def rules(self, paths: dict[str, int]) -> LandlockRules:
        """Close all that can be closed, but for the system, read-only, and these paths."""
        handled = [self._files]
        if self.version >= TCP_SINCE:
            handled.append(_TCP)
        if self.version >= SCOPES_SINCE:
            handled.append(_SCOPES)
        known = self._files
        opened = {**dict(_system()), **paths}
        return LandlockRules(
            handled=tuple(handled), paths=tuple((path, rights & known) for path, rights in opened.items())
        )


def _system() -> Iterator[tuple[str, int]]:
    for path in (SYSTEM, *MERGED):
        yield path, READ
    for path in (*CONFIGURATION, "/etc/nsswitch.conf", *_FACTS):
        yield path, LOOK
    for path in _DEVICES:
        yield path, DEVICE


@cache
def landlock_here() -> Landlock:
    """Ask the kernel."""
    if sys.platform != "linux":
        return Landlock(version=0)
    library = ctypes.CDLL(None)
    version = library.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION)
    return Landlock(version=max(0, version))
