"""Files of the workspace: read, written, listed and deleted, in steps."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import stat
from typing import TYPE_CHECKING, Any

from failures import Failure
from frames import OUT
from paths import locate, open_below, open_folder

if TYPE_CHECKING:
    from collections.abc import Generator

    from intake import Intake
    from link import Channel
    from paths import Workspace

    Answer = Generator[bool, None, dict[str, Any]]

_PIECE = 256 * 1024
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_MAX_ENTRIES = 50_000
_BATCH = 500
_MAX_DEPTH = 100


def open_file(folder: int, name: str) -> tuple[int, os.stat_result]:
    """A plain file for reading; never through a link, and never waiting as a pipe would make it."""
    fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    status = os.fstat(fd)
    if stat.S_ISREG(status.st_mode):
        return fd, status
    os.close(fd)
    if stat.S_ISDIR(status.st_mode):
        raise Failure("is_folder", f"'{name}' is a folder.")
    raise Failure("not_file", f"'{name}' is no plain file.")


def read(workspace: Workspace, channel: Channel, path: str, max_bytes: int | None) -> Answer:
    with locate(workspace, path) as spot:
        if not spot.name:
            raise Failure("is_folder", f"'{path}' is a folder.")
        fd, status = open_file(spot.folder, spot.name)
    try:
        left = max_bytes
        if left is not None and status.st_size > left:
            raise Failure("too_large", f"'{path}' has {status.st_size} bytes; at most {max_bytes} are read.")
        while True:
            data = os.read(fd, _PIECE)
            if not data:
                return {}
            if left is not None:
                left -= len(data)
                if left < 0:
                    raise Failure("too_large", f"'{path}' has more than the {max_bytes} bytes that are read.")
            yield from channel.put(data, OUT)
    finally:
        os.close(fd)


class Draft:
    """A new file beside the one that it will replace: others see the old one or the new one, never a part.

    In a folder that is `hidden` from them it is written under its own name.
    """

    def __init__(self, folder: int, name: str, *, hidden: bool = False) -> None:
        self._folder = folder
        self._name = name
        self._beside: str | None = None if hidden else f".{secrets.token_hex(8)}.part"
        self._fd = os.open(self._beside or name, _NEW, 0o600, dir_fd=folder)

    def write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._fd, view) :]

    def place(self, *, executable: bool) -> None:
        os.fchmod(self._fd, 0o755 if executable else 0o644)
        if self._beside is not None:
            os.rename(self._beside, self._name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
            self._beside = None

    def close(self) -> None:
        os.close(self._fd)
        if self._beside is not None:
            with contextlib.suppress(OSError):
                os.unlink(self._beside, dir_fd=self._folder)


def write(workspace: Workspace, intake: Intake, path: str, *, executable: bool, max_bytes: int) -> Answer:
    with locate(workspace, path, follow=False, create=True) as spot:
        if not spot.name:
            raise Failure("is_folder", f"'{path}' is a folder.")
        draft = Draft(spot.folder, spot.name)
        try:
            size = 0
            while True:
                piece = yield from intake.take()
                if not piece:
                    break
                size += len(piece)
                if size > max_bytes:
                    raise Failure("too_large", f"A file may have {max_bytes} bytes; '{path}' would have more.")
                draft.write(piece)
            draft.place(executable=executable)
        finally:
            draft.close()
    return {}


def listing(workspace: Workspace, channel: Channel, path: str) -> Answer:
    """One JSON object a line: name, kind, size, modified, executable."""
    folder = open_folder(workspace, path)
    try:
        with os.scandir(folder) as found:
            names = sorted(entry.name for entry in found)
        if len(names) > _MAX_ENTRIES:
            raise Failure("too_large", f"'{path}' has {len(names)} entries; at most {_MAX_ENTRIES} are listed.")
        for at in range(0, len(names), _BATCH):
            lines = [_line(folder, name) for name in names[at : at + _BATCH]]
            yield from channel.put("".join(lines).encode(), OUT)
            yield False
    finally:
        os.close(folder)
    return {}


def _line(folder: int, name: str) -> str:
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return ""  # it went away meanwhile
    entry = {
        "name": os.fsencode(name).decode(errors="replace"),
        "kind": kind_of(status.st_mode),
        "size": status.st_size,
        "modified": status.st_mtime,
        "executable": bool(status.st_mode & 0o111) and stat.S_ISREG(status.st_mode),
    }
    return json.dumps(entry) + "\n"


def kind_of(mode: int) -> str:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "folder"
    return "link" if stat.S_ISLNK(mode) else "other"


def delete(workspace: Workspace, path: str) -> Answer:
    with locate(workspace, path, follow=False) as spot:
        if not spot.name:
            raise Failure("invalid_path", "The workspace itself is not deleted.")
        yield from remove(spot.folder, spot.name)
    return {}


def remove(folder: int, name: str) -> Generator[bool, None, None]:
    """A file, a link itself, or a folder with all that is in it, however deep."""
    waiting = [name]
    if _unlinked(folder, name):
        return
    while waiting:
        yield from _remove_folder(folder, waiting.pop(), folder, waiting, 0)


def _unlinked(folder: int, name: str) -> bool:
    """Remove what is no folder; false when it is one."""
    try:
        os.unlink(name, dir_fd=folder)
    except (IsADirectoryError, PermissionError):
        if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            return False
        raise
    return True


def _remove_folder(parent: int, name: str, top: int, waiting: list[str], depth: int) -> Generator[bool, None, None]:
    try:
        folder = open_below(parent, name)
    except PermissionError:
        os.chmod(name, 0o700, dir_fd=parent)
        folder = open_below(parent, name)
    try:
        os.fchmod(folder, 0o700)
        with os.scandir(folder) as found:
            names = [entry.name for entry in found]
        for count, inner in enumerate(names):
            if count % _BATCH == 0:
                yield False
            if _unlinked(folder, inner):
                continue
            if depth < _MAX_DEPTH:
                yield from _remove_folder(folder, inner, top, waiting, depth + 1)
            else:  # too deep to be reached with few open folders: moved up, and removed from there
                moved = f".{secrets.token_hex(8)}.gone"
                os.rename(inner, moved, src_dir_fd=folder, dst_dir_fd=top)
                waiting.append(moved)
    finally:
        os.close(folder)
    os.rmdir(name, dir_fd=parent)
