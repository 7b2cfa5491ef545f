"""Locks on open files: the system gives them back when their process ends, however it ends."""

import os
import sys

if sys.platform == "win32":
    import msvcrt

    def lock(descriptor: int) -> None:
        """Wait until nobody else holds a file, then hold it."""
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)

    def lock_now(descriptor: int) -> None:
        """Hold a file; a BlockingIOError where somebody else does."""
        os.lseek(descriptor, 0, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            raise BlockingIOError from error
else:
    import fcntl

    def lock(descriptor: int) -> None:
        """Wait until nobody else holds a file, then hold it."""
        fcntl.flock(descriptor, fcntl.LOCK_EX)

    def lock_now(descriptor: int) -> None:
        """Hold a file; a BlockingIOError where somebody else does."""
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
