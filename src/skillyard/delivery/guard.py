"""One writer at a time: a lock between processes that change the same place."""

import hashlib
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from skillyard.delivery.place import LockPlace
from skillyard.errors import UnavailableError
from skillyard.file_lock import lock
from skillyard.files import make_folder


@contextmanager
def only_writer(place: LockPlace, home: Path) -> Generator[None]:
    """Wait until no other Skillyard process changes this place, then hold it."""
    with _opened(guard_file(place, home)) as stream:
        lock(stream.fileno())
        yield


def guard_file(place: LockPlace, home: Path) -> Path:
    """The file that stands for a place in Skillyard's home."""
    name = hashlib.sha256(os.fsencode(os.path.realpath(place.lock))).hexdigest()[:32]
    return guard_folder(home) / f"{name}.lock"


def guard_folder(home: Path) -> Path:
    return home / "locks"


def _opened(path: Path) -> BinaryIO:
    try:
        make_folder(path.parent)
        return path.open("ab")
    except OSError as error:
        raise UnavailableError(
            f"{path} could not be written: {error.strerror}.",
            hint="Let SKILLYARD_HOME be a folder that you may write to.",
            details={"file": str(path)},
        ) from error
