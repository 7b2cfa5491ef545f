"""A lasting process beside the guest that answers questions, one JSON object a line each way."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import paths
from failures import failure_of
from processes import MARK, Program, kill_run, kill_since, start
from sweep import Sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from supervisor import Guest

_READ = 256 * 1024
_MAX_ANSWER = 48 * 1024 * 1024


class Worker:
    """One such process. It is told what to do by `ask`; its end is told once, by `on_death`."""

    def __init__(
        self,
        guest: Guest,
        name: str,
        *,
        on_answer: Callable[[dict[str, Any]], None],
        on_death: Callable[[int], None],
    ) -> None:
        self._guest = guest
        self._name = name
        self._on_answer = on_answer
        self._on_death = on_death
        self._waiting = b""
        self._received = bytearray()
        self._dying = False
        self._requests = -1
        self._answers = -1
        self.pid = -1
        self._on_swept: Callable[[], None] = lambda: None

    def start(
        self,
        *,
        stdout: int | None,
        unlimited: tuple[int, ...] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start it: it reads requests from descriptor 0 when `stdout` is None, which is then for its answers.

        Otherwise what it prints goes to `stdout`, and it is told which other descriptors to use.
        """
        request_out, self._requests = os.pipe()
        self._answers, answer_in = os.pipe()
        argv = [sys.executable, *(["-X", "utf8"]), self._guest.path, self._name]
        if stdout is None:
            files, keep = (request_out, answer_in, self._guest.null), ()
        else:
            files, keep = (self._guest.null, stdout, stdout), (request_out, answer_in)
            argv += [str(request_out), str(answer_in)]
        variables = {**self._guest.environment, **(environment or {}), MARK: self._name}
        try:
            folder = paths.open_folder(self._guest.workspace, ".")
            try:
                program = Program(argv, variables, folder, files, keep, unlimited)
                self.pid = start(program, self._guest.limits)
            finally:
                os.close(folder)
        except OSError as error:
            self._close()
            raise failure_of(error, f"start {self._name}") from error
        finally:
            os.close(request_out)
            os.close(answer_in)
        os.set_blocking(self._requests, False)
        os.set_blocking(self._answers, False)
        self._guest.mains.add(self.pid)
        self._guest.loop.on_exit(self.pid, self._exited)
        self._guest.loop.on_readable(self._answers, self._read)

    def ask(self, request: dict[str, Any]) -> None:
        self._waiting += json.dumps(request).encode() + b"\n"
        self._write()

    def kill(self, then: Callable[[], None]) -> None:
        """End it and all that it started; `on_death` is not told of it."""
        self._dying = True
        self._close()
        mains = self._guest.mains
        Sweep(self._guest, lambda: kill_run(self.pid, self._name, mains) or self.pid in mains, then)

    def kill_since(self, start_of: int, then: Callable[[], None]) -> None:
        """End what it started since then."""
        Sweep(self._guest, lambda: kill_since(start_of, self.pid, self._name, self._guest.mains), then)

    def _write(self) -> None:
        if self._requests == -1:
            return
        try:
            sent = os.write(self._requests, self._waiting) if self._waiting else 0
        except BlockingIOError:
            sent = 0
        except OSError:
            return  # it is ending, which is told by its exit
        self._waiting = self._waiting[sent:]
        self._guest.loop.on_writable(self._requests, self._write if self._waiting else None)

    def _read(self) -> None:
        try:
            data = os.read(self._answers, _READ)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._guest.loop.on_readable(self._answers, None)
            return
        self._received += data
        end = self._received.find(b"\n", len(self._received) - len(data))
        if end < 0:
            if len(self._received) > _MAX_ANSWER:
                self._received.clear()
                os.kill(self.pid, 9)
            return
        line = bytes(self._received[:end])
        self._received.clear()  # there is one answer to each question: what follows was not asked for
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            return
        if isinstance(answer, dict):
            self._on_answer(answer)  # pyright: ignore[reportUnknownArgumentType] - values are checked where used

    def _exited(self, status: int) -> None:
        self._guest.mains.discard(self.pid)
        self._close()
        if not self._dying:
            self._dying = True
            self._on_death(status)

    def _close(self) -> None:
        for fd in (self._requests, self._answers):
            if fd != -1:
                self._guest.loop.close(fd)
        self._requests = self._answers = -1
