"""The files of a skill beside its `SKILL.md`, looked at again and again for changes."""

import os
import time
from typing import Final, NamedTuple

from skillyard.library.folder import COARSE_CLOCK_NS
from skillyard.skill.bundle import left_out_part
from skillyard.skill.limits import SKILL_FILE_NAMES

MAX_FILES: Final = 1_000
"""The files of one skill that a look takes in."""

Stamp = tuple[int, int, int]
"""Change time, size and inode: what is written to, replaced or, if a folder, given other names gets another one."""


class Beside(NamedTuple):
    """How the files looked."""

    files: tuple[str, ...]
    stamps: tuple[Stamp | None, ...]
    folders: tuple[str, ...]
    folder_stamps: tuple[Stamp | None, ...]
    """None for a folder that changed just now: its names must be read again."""

    def differs(self, other: "Beside") -> bool:
        return self.stamps != other.stamps or self.files != other.files

    def changed_since(self, moment: int) -> bool:
        """Whether any file or folder changed after a moment, in nanoseconds, or may have."""
        return any(stamp is None or stamp[0] > moment for stamp in (*self.stamps, *self.folder_stamps))


def look_beside(folder: str, before: Beside | None) -> Beside:
    """How the files in a skill's folder look now. Folders that did not change are not listed again."""
    if before is None or None in before.folder_stamps:
        return _listed(folder)
    if tuple(map(_folder_stamp, before.folders)) != before.folder_stamps:
        return _listed(folder)
    stamps = tuple(map(_stamp, before.files))
    return before if stamps == before.stamps else before._replace(stamps=stamps)


def _listed(folder: str) -> Beside:
    settled = time.time_ns() - COARSE_CLOCK_NS
    found: list[str] = []
    folders: list[str] = []
    stamps: list[Stamp | None] = []
    waiting = [folder]
    while waiting and len(found) < MAX_FILES:
        path = waiting.pop()
        # Before its names are read: what comes to it in between must show at the next look.
        stamp = _folder_stamp(path)
        folders.append(path)
        stamps.append(stamp if stamp and stamp[0] < settled else None)
        try:
            with os.scandir(path) as scan:
                entries = list(scan)
        except OSError:
            continue
        for entry in entries:
            if left_out_part(entry.name) or entry.name in SKILL_FILE_NAMES:
                continue
            (waiting if entry.is_dir(follow_symlinks=False) else found).append(entry.path)
    found.sort()
    return Beside(tuple(found), tuple(map(_stamp, found)), tuple(folders), tuple(stamps))


def _stamp(path: str) -> Stamp | None:
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return (status.st_ctime_ns, status.st_size, status.st_ino)


def _folder_stamp(path: str) -> Stamp | None:
    try:
        status = os.stat(path)  # noqa: PTH116 -- thousands of paths, all strings; a skill's folder may be a link
    except OSError:
        return None
    return (status.st_ctime_ns, status.st_size, status.st_ino)
