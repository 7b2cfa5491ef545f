"""Knowing at next to no cost that nothing below a folder changed: the kernel (inotify) is asked, not the disk.

Events are in the kernel's queue before the call that made the change returns, so whoever asks afterwards is told,
without a thread and without waiting. Where that cannot be relied on there is no watch, and the disk is looked at.
"""

import ctypes
import os
import re
import struct
import threading
import weakref
from functools import cache
from typing import Any, Final

from skillyard.skill.bundle import left_out_part

MAX_FOLDERS: Final = 40_000
"""Folders that one watch takes: each holds memory of the kernel, of which all programs of a person share a quota."""
_TOLD_RELIABLY: Final = frozenset(
    {"ext2", "ext3", "ext4", "xfs", "btrfs", "tmpfs", "overlay", "zfs", "f2fs", "bcachefs"}
)
"""Disks of which every change passes through this kernel; those over a network are not among them."""
_MODIFY, _ATTRIB, _CLOSE_WRITE, _MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 0x2, 0x4, 0x8, 0x40, 0x80, 0x100, 0x200
_UNMOUNT, _OVERFLOW, _IGNORED = 0x2000, 0x4000, 0x8000
_ONLY_FOLDERS, _NO_LINKS, _IS_FOLDER = 0x1000000, 0x2000000, 0x40000000
_CHANGES: Final = _MODIFY | _ATTRIB | _CLOSE_WRITE | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE
_WATCHED: Final = _CHANGES | _ONLY_FOLDERS | _NO_LINKS
_EVENT: Final = struct.Struct("iIII")
_READ_BYTES: Final = 64 * 1024
_ESCAPED: Final = re.compile(r"\\([0-7]{3})")


class KernelWatch:
    """All folders below a root, watched from now on; making one fails with an OSError where that cannot be done."""

    def __init__(self, root: str) -> None:
        _require_reliable(root)
        self._root = root
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._changes = 0
        self._has_ended = False
        self._folders: dict[int, str] = {}
        self._fd = _made(_inotify().inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
        weakref.finalize(self, os.close, self._fd)
        self._place = self._identity()
        if self._place is None:
            raise FileNotFoundError(root)
        self._add(root)

    def changes(self) -> int | None:
        """A number that is another one after anything changed; None once this watch can no longer tell."""
        # A forked process has the same queue, and would take what the other is to be told.
        if self._has_ended or self._process != os.getpid() or self._identity() != self._place:
            return None
        with self._lock:
            self._read_queue()
            return None if self._has_ended else self._changes

    def _read_queue(self) -> None:
        while True:
            try:
                data = os.read(self._fd, _READ_BYTES)
            except BlockingIOError:
                return
            self._changes += 1
            at = 0
            while at < len(data):
                number, mask, _, length = _EVENT.unpack_from(data, at)
                name = os.fsdecode(data[at + _EVENT.size : at + _EVENT.size + length].rstrip(b"\0"))
                at += _EVENT.size + length
                self._take(number, mask, name)

    def _take(self, number: int, mask: int, name: str) -> None:
        if mask & (_UNMOUNT | _OVERFLOW):
            self._has_ended = True
        elif mask & _IGNORED:
            self._folders.pop(number, None)
        elif mask & _IS_FOLDER and mask & (_CREATE | _MOVED_TO) and not left_out_part(name):
            # A folder that was moved within the root is watched already, and now known by its new path.
            try:
                self._add(f"{self._folders[number]}/{name}")
            except (OSError, KeyError):
                self._has_ended = True

    def _add(self, folder: str) -> None:
        """Watch a folder and those below it; one that goes away meanwhile needs no watch."""
        waiting = [folder]
        while waiting:
            path = waiting.pop()
            if len(self._folders) >= MAX_FOLDERS:
                raise OSError(f"{self._root} has more than {MAX_FOLDERS:,} folders")
            try:
                # Watched before it is listed: what comes to it in between is told.
                self._folders[_made(_inotify().inotify_add_watch(self._fd, os.fsencode(path), _WATCHED))] = path
                with os.scandir(path) as scan:
                    found = [entry for entry in scan if entry.is_dir(follow_symlinks=False)]
            except (FileNotFoundError, NotADirectoryError):
                continue
            waiting += [entry.path for entry in found if not left_out_part(entry.name)]

    def _identity(self) -> tuple[int, int] | None:
        try:
            status = os.stat(self._root)  # noqa: PTH116 -- asked at every look
        except OSError:
            return None
        return status.st_dev, status.st_ino


def _require_reliable(root: str) -> None:
    """Refuses disks that others may write to behind this kernel's back, and folders on several disks."""
    kind, longest = "", -1
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as mounts:  # noqa: PTH123 -- no file
        for line in mounts:
            fields, _, disk = line.partition(" - ")
            place = _ESCAPED.sub(lambda found: chr(int(found[1], 8)), fields.split(" ")[4])
            if place.startswith(f"{root.rstrip('/')}/"):
                raise OSError(f"{place} below {root} is another disk")
            if (root == place or root.startswith(f"{place.rstrip('/')}/")) and len(place) >= longest:
                kind, longest = disk.split(" ")[0], len(place)
    if kind not in _TOLD_RELIABLY:
        raise OSError(f"{root} is on a disk of the kind {kind!r}")


@cache
def _inotify() -> Any:  # noqa: ANN401 -- functions of the C library
    library = ctypes.CDLL(None, use_errno=True)
    try:
        library.inotify_add_watch.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_uint32)
        library.inotify_init1.argtypes = (ctypes.c_int,)
    except AttributeError:
        raise OSError("this system has no inotify") from None
    return library


def _made(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
