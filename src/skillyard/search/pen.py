"""Who may write an index: one process at a time, told by a lock that ends with it, however it ends."""

import sys
from pathlib import Path
from typing import BinaryIO


class Pen:
    """The right to write, which at most one holder has."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._held: BinaryIO | None = None

    def take(self) -> bool:
        """Have it if nobody else does; never waits."""
        if self._held is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            stream = self._path.open("ab")
            try:
                _lock(stream)
            except OSError:
                stream.close()
                return False
            self._held = stream
        return True

    def put_down(self) -> None:
        if self._held is not None:
            self._held.close()
            self._held = None


def _lock(stream: BinaryIO) -> None:
    """Lock a file; an OSError when it is locked."""
    if sys.platform == "win32":
        import msvcrt  # noqa: PLC0415 -- exists there only

        stream.seek(0)
        msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl  # noqa: PLC0415 -- exists there only

        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
