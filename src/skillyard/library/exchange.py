"""Swapping two folders in one step, where the system can."""

import errno
import os
import sys
from typing import Final

_LINUX_AT_CWD: Final = -100
_SWAP: Final = 2
"""`RENAME_EXCHANGE` on Linux, `RENAME_SWAP` on macOS."""
_CANNOT: Final = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP})


def exchange(first: str, second: str) -> bool:
    """Give each of two paths on one disk what the other has; False where that cannot be done in one step."""
    import ctypes  # noqa: PLC0415 - needed for replacing only, and not quick to load

    libc = ctypes.CDLL(None, use_errno=True)
    old, new = os.fsencode(first), os.fsencode(second)
    try:
        if sys.platform == "darwin":
            failed = libc.renamex_np(old, new, _SWAP)
        else:
            failed = libc.renameat2(_LINUX_AT_CWD, old, _LINUX_AT_CWD, new, _SWAP)
    except AttributeError:  # an older system library
        return False
    if not failed:
        return True
    number = ctypes.get_errno()
    if number in _CANNOT:
        return False
    raise OSError(number, os.strerror(number), first, None, second)
