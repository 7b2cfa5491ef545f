"""The first program in a container: takes the guest and the filter of system calls from the stream, and becomes it.

Sent as the command of the container: standard library only, for Python 3.8 and later. The root of the container is
read-only, so nothing can be put there beforehand. Which filter fits is known only here: the daemon may be on a machine
of another kind.
"""

import ctypes
import json
import os
import sys
from typing import NoReturn

READY = b"R"
UNWRITABLE = b"W"
"""The workspace belongs to somebody else: the volume is new, and as the daemon made it."""
OLD_PYTHON = b"V"
NO_FILTER = b"F"
GUEST = "/run/skillyard/guest.zip"

_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _SECCOMP_MODE_FILTER = 22, 38, 2
_INSTRUCTION = 8


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def _take(size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = os.read(0, size - len(data))
        if not piece:
            sys.exit(0)
        data += piece
    return data


def _leave(word: bytes) -> NoReturn:
    os.write(1, word)
    while os.read(0, 65536):  # who leaves before all is heard may have the word lost with the stream
        pass
    sys.exit(1)


def _confine(program: bytes) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    loaded = _Program(len(program) // _INSTRUCTION, program)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(
        _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(loaded)
    ):
        sys.exit(f"the filter of system calls: {os.strerror(ctypes.get_errno())}")


def main(workspace: str, argv: "list[str]") -> None:
    if sys.version_info < (3, 8):  # noqa: UP036 -- that of the image
        _leave(OLD_PYTHON)
    if not os.access(workspace, os.W_OK | os.X_OK):
        _leave(UNWRITABLE)
    filters = json.loads(_take(int.from_bytes(_take(8), "big")))
    guest = _take(int.from_bytes(_take(8), "big"))
    program = filters.get(os.uname().machine)
    if program is None:
        _leave(NO_FILTER)
    with open(GUEST, "wb") as file:  # noqa: PTH123 -- nothing more to load
        file.write(guest)
    _confine(bytes.fromhex(program))
    os.write(1, READY)
    os.execvp(argv[0], argv)  # noqa: S606 -- that is what it is for


def parcel(filters: "dict[str, bytes]", guest: bytes) -> bytes:
    """What is written to the stream for this program: a filter for each kind of machine, and the guest."""
    table = json.dumps({machine: program.hex() for machine, program in filters.items()}).encode()
    return b"".join(len(part).to_bytes(8, "big") + part for part in (table, guest))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
