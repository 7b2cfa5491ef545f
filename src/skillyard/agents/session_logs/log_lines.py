"""A log line by line: what is too long or broken is counted and passed over, and never held in memory."""

import io
import json
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

from zstandard import ZstdDecompressor, ZstdError

from skillyard.agents.session_logs.log_places import COMPRESSED

MAX_LINE: Final = 16 * 1024 * 1024
"""Bytes of a line that is read; pictures make them long."""
_CHUNK: Final = 256 * 1024


@dataclass(kw_only=True, slots=True)
class LineCounts:
    """What became of the lines of some logs."""

    read: int = 0
    broken: int = 0
    """No JSON object."""
    too_long: int = 0
    unreadable: int = 0
    """Files that could not be opened, or not to their end."""

    @property
    def passed_over(self) -> int:
        return self.broken + self.too_long + self.unreadable


def log_entries(
    path: Path, counts: LineCounts, *, marks: Sequence[bytes], max_line: int = MAX_LINE
) -> Iterator[dict[str, Any]]:
    """The objects of those lines of a file that hold one of the marks; others are not looked into.

    A log that is being written ends in half a line, which is read with the next look.
    """
    try:
        with _open(path) as stream:
            for line in _lines(stream, counts, max_line):
                counts.read += 1
                if not any(mark in line for mark in marks):
                    continue
                entry = _entry(line)
                if entry is None:
                    counts.broken += 1
                else:
                    yield entry
    except (OSError, ZstdError):
        counts.unreadable += 1


def _open(path: Path) -> BinaryIO:
    """A regular file, opened without waiting for a writer or following a link."""
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(f"{path} is no regular file")
    stream = os.fdopen(fd, "rb")
    if path.suffix != COMPRESSED:
        return stream
    return io.BufferedReader(ZstdDecompressor().stream_reader(stream, read_across_frames=True), _CHUNK)


def _lines(stream: BinaryIO, counts: LineCounts, max_line: int) -> Iterator[bytes]:
    while line := stream.readline(max_line + 1):
        if line.endswith(b"\n"):
            yield line
        elif len(line) <= max_line:
            if _entry(line) is not None:  # whole, only not ended
                yield line
        else:
            counts.too_long += 1
            _skip_line(stream)


def _skip_line(stream: BinaryIO) -> None:
    while (part := stream.readline(_CHUNK)) and not part.endswith(b"\n"):
        pass


def _entry(line: bytes) -> dict[str, Any] | None:
    try:
        entry: Any = json.loads(line)
    except (ValueError, RecursionError):  # no JSON, no UTF-8, numbers of too many digits, nested too deeply
        return None
    return cast("dict[str, Any]", entry) if isinstance(entry, dict) else None
