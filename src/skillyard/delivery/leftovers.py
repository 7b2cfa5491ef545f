"""Putting right what a crash in the middle of a swap left: folders under a hidden name beside their own."""

import os
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from skillyard.delivery.lock import Lock, LockEntry
from skillyard.delivery.look import look_at
from skillyard.delivery.place import LockPlace
from skillyard.delivery.trash import Trash
from skillyard.errors import SkillyardError
from skillyard.library.disk import discard_folder, left_beside


def put_right(place: LockPlace, lock: Lock, folders: Collection[Path], trash: Trash) -> None:
    """Put a skill back whose place is empty; where another is there now, the old one goes to the trash.

    Only for skills that the lock names, and only while nobody else writes to the place. What cannot be put right
    stays as it is.
    """
    for old, path in (found for folder in sorted(folders) for found in left_beside(folder)):
        with suppress(OSError, SkillyardError):
            entry = lock.at(place.relative(path))
            if entry is None:
                continue
            if not os.path.lexists(path):
                old.rename(path)
            elif _is_elsewhere(old, path, entry):
                discard_folder(old)
            else:
                trash.move(old, was=path, place=place, entry=entry)


def _is_elsewhere(old: Path, path: Path, entry: LockEntry) -> bool:
    """Whether a folder holds only what its source gave, or what is in its place now."""
    seen = look_at(old)
    kept = {look_at(path).digest, entry.digest if entry.verified else ""}
    return bool(seen.digest) and seen.digest in kept and not seen.holds_more
