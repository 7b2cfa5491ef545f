"""Tree digests of what is in the workspace, the same as Skillyard computes them of bundles."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import time
from typing import TYPE_CHECKING

from failures import Failure
from files import open_file
from frames import OUT
from paths import locate, open_below

if TYPE_CHECKING:
    from collections.abc import Generator

    from files import Answer
    from intake import Intake
    from link import Channel
    from paths import Workspace

    Lines = Generator[bool, None, None]
    Identity = tuple[int, int, int, int, int]

LEFT_OUT_NAMES = frozenset({"__pycache__", "node_modules", ".git", "__macosx", ".ds_store"})
APPLE_DOUBLE = "._"
BYTECODE = ".pyc"

_PIECE = 1024 * 1024
_BATCH = 200
_MAX_DEPTH = 64
_MAX_REMEMBERED = 200_000
_SETTLED_NS = 100_000_000
"""A file that was changed so shortly before could be changed once more without a new time on it."""
_TRIES = 5
_NO_FILE = {errno.ELOOP, errno.ENXIO, errno.ENODEV}
"""Why a link, a socket or a device is not opened."""


def left_out(name: str) -> bool:
    folded = name.casefold()
    return folded in LEFT_OUT_NAMES or folded.startswith(APPLE_DOUBLE) or folded.endswith(BYTECODE)


class Digests:
    """Computes digests, and remembers the hashes of files that did not change."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._known: dict[str, tuple[Identity, bytes]] = {}
        """For each path what the file was like, and its line in the digest."""
        self._count = 0
        self._settled_ns: int | None = None

    def answer(self, channel: Channel, intake: Intake) -> Answer:
        """The paths come as a JSON list; the answer is a JSON list of as many digests or nulls."""
        paths = json.loads((yield from intake.all()))
        if self._settled_ns is None:
            self._settled_ns = 0 if every_change_shows(self._workspace.fd) else _SETTLED_NS
        found: list[str | None] = []
        for path in paths:
            digest = yield from self._of(str(path))
            found.append(digest)
        yield from channel.put(json.dumps(found).encode(), OUT)
        return {}

    def _of(self, path: str) -> Generator[bool, None, str | None]:
        lines: list[bytes] = []
        try:
            with locate(self._workspace, path) as spot:
                if spot.name:
                    lines.append((yield from self._line(spot.folder, spot.name, path, spot.name)))
                else:
                    yield from self._walk(spot.folder, path, "", 0, lines)
        except (FileNotFoundError, NotADirectoryError):
            return None
        return "sha256:" + hashlib.sha256(b"".join(sorted(lines))).hexdigest()

    def _walk(self, folder: int, key: str, prefix: str, depth: int, lines: list[bytes]) -> Lines:
        with os.scandir(folder) as found:
            entries = list(found)
        for entry in entries:
            name = entry.name
            if left_out(name):
                continue
            path, inner_key = prefix + name, f"{key}/{name}"
            if not entry.is_dir(follow_symlinks=False):
                known = self._known.get(inner_key)
                if known is not None and known[0] == _identity(entry.stat(follow_symlinks=False)):
                    lines.append(known[1])
                else:
                    lines.append((yield from self._line(folder, name, inner_key, path)))
                self._count += 1
                if self._count % _BATCH == 0:
                    yield False
            elif depth >= _MAX_DEPTH:
                lines.append(_line(path, b"?", b"too deep"))
            else:
                inner = open_below(folder, name)
                try:
                    yield from self._walk(inner, inner_key, f"{path}/", depth + 1, lines)
                finally:
                    os.close(inner)

    def _line(self, folder: int, name: str, key: str, path: str) -> Generator[bool, None, bytes]:
        """The line of a file as it is now. What no bundle has makes the digest one that no bundle has."""
        now = time.time_ns()
        try:
            fd, status = open_file(folder, name)
        except Failure:
            return _line(path, b"?", b"no plain file")
        except PermissionError:
            return _line(path, b"?", b"unreadable")
        except OSError as error:
            if error.errno in _NO_FILE:
                return _line(path, b"?", b"no plain file")
            raise
        digest = hashlib.sha256()
        try:
            most = min(status.st_size + 1, _PIECE)  # one byte more than there should be, so that one look is enough
            while True:
                data = os.read(fd, most)
                digest.update(data)
                if len(data) < most:
                    break
                most = _PIECE
                yield False
        finally:
            os.close(fd)
        line = _line(path, b"x" if status.st_mode & 0o111 else b"-", digest.hexdigest().encode())
        if now - status.st_ctime_ns >= (_SETTLED_NS if self._settled_ns is None else self._settled_ns):
            if len(self._known) >= _MAX_REMEMBERED:
                self._known.clear()
            self._known[key] = (_identity(status), line)
        return line


def every_change_shows(folder: int) -> bool:
    """Whether a file that was looked at gets a new time with each change, as on many systems since Linux 6.13.

    Tried with a file that has no name: where times come from a clock that ticks, changes at once share one.
    """
    try:
        fd = os.open(".", os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600, dir_fd=folder)
    except (OSError, AttributeError):
        return False
    try:
        times: set[int] = set()
        for _ in range(_TRIES):
            os.write(fd, b"x")
            times.add(os.fstat(fd).st_ctime_ns)
    except OSError:
        return False
    finally:
        os.close(fd)
    return len(times) == _TRIES


def _identity(status: os.stat_result) -> Identity:
    return (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_mode)


def _line(path: str, flag: bytes, sha256: bytes) -> bytes:
    return b"%s\0%s\0%s\n" % (os.fsencode(path), flag, sha256)
