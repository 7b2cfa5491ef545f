"""Who may write an index: one process at a time, told by a lock that ends with it, however it ends."""

from pathlib import Path
from typing import BinaryIO

from skillyard.file_lock import lock_now
from skillyard.files import make_folder


class Pen:
    """The right to write, which at most one holder has."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._held: BinaryIO | None = None

    def take(self) -> bool:
        """Have it if nobody else does; never waits."""
        if self._held is None:
            make_folder(self._path.parent)
            stream = self._path.open("ab")
            try:
                lock_now(stream.fileno())
            except OSError:
                stream.close()
                return False
            self._held = stream
        return True

    def put_down(self) -> None:
        if self._held is not None:
            self._held.close()
            self._held = None
