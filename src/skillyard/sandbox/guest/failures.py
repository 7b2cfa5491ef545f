"""What the guest answers when something cannot be done."""

from __future__ import annotations

import errno

_CODES = {
    errno.ENOENT: "file_not_found",
    errno.ENOTDIR: "not_folder",
    errno.EISDIR: "is_folder",
    errno.ENXIO: "not_file",
    errno.ENOTEMPTY: "is_folder",
    errno.EACCES: "denied",
    errno.EPERM: "denied",
    errno.EROFS: "denied",
    errno.ENOSPC: "no_space",
    errno.EDQUOT: "no_space",
    errno.EFBIG: "no_space",
    errno.ENAMETOOLONG: "invalid_path",
    errno.EILSEQ: "invalid_path",
    errno.ELOOP: "invalid_path",
    errno.EAGAIN: "no_process",
    errno.ENOMEM: "no_process",
    errno.EMFILE: "no_process",
    errno.ENFILE: "no_process",
}


class Failure(Exception):  # noqa: N818 - it is an answer
    """Why a request fails: a code that the host knows, and a sentence for people."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Cancelled(BaseException):
    """The answer is not wanted any more."""


def failure_of(error: OSError, doing: str) -> Failure:
    """An error of the system, said with what it prevented."""
    return Failure(_CODES.get(error.errno or 0, "failed"), f"Cannot {doing}: {error.strerror or error}.")
