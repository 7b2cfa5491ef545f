"""Setting modes and times of files for a sandboxed process that runs as the user of the server.

Landlock lets such a process set them on every file of the user, so a filter holds it up and asks here instead, outside.
Only what is in the sandbox's own folders is done. Part of the launcher: standard library only, loaded by its path.
"""

# ruff: noqa: PTH101, PTH115, PTH123 (descriptors and system calls, not paths)
import contextlib
import ctypes
import errno
import fcntl
import os
import struct
from typing import Final

_RECEIVE, _SEND, _VALID = 0xC0502100, 0xC0182101, 0x40082102
_REQUEST: Final = struct.Struct("=QIIiIQ6Q")
_ANSWER: Final = struct.Struct("=QqiI")
_AT_FDCWD, _AT_SYMLINK_NOFOLLOW, _AT_EMPTY_PATH = -100, 0x100, 0x1000
_LONGEST_PATH: Final = 4096
_TIMES: Final = 32
_MODES: Final = 0o1777
_CALLS: Final = {
    "x86_64": {90: "chmod", 268: "fchmodat", 452: "fchmodat2", 280: "utimensat"},
    "aarch64": {53: "fchmodat", 452: "fchmodat2", 88: "utimensat"},
}

_libc: Final = ctypes.CDLL(None, use_errno=True)


class Broker:
    """Answers what the filter holds up, one call after the other."""

    def __init__(self, listener: int, folders: "list[str]") -> None:
        self.listener = listener
        self._folders = [os.path.realpath(folder) for folder in folders]
        self._names = _CALLS.get(os.uname().machine, {})

    def answer_one(self) -> None:
        """Take one call and do it, or refuse it; the process may have gone away meanwhile."""
        request = bytearray(_REQUEST.size)
        with contextlib.suppress(OSError):
            fcntl.ioctl(self.listener, _RECEIVE, request)
            number, pid, _, call, _, _, *arguments = _REQUEST.unpack(request)
            error = self._done(number, pid, self._names.get(call, ""), arguments)
            fcntl.ioctl(self.listener, _SEND, _ANSWER.pack(number, 0, -error, 0))

    def _done(self, number: int, pid: int, name: str, arguments: "list[int]") -> int:
        """Do it: 0, or the number of an error."""
        if name == "chmod":
            arguments = [_AT_FDCWD, *arguments]
        flags = _int(arguments[3]) if name in {"fchmodat2", "utimensat"} else 0
        try:
            path = _text(pid, arguments[1])
            place = _opened(pid, _int(arguments[0]), path, flags)
        except OSError as error:
            return error.errno or errno.EPERM
        try:
            fcntl.ioctl(
                self.listener, _VALID, struct.pack("=Q", number)
            )  # else all that was read is of another process
            if not self._is_own(place):
                return errno.EPERM
            if name == "utimensat":
                return _set_times(place, _memory(pid, arguments[2], _TIMES) if arguments[2] else None)
            os.chmod(f"/proc/self/fd/{place}", arguments[2] & _MODES)
        except OSError as error:
            return error.errno or errno.EPERM
        finally:
            os.close(place)
        return 0

    def _is_own(self, place: int) -> bool:
        """By where the opened file is: nothing inside can move one into the folders that was not there."""
        path = os.readlink(f"/proc/self/fd/{place}")
        return any(path == folder or path.startswith(folder + "/") for folder in self._folders)


def _int(argument: int) -> int:
    return ctypes.c_int(argument & 0xFFFFFFFF).value


def _memory(pid: int, address: int, size: int) -> bytes:
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as file:
        file.seek(address)
        return file.read(size)


def _text(pid: int, address: int) -> str:
    """A path, which ends before a page that may not be there."""
    found = b""
    while len(found) < _LONGEST_PATH:
        piece = _memory(pid, address + len(found), 256 - (address + len(found)) % 256)
        end = piece.find(b"\0")
        if end >= 0:
            return os.fsdecode(found + piece[:end])
        found += piece
    raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))


def _opened(pid: int, folder: int, path: str, flags: int) -> int:
    """The file that is meant, only to name it: nothing is read or waited for."""
    base = f"/proc/{pid}/cwd" if folder == _AT_FDCWD else f"/proc/{pid}/fd/{folder}"
    start = os.open(base, os.O_PATH | os.O_CLOEXEC)
    if not path:
        if flags & _AT_EMPTY_PATH:
            return start
        os.close(start)
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))
    try:
        link = os.O_NOFOLLOW if flags & _AT_SYMLINK_NOFOLLOW else 0
        return os.open(path, os.O_PATH | os.O_CLOEXEC | link, dir_fd=start)
    finally:
        os.close(start)


def _set_times(place: int, times: "bytes | None") -> int:
    if _libc.utimensat(place, b"", times, _AT_EMPTY_PATH) < 0:
        return ctypes.get_errno()
    return 0
