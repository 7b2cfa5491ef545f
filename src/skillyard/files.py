"""Writing one file whole: a reader sees the old content or the new, even when the machine stops.

And files and folders that are for their owner only.
"""

import errno
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

_PROBE_BYTES: Final = 64 * 1024
"""Bytes to write: a full disk may still take a few."""
_OTHERS: Final = 0o077


def make_folder(folder: Path) -> None:
    """Make a folder and missing parents, for their owner only; an existing folder becomes private too."""
    for each in (*reversed([above for above in folder.parents if not above.exists()]), folder):
        each.mkdir(mode=0o700, exist_ok=True)
    make_private(folder)


def make_file(path: Path) -> None:
    """Make an empty file for its owner only; an existing file stays and becomes private."""
    with suppress(OSError):  # opening it reports the reason
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    make_private(path)


def make_private(path: Path) -> None:
    """Make a file or folder of ours readable for its owner only; links and what is not ours stay unchanged."""
    with suppress(OSError):
        state = path.lstat()
        is_plain = stat.S_ISREG(state.st_mode) or stat.S_ISDIR(state.st_mode)
        if is_plain and state.st_uid == os.geteuid() and state.st_mode & _OTHERS:
            path.chmod(stat.S_IMODE(state.st_mode) & ~_OTHERS)


def replace_file(path: Path, data: bytes, *, mode: int | None = None) -> None:
    """Put a file in place, durably; its folder is made if need be.

    A link that is there is replaced and not written through: resolve the path first where it should be. Without
    `mode`, a file keeps the mode it had, and a new one is for its owner only.
    """
    if path.exists() and not path.is_symlink() and not path.is_file():
        raise FileExistsError(errno.EEXIST, "It is no plain file, and only those are replaced", str(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    beside = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        if mode is not None:
            beside.chmod(mode)
        elif path.is_file() and not path.is_symlink():
            beside.chmod(path.stat().st_mode & 0o777)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def require_writable(folder: Path) -> None:
    """Write a little into a folder and remove it; raises OSError where a disk is full, or only to be read."""
    with tempfile.TemporaryFile(dir=folder) as stream:
        stream.write(bytes(_PROBE_BYTES))
        stream.flush()


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable: what was renamed into it stays there."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
