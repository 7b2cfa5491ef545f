"""Archives of the workspace: unpacked into it file by file, and packed from it, in steps."""

from __future__ import annotations

import contextlib
import os
import posixpath
import secrets
import stat
import tarfile
import tempfile
from typing import IO, TYPE_CHECKING

import kernel
from failures import Failure
from files import Draft, open_file, remove
from frames import OUT
from paths import Workspace, locate, open_below, open_folder

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from files import Answer
    from intake import Intake
    from link import Channel

_PIECE = 256 * 1024
_IN_MEMORY = 16 * 1024 * 1024
_MAX_MEMBERS = 100_000
_MAX_DEPTH = 64
_BATCH = 50


class Unpacking:
    """An archive on its way into the workspace. Nothing is changed before all of it was seen to be fit for that."""

    def __init__(self, workspace: Workspace, *, max_bytes: int, max_file_bytes: int) -> None:
        self._workspace = workspace
        self._max_bytes = max_bytes
        self._max_file_bytes = max_file_bytes

    def answer(self, intake: Intake, path: str, removals: Sequence[str]) -> Answer:
        with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as archive:
            size = 0
            while True:
                piece = yield from intake.take()
                if not piece:
                    break
                size += len(piece)
                self._bound(size)
                archive.write(piece)
            archive.seek(0)
            members = list(self._members(archive)) if size else []
            removed = {posixpath.relpath(target, path): target for target in removals}
            folders = _folders(members)
            for name, target in removed.items():
                if name not in folders:
                    yield from self._remove(target)
            if members:
                yield from self._write(archive, path, members, {name for name in folders if name in removed})
        return {}

    def _members(self, archive: IO[bytes]) -> Generator[tuple[str, tarfile.TarInfo], None, None]:
        total = 0
        try:
            with tarfile.open(fileobj=archive, mode="r:") as tar:
                for count, member in enumerate(tar, start=1):
                    if count > _MAX_MEMBERS:
                        raise Failure("refused", f"The archive has more than {_MAX_MEMBERS} members.")
                    if not (member.isreg() or member.isdir()):
                        raise Failure("refused", f"'{member.name}' in the archive is neither a file nor a folder.")
                    total += member.size
                    self._bound(total)
                    if member.size > self._max_file_bytes:
                        raise Failure("too_large", f"'{member.name}' is larger than {self._max_file_bytes} bytes.")
                    yield _safe(member.name), member
        except (tarfile.TarError, EOFError, ValueError) as error:
            raise Failure("refused", f"This is no tar archive: {error}.") from error

    def _bound(self, size: int) -> None:
        if size > self._max_bytes:
            raise Failure("too_large", f"The archive is larger than {self._max_bytes} bytes.")

    def _remove(self, path: str) -> Generator[bool, None, None]:
        try:
            with locate(self._workspace, path, follow=False) as spot:
                if not spot.name:
                    raise Failure("invalid_path", "The workspace itself is not removed.")
                yield from remove(spot.folder, spot.name)
        except (FileNotFoundError, NotADirectoryError):
            pass  # then there is nothing to remove

    def _write(
        self, archive: IO[bytes], path: str, members: list[tuple[str, tarfile.TarInfo]], replaced: set[str]
    ) -> Generator[bool, None, None]:
        """Folders that are new, or take the place of removed ones, are written out of sight and shown whole."""
        top = _made_folder(self._workspace, path)
        fresh = [name for name in _folders(members) if name in replaced or not _exists(top, name)]
        staged = {name: f".{secrets.token_hex(8)}.part" for name in fresh}
        try:
            folder, opened = "", os.dup(top)
            try:
                for count, (name, member) in enumerate(members):
                    if count % _BATCH == 0:
                        yield False
                    first, _, rest = name.partition("/")
                    hidden = first in staged
                    placed = posixpath.join(staged[first], rest) if hidden else name
                    parent = placed.rstrip("/") if member.isdir() else posixpath.dirname(placed)
                    if parent != folder:
                        inner = _descend(top, parent)
                        os.close(opened)
                        folder, opened = parent, inner
                    if member.isreg():
                        yield from _write_file(archive, opened, posixpath.basename(placed), member, hidden=hidden)
            finally:
                os.close(opened)
            for name, beside in staged.items():
                yield from _show(top, beside, name)
        finally:
            for beside in staged.values():
                with contextlib.suppress(FileNotFoundError):
                    yield from remove(top, beside)
            os.close(top)


def _safe(name: str) -> str:
    parts = [part for part in name.split("/") if part not in {"", "."}]
    if name.startswith("/") or ".." in parts or "\0" in name or len(parts) > _MAX_DEPTH:
        raise Failure("refused", f"'{name}' in the archive does not stay in its folder.")
    return "/".join(parts)


def _folders(members: Sequence[tuple[str, tarfile.TarInfo]]) -> dict[str, None]:
    """The folders at the top of an archive, in its order."""
    return {name.partition("/")[0]: None for name, member in members if "/" in name or (name and member.isdir())}


def _exists(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _show(top: int, beside: str, name: str) -> Generator[bool, None, None]:
    """Let a folder that was written out of sight take its place; what was there takes its name, and is removed."""
    if not kernel.exchange(top, beside, name):
        if _exists(top, name):
            yield from remove(top, name)
        os.rename(beside, name, src_dir_fd=top, dst_dir_fd=top)


def _made_folder(workspace: Workspace, path: str) -> int:
    with locate(workspace, path, create=True) as spot:
        if spot.name:
            raise Failure("not_folder", f"'{path}' is no folder.")
        return os.dup(spot.folder)


def _descend(top: int, path: str) -> int:
    """Go down from an open folder, making what is missing, and never through a link."""
    folder = os.dup(top)
    for part in path.split("/") if path else ():
        try:
            try:
                inner = open_below(folder, part)
            except FileNotFoundError:
                os.mkdir(part, 0o755, dir_fd=folder)
                inner = open_below(folder, part)
        except OSError as error:
            raise Failure("not_folder", f"'{part}' in '{path}' is no folder: {error.strerror}.") from error
        finally:
            os.close(folder)
        folder = inner
    return folder


def _write_file(
    archive: IO[bytes], folder: int, name: str, member: tarfile.TarInfo, *, hidden: bool
) -> Generator[bool, None, None]:
    """A file of the archive; in a folder that nobody sees yet it needs no other name while it is written."""
    if not name:
        raise Failure("refused", "A file in the archive has no name.")
    draft = Draft(folder, name, hidden=hidden)
    try:
        archive.seek(member.offset_data)
        left = member.size
        while left:
            data = archive.read(min(left, _PIECE))
            if not data:
                raise Failure("refused", "The archive ends too early.")
            left -= len(data)
            draft.write(data)
            if left:
                yield False
        draft.place(executable=bool(member.mode & 0o111))
    finally:
        draft.close()


def packed(workspace: Workspace, channel: Channel, path: str) -> Answer:
    """A folder or a file as a tar; links and special files are left out."""
    with locate(workspace, path) as spot:
        if spot.name:
            yield from _pack_file(channel, spot.folder, spot.name, spot.name)
            yield from channel.put(b"\0" * (2 * tarfile.BLOCKSIZE), OUT)
            return {}
    folder = open_folder(workspace, path)
    try:
        yield from _pack_folder(channel, folder, "", 0)
    finally:
        os.close(folder)
    yield from channel.put(b"\0" * (2 * tarfile.BLOCKSIZE), OUT)
    return {}


def _pack_folder(channel: Channel, folder: int, prefix: str, depth: int) -> Generator[bool, None, None]:
    if depth > _MAX_DEPTH:
        raise Failure("too_large", f"'{prefix}' is more than {_MAX_DEPTH} folders deep.")
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        path = prefix + entry.name
        if entry.is_file(follow_symlinks=False):
            yield from _pack_file(channel, folder, entry.name, path)
        elif entry.is_dir(follow_symlinks=False):
            inner = open_below(folder, entry.name)
            try:
                yield from channel.put(_header(path, os.fstat(inner), tarfile.DIRTYPE), OUT)
                yield from _pack_folder(channel, inner, f"{path}/", depth + 1)
            finally:
                os.close(inner)


def _header(path: str, status: os.stat_result, kind: bytes) -> bytes:
    member = tarfile.TarInfo(path)
    member.type = kind
    member.size = status.st_size if kind == tarfile.REGTYPE else 0
    member.mtime = int(status.st_mtime)
    member.mode = 0o755 if kind == tarfile.DIRTYPE or status.st_mode & 0o111 else 0o644
    return member.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape")


def _pack_file(channel: Channel, folder: int, name: str, path: str) -> Generator[bool, None, None]:
    fd, status = open_file(folder, name)
    try:
        if not stat.S_ISREG(status.st_mode):
            return
        yield from channel.put(_header(path, status, tarfile.REGTYPE), OUT)
        left = status.st_size
        while left:
            # What shrinks meanwhile is filled up, what grows is cut: the header is out already.
            data = os.read(fd, min(left, _PIECE)) or b"\0" * min(left, _PIECE)
            left -= len(data)
            yield from channel.put(data, OUT)
            yield False
        yield from channel.put(b"\0" * (-status.st_size % tarfile.BLOCKSIZE), OUT)
    finally:
        os.close(fd)
