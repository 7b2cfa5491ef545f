"""Running commands: each in a session of its own, with streamed output, until its end, its time or its cancelling."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Any

import paths
from failures import failure_of
from frames import ERR, OUT
from output import Budget, Output
from processes import MARK, Program, kill_run
from sweep import Sweep

if TYPE_CHECKING:
    from link import Channel
    from loop import Timer
    from supervisor import Guest

_GRACE = 0.1
"""How long output is taken from others that hold the pipe when the command itself has ended."""
_NO_ROOM = frozenset({errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE})
_NOT_FOUND = 127
_NOT_RUNNABLE = 126


class Feed:
    """What goes to the stdin of a program, as fast as it takes it."""

    def __init__(self, guest: Guest, fd: int, channel: Channel) -> None:
        self._loop = guest.loop
        self._fd = fd
        self._channel = channel
        self._waiting = b""
        self._ended = False
        self._closed = False
        os.set_blocking(fd, False)

    def data(self, data: bytes) -> None:
        if self._closed:
            self._channel.consumed(len(data))
            return
        self._waiting += data
        self._write()

    def end(self) -> None:
        self._ended = True
        self._write()

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._channel.consumed(len(self._waiting))
            self._waiting = b""
            self._loop.close(self._fd)

    def _write(self) -> None:
        if self._closed:
            return
        try:
            sent = os.write(self._fd, self._waiting) if self._waiting else 0
        except BlockingIOError:
            sent = 0
        except OSError:
            self.close()  # it does not want to hear more
            return
        self._waiting = self._waiting[sent:]
        self._channel.consumed(sent)
        if self._waiting:
            self._loop.on_writable(self._fd, self._write)
        elif self._ended:
            self.close()
        else:
            self._loop.on_writable(self._fd, None)


class Run:
    """One command under way."""

    def __init__(self, guest: Guest, channel: Channel, request: dict[str, Any]) -> None:
        self._guest = guest
        self._channel = channel
        self._argv: list[str] = [str(part) for part in request["argv"]]
        self._mark = str(channel.number)
        self._ending = "exited"
        self._status: int | None = None
        self._sweeping = False
        self._grace: Timer | None = None
        self._waited = False
        self._over = False
        self._budget = Budget(guest.limits.output_bytes)
        environment = {**guest.environment, **request.get("environment", {}), MARK: self._mark}
        self.main = self._start(str(request.get("cwd", ".")), environment, bool(request.get("stdin")))
        guest.mains.add(self.main)
        guest.loop.on_exit(self.main, self._exited)
        self._timer = guest.loop.later(float(request["timeout"]), lambda: self.kill("timeout"))
        channel.on_cancel = lambda: self.kill("cancelled")
        channel.on_credit = self._resume

    def kill(self, ending: str) -> None:
        if not self._sweeping and not self._over:
            self._ending = ending
            self._sweeping = True
            mains = self._guest.mains
            Sweep(self._guest, lambda: kill_run(self.main, self._mark, mains) or self.main in mains, self._swept)

    def _start(self, cwd: str, environment: dict[str, str], has_input: bool) -> int:
        opened: list[int] = []

        def pipe() -> tuple[int, int]:
            ends = os.pipe()
            opened.extend(ends)
            return ends

        try:
            folder = self._open_folder(cwd)
            opened.append(folder)
            stdin, feed = pipe() if has_input else (self._guest.null, -1)
            out, stdout = pipe()
            err, stderr = pipe()
            pid = self._guest.starter.start(Program(self._argv, environment, folder, (stdin, stdout, stderr)))
        except BaseException:
            for fd in opened:
                os.close(fd)
            raise
        for fd in {folder, stdin, stdout, stderr} - {self._guest.null}:
            os.close(fd)
        self._outputs = [Output(self._guest.loop, fd) for fd in (out, err)]
        for output, stream in zip(self._outputs, (OUT, ERR)):  # noqa: B905 - the guest runs on Python 3.8 too
            output.send_to(self._channel, stream, self._budget)
            output.on_end(self._finish_if_done)
        self._feed = Feed(self._guest, feed, self._channel) if has_input else None
        if self._feed is not None:
            self._channel.on_data = self._feed.data
            self._channel.on_end = self._feed.end
        return pid

    def _open_folder(self, cwd: str) -> int:
        try:
            return paths.open_folder(self._guest.workspace, cwd)
        except OSError as error:
            raise failure_of(error, f"run in '{cwd}'") from error

    def _resume(self) -> None:
        for output in self._outputs:
            output.resume()
        self._finish_if_done()

    def _exited(self, status: int) -> None:
        self._status = status
        self._guest.mains.discard(self.main)
        self._finish_if_done()
        if not self._over:
            self._grace = self._guest.loop.later(_GRACE, self._wait_no_more)

    def _wait_no_more(self) -> None:
        self._waited = True
        self._finish_if_done()

    def _swept(self) -> None:
        self._sweeping = False
        self._finish_if_done()

    def _finish_if_done(self) -> None:
        if self._over or self._status is None or self._sweeping:
            return
        drained = [output.drain() for output in self._outputs]
        if self._over:
            return  # the end of an output was met on the way, and all was done then
        if self._ending == "exited" and not all(drained):
            return  # there is more, and the host has no room for it yet
        if not all(drained):
            self._budget.truncated = True  # it was stopped before it was heard
        ended = all(output.ended for output in self._outputs)
        if ended or self._waited or self._ending != "exited":
            self._finish(self._status)

    def _finish(self, status: int) -> None:
        self._over = True
        self._timer.cancel()
        if self._grace is not None:
            self._grace.cancel()
        if self._feed is not None:
            self._feed.close()
        for output in self._outputs:
            if not output.ended:
                self._guest.left_behind.add(output)
        if os.WIFSIGNALED(status) and self._ending == "exited":
            self._ending = "killed"
        code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)
        self._channel.result(
            {
                "ok": True,
                "ending": self._ending,
                "exit_code": code if self._ending in {"exited", "killed"} else None,
                "truncated": self._budget.truncated,
            }
        )


def run(guest: Guest, channel: Channel, request: dict[str, Any]) -> None:
    """Run a command; one that cannot be run is told as by a shell."""
    try:
        Run(guest, channel, request)
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise failure_of(error, "start a process") from error
        name = str(request["argv"][0])
        channel.send(f"{name[:1000]}: {error.strerror}\n".encode(errors="replace"), ERR)
        code = _NOT_FOUND if error.errno in {errno.ENOENT, errno.ENOTDIR} else _NOT_RUNNABLE
        channel.result({"ok": True, "ending": "exited", "exit_code": code, "truncated": False})
