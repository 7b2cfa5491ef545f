"""Tree digests of what is in the workspace, the same as Skillyard computes them of bundles."""

from __future__ import annotations

import hashlib
import json
import os
import stat
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

LEFT_OUT_NAMES = frozenset({"__pycache__", "node_modules", ".git", "__macosx", ".ds_store"})
APPLE_DOUBLE = "._"
BYTECODE = ".pyc"

_PIECE = 1024 * 1024
_BATCH = 200
_MAX_DEPTH = 64
_MAX_REMEMBERED = 200_000
_SETTLED_NS = 100_000_000
"""A file that was changed so shortly before could be changed once more without a new time on it."""


def left_out(name: str) -> bool:
    folded = name.casefold()
    return folded in LEFT_OUT_NAMES or folded.startswith(APPLE_DOUBLE) or folded.endswith(BYTECODE)


class Digests:
    """Computes digests, and remembers the hashes of files that did not change."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._known: dict[str, tuple[tuple[int, int, int, int], str]] = {}
        self._count = 0

    def answer(self, channel: Channel, intake: Intake) -> Answer:
        """The paths come as a JSON list; the answer is a JSON list of as many digests or nulls."""
        paths = json.loads((yield from intake.all()))
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
                    status = os.stat(spot.name, dir_fd=spot.folder, follow_symlinks=False)
                    yield from self._add(spot.folder, spot.name, status, path, spot.name, lines)
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
            path = prefix + name
            if not entry.is_dir(follow_symlinks=False):
                status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                yield from self._add(folder, name, status, f"{key}/{name}", path, lines)
            elif depth >= _MAX_DEPTH:
                lines.append(_line(path, b"?", b"too deep"))
            else:
                inner = open_below(folder, name)
                try:
                    yield from self._walk(inner, f"{key}/{name}", f"{path}/", depth + 1, lines)
                finally:
                    os.close(inner)

    def _add(self, folder: int, name: str, status: os.stat_result, key: str, path: str, lines: list[bytes]) -> Lines:
        self._count += 1
        if self._count % _BATCH == 0:
            yield False
        if not stat.S_ISREG(status.st_mode):  # no bundle has such a thing, so the digest is none that a bundle has
            lines.append(_line(path, b"?", b"no plain file"))
            return
        identity = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        known = self._known.get(key)
        if known is not None and known[0] == identity:
            sha256 = known[1]
        else:
            sha256 = yield from self._hash(folder, name, key)
        lines.append(_line(path, b"x" if status.st_mode & 0o111 else b"-", sha256.encode()))

    def _hash(self, folder: int, name: str, key: str) -> Generator[bool, None, str]:
        now = time.time_ns()
        try:
            fd, status = open_file(folder, name)
        except Failure:
            return "replaced"
        except PermissionError:
            return "unreadable"
        digest = hashlib.sha256()
        try:
            while True:
                data = os.read(fd, _PIECE)
                if not data:
                    break
                digest.update(data)
                if len(data) == _PIECE:
                    yield False
        finally:
            os.close(fd)
        if now - status.st_ctime_ns > _SETTLED_NS:
            if len(self._known) >= _MAX_REMEMBERED:
                self._known.clear()
            identity = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
            self._known[key] = (identity, digest.hexdigest())
        return digest.hexdigest()


def _line(path: str, flag: bytes, sha256: bytes) -> bytes:
    return b"%s\0%s\0%s\n" % (os.fsencode(path), flag, sha256)
