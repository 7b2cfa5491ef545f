"""Reading one regular file: never a link, a pipe or a device, never more than a limit."""

import errno
import os
import stat
from typing import Final

from skillyard.errors import LimitError, NotAllowedError, NotFoundError, SkillyardError, UnavailableError

_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def read_regular(path: str, limit: int, *, dir_fd: int | None = None) -> bytes:
    """The bytes of a regular file of at most `limit` bytes."""
    try:
        fd = os.open(path, _FLAGS, dir_fd=dir_fd)
    except OSError as error:
        raise _typed(path, error) from None
    except ValueError:
        raise NotFoundError(f"{path!r} is a path that no file can have.", hint="Check the path.") from None
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise NotAllowedError(
                f"{path!r} is no plain file.", hint="Replace it by a plain file.", details={"value": path}
            )
        if status.st_size > limit:
            raise _too_large(path, status.st_size, limit)
        data = os.read(fd, status.st_size + 1)
        if len(data) != status.st_size:
            data = _read_on(fd, data, limit)
        if len(data) > limit:
            raise _too_large(path, len(data), limit)
    except OSError as error:
        raise _typed(path, error) from None
    finally:
        os.close(fd)
    return data


def _read_on(fd: int, data: bytes, limit: int) -> bytes:
    parts = [data]
    size = len(data)
    while size <= limit:
        part = os.read(fd, limit + 1 - size)
        if not part:
            break
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def _too_large(path: str, size: int, limit: int) -> LimitError:
    return LimitError(
        f"{path!r} has {size:,} bytes; at most {limit:,} are read.",
        hint="Make the file smaller or split it.",
        details={"value": path, "limit": limit},
    )


def _typed(path: str, error: OSError) -> SkillyardError:
    details = {"value": path}
    if error.errno in {errno.ENOENT, errno.ENOTDIR}:
        return NotFoundError(f"There is no file {path!r}.", hint="Check the path.", details=details)
    if error.errno == errno.ELOOP:
        return NotAllowedError(
            f"{path!r} is a link, and links are not followed.", hint="Replace the link by the file.", details=details
        )
    if error.errno in {errno.EACCES, errno.EPERM}:
        return NotAllowedError(
            f"{path!r} cannot be read: permission denied.", hint=f"Check it: ls -l {path!r}", details=details
        )
    return UnavailableError(f"{path!r} cannot be read: {error.strerror}.", hint="Try again.", details=details)
