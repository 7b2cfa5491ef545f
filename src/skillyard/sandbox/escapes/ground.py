"""What attempts stand on: what there is to find, and system calls without a function of their own."""

from __future__ import annotations

import ctypes
import os
from typing import Any

NEWNS, NEWUTS, NEWUSER, NEWNET = 0x00020000, 0x04000000, 0x10000000, 0x40000000
SECONDS = 5
"""For one attempt."""

libc = ctypes.CDLL(None, use_errno=True)
world: dict[str, Any] = {}
"""As `probe_world` tells it."""

_PRIVATE = 0x44000
"""For all mounts: `MS_REC | MS_PRIVATE`."""
_X86 = os.uname().machine == "x86_64"
_TEXT = 4096


def checked(result: int) -> int:
    """What a function of the C library answered, unless that was an error."""
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


def call(x86: int, arm: int, *arguments: object) -> int:
    """A system call by its number on each architecture."""
    return checked(libc.syscall(x86 if _X86 else arm, *arguments))


def with_rights(flags: int) -> None:
    """Have the rights that a user gets in namespaces of his own; without them, the attempt still follows."""
    libc.unshare(flags | (0 if os.geteuid() == 0 else NEWUSER))
    if flags & NEWNS:
        libc.mount(b"none", b"/", None, _PRIVATE, None)  # what is mounted where it succeeds is seen by nobody else


def text_of(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123 -- as a hostile program would
        return file.read(_TEXT)
