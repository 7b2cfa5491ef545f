"""Starting commands quickly: a small process beside the guest does it, under the limits that all commands have.

Were the guest itself forked for each command, that alone would take several times as long as all the rest: a fork
copies the whole interpreter, but a program can be spawned without one when nothing is left to set in the child.
"""

from __future__ import annotations

import array
import contextlib
import errno
import json
import os
import select
import signal
import socket
import struct
from pathlib import Path
from typing import TYPE_CHECKING

import kernel
from processes import RESET_SIGNALS, be_killed_first, close_others

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import NoReturn

    from loop import Loop
    from processes import Limits, Program

_LENGTH = struct.Struct("!I")
_STARTED = struct.Struct("!i")
"""The process id, or the number of an error below zero."""
_ENDED = struct.Struct("!Ii")
_PATIENCE = 5.0
_DESCRIPTORS = 4


class Starter:
    """The guest's side. The process is started when it is needed, and again when somebody ended it."""

    def __init__(self, loop: Loop, limits: Limits, mains: set[int]) -> None:
        self._loop = loop
        self._limits = limits
        self._mains = mains
        self._socket: socket.socket | None = None
        self.pid = -1

    def start(self, program: Program) -> int:
        """Start a program in a session of its own; its end is told to the loop as that of any child."""
        try:
            try:
                self._send(self._socket or self._launch(), program)
            except ConnectionError:  # it was ended meanwhile, and has heard nothing
                self._end()
                self._send(self._launch(), program)
            assert self._socket is not None  # noqa: S101 - just sent to
            (answer,) = _STARTED.unpack(_received(self._socket, _STARTED.size))
        except (EOFError, ConnectionError, socket.timeout) as error:  # noqa: UP041 - not the same before Python 3.10
            self._end()  # whether it has started the program is not known: starting it again could be once too often
            raise OSError(errno.EAGAIN, "what starts programs was ended") from error
        if answer < 0:
            raise OSError(-answer, os.strerror(-answer))
        return int(answer)

    def _send(self, connection: socket.socket, program: Program) -> None:
        instructions = json.dumps([list(program.argv), dict(program.environment)]).encode()
        descriptors = array.array("i", [program.folder, *program.files])
        length = _LENGTH.pack(len(instructions))
        connection.sendmsg([length], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors)])
        connection.sendall(instructions)

    def _launch(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        ended, tell = os.pipe()
        try:
            pid = os.fork()
        except BaseException:
            for fd in (ended, tell):
                os.close(fd)
            ours.close()
            theirs.close()
            raise
        if not pid:
            _serve(theirs, tell, self._limits)
        theirs.close()
        os.close(tell)
        os.set_blocking(ended, False)
        ours.settimeout(_PATIENCE)
        self._socket, self.pid = ours, pid
        self._mains.add(pid)
        self._loop.on_exit(pid, lambda _: self._gone(pid))
        self._loop.on_readable(ended, lambda: self._read_ended(ended))
        return ours

    def _read_ended(self, fd: int) -> None:
        data = os.read(fd, _ENDED.size * 64)  # each is written in one piece, and so whole
        if not data:
            self._loop.close(fd)
        for pid, status in _ENDED.iter_unpack(data):
            self._loop.ended(pid, status)

    def _end(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None
            with contextlib.suppress(OSError):
                os.kill(self.pid, signal.SIGKILL)

    def _gone(self, pid: int) -> None:
        self._mains.discard(pid)
        if self._socket is not None and self.pid == pid:
            self._socket.close()
            self._socket = None


def _serve(connection: socket.socket, tell: int, limits: Limits) -> NoReturn:
    """What the process does until the guest is gone, however that came about; then its programs go, too."""
    alive: set[int] = set()
    try:
        os.setsid()
        close_others({0, 1, 2, connection.fileno(), tell})
        be_killed_first()
        kernel.set_dumpable(False)
        limits.apply()
        woken, wake = os.pipe()
        for fd in (woken, wake):
            os.set_blocking(fd, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        while True:
            ready, _, _ = select.select([connection, woken], [], [])
            if woken in ready:
                os.read(woken, 4096)
                _reap(tell, alive)
            if connection in ready:
                alive.add(_answer(connection))
    finally:
        alive.discard(0)
        for pid in alive:
            with contextlib.suppress(OSError):
                os.killpg(pid, signal.SIGKILL)
        os._exit(0)


def _reap(tell: int, alive: set[int]) -> None:
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            alive.discard(pid)
            os.write(tell, _ENDED.pack(pid, status))


def _answer(connection: socket.socket) -> int:
    """Start what is asked for; its process id, 0 when it could not be started."""
    space = socket.CMSG_SPACE(_DESCRIPTORS * array.array("i").itemsize)
    length, ancillary, _, _ = connection.recvmsg(_LENGTH.size, space)
    if not length:
        raise EOFError
    descriptors = array.array("i")
    for _level, _kind, data in ancillary:
        descriptors.frombytes(data)
    try:
        length += _received(connection, _LENGTH.size - len(length))
        argv, environment = json.loads(_received(connection, _LENGTH.unpack(length)[0]))
        for fd in descriptors:
            os.set_inheritable(fd, False)
        folder, *files = descriptors
        os.fchdir(folder)
        answer = _spawn(argv, environment, files)
    except OSError as error:
        answer = -(error.errno or errno.EINVAL)
    finally:
        for fd in descriptors:
            os.close(fd)
    connection.sendall(_STARTED.pack(answer))
    return max(answer, 0)


def _spawn(argv: list[str], environment: Mapping[str, str], files: Sequence[int]) -> int:
    actions = [(os.POSIX_SPAWN_DUP2, source, target) for target, source in enumerate(files)]
    path = _program(argv[0], environment)
    return os.posix_spawn(path, argv, environment, file_actions=actions, setsid=True, setsigdef=RESET_SIGNALS)


def _program(name: str, environment: Mapping[str, str]) -> str:
    """Where a program is: the first on the path that can be run, else the first that is there."""
    if "/" in name:
        return name
    found = [path for folder in os.get_exec_path(environment) if (path := Path(folder, name)).is_file()]
    if not found:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    return str(next((path for path in found if os.access(path, os.X_OK)), found[0]))


def _received(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = connection.recv(size - len(data))
        if not piece:
            raise EOFError
        data += piece
    return data
