"""The few system calls that the standard library has no function for."""

from __future__ import annotations

import ctypes
import os
import signal

_SET_PDEATHSIG = 1
_SET_DUMPABLE = 4
_SET_CHILD_SUBREAPER = 36

# `use_errno` is left out: whether it worked is all that is asked, and a child that was just forked calls these too.
_libc = ctypes.CDLL(None)
_prctl = getattr(_libc, "prctl", None)
_renameat2 = getattr(_libc, "renameat2", None)
_RENAME_EXCHANGE = 2


def _call(option: int, value: int) -> bool:
    return _prctl is not None and _prctl(option, ctypes.c_ulong(value), 0, 0, 0) == 0


def die_with_parent() -> bool:
    return _call(_SET_PDEATHSIG, signal.SIGKILL)


def set_dumpable(dumpable: bool) -> bool:
    """Whether others of the same user may look into this process."""
    return _call(_SET_DUMPABLE, int(dumpable))


def adopt_orphans() -> bool:
    """Become the parent of every descendant whose own parent ended, so that none is lost from sight."""
    return _call(_SET_CHILD_SUBREAPER, 1)


def exchange(folder: int, one: str, other: str) -> bool:
    """Let two entries of a folder change their names at one moment; false where that cannot be, or one is missing."""
    names = os.fsencode(one), os.fsencode(other)
    return _renameat2 is not None and _renameat2(folder, names[0], folder, names[1], _RENAME_EXCHANGE) == 0
