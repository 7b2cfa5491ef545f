"""The lasting Python context of the sandbox: a process in which code runs, call after call."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
from typing import TYPE_CHECKING, Any

from failures import Failure
from frames import ERR, EXTRA, OUT
from output import Budget, Output
from processes import look, ticks
from worker import Worker

if TYPE_CHECKING:
    from intake import Intake
    from link import Channel
    from loop import Steps, Timer
    from supervisor import Guest

NAME = "python-worker"
_SETTLE = 0.5
"""Between interrupts; after the first one, what the code started is interrupted with it."""
_INTERRUPTS = 4
_MAX_ERROR = 4 * 1024 * 1024
_MAX_IMAGES = 8 * 1024 * 1024


class PythonContext:
    def __init__(self, guest: Guest) -> None:
        self._guest = guest
        self._worker: Worker | None = None
        self._output: Output | None = None
        self._call: _Call | None = None
        self._ended = 0
        """The tick in which the last call ended."""

    def answer(self, channel: Channel, intake: Intake, request: dict[str, Any]) -> Steps:
        """Run the code that comes with a request, and answer when it is done."""
        code = (yield from intake.all()).decode()
        if self._call is not None:
            raise Failure("busy", "The Python context is busy.")
        if self._worker is None:
            self._start()
        assert self._worker is not None  # noqa: S101 - just started
        assert self._output is not None  # noqa: S101
        # What was started in the tick in which the last call ended may be of that one, and is not killed with this one.
        begins = max(ticks(), self._ended + 1)
        call = self._call = _Call(self._guest, self._worker, self._output, channel, float(request["timeout"]), begins)
        self._bound_cpu(self._worker.pid)
        self._worker.ask({"code": code, "environment": request.get("environment", {})})
        try:
            yield from call.wait()
        finally:
            self._call = None
            self._ended = ticks()
            self._output.send_to(None, 0, Budget(0))
            if call.lost:
                self._worker = None
        yield from call.tell()
        return call.result()

    def _start(self) -> None:
        out, stdout = os.pipe()
        worker = Worker(self._guest, NAME, on_answer=self._answered, on_death=self._died)
        try:
            worker.start(stdout=stdout, unlimited=(resource.RLIMIT_CPU,), environment={"MPLBACKEND": "Agg"})
        except BaseException:
            os.close(out)
            raise
        finally:
            os.close(stdout)
        if self._output is not None and not self._output.ended:
            self._guest.left_behind.add(self._output)
        self._output = Output(self._guest.loop, out)
        self._worker = worker

    def _bound_cpu(self, pid: int) -> None:
        """Each call gets the whole time: the context may last longer than any one process should."""
        process = look(pid)
        if self._guest.limits.cpu_seconds and process is not None and hasattr(resource, "prlimit"):
            bound = int(process.cpu_seconds) + 1 + self._guest.limits.cpu_seconds
            with contextlib.suppress(OSError, ValueError):
                _, hard = resource.prlimit(pid, resource.RLIMIT_CPU)
                resource.prlimit(pid, resource.RLIMIT_CPU, (bound, hard))

    def _answered(self, answer: dict[str, Any]) -> None:
        if self._call is not None:
            self._call.answered(answer)

    def _died(self, status: int) -> None:
        if self._call is not None:
            self._call.died(status)
        self._worker = None


class _Call:
    """One piece of code under way."""

    def __init__(
        self, guest: Guest, worker: Worker, output: Output, channel: Channel, seconds: float, begins: int
    ) -> None:
        self._guest = guest
        self._worker = worker
        self._output = output
        self._channel = channel
        self._seconds = seconds
        self._budget = Budget(guest.limits.output_bytes)
        self._answer: dict[str, Any] | None = None
        self._begins = begins
        self._ending = "exited"
        self._why = ""
        self._interrupts = 0
        self._wake = channel.on_credit
        self._timer: Timer = guest.loop.later(seconds, lambda: self._interrupt("timeout"))
        self.lost = False
        self._over = False
        output.send_to(channel, OUT, self._budget)
        channel.on_credit = self._resume
        channel.on_cancel = lambda: self._interrupt("cancelled")

    def wait(self) -> Steps:
        while not self._over:
            yield True
        self._timer.cancel()
        while not self._output.drain():
            yield True

    def tell(self) -> Steps:
        """What is said after the output: the value, the error, the images."""
        answer = self._answer or {}
        value, error = answer.get("value"), answer.get("error")
        if isinstance(value, str):
            whole = value if answer.get("truncated") is True else f"{value}\n"
            yield from self._channel.put(self._budget.take(whole.encode(errors="replace")), OUT)
        if self._why or isinstance(error, str):
            text = f"{error or ''}{self._why}"
            yield from self._channel.put(text.encode(errors="replace")[:_MAX_ERROR], ERR)
        images = json.dumps(answer.get("images") or []).encode()
        if len(images) > _MAX_IMAGES:
            images = b"[]"
            self._budget.truncated = True
        yield from self._channel.put(images, EXTRA)

    def result(self) -> dict[str, Any]:
        answer = self._answer or {}
        return {
            "success": answer.get("success") is True and self._ending == "exited",
            "ending": self._ending,
            "truncated": self._budget.truncated or answer.get("truncated") is True,
            "count": answer.get("count") if isinstance(answer.get("count"), int) else 0,
        }

    def answered(self, answer: dict[str, Any]) -> None:
        self._answer = answer
        if self._ending == "timeout":
            self._why = f"\nStopped after {self._seconds:g} seconds; the context was kept."
        if self._ending == "exited":
            self._end()
        else:
            self._timer.cancel()
            self._worker.kill_since(self._begins, self._end)

    def died(self, status: int) -> None:
        self.lost = True
        if self._ending == "exited":
            self._ending = "killed"
            how = f"was killed by signal {status & 0x7F}" if os.WIFSIGNALED(status) else "ended itself"
            self._why = f"The Python process {how}; the context was lost."
        self._end()

    def _resume(self) -> None:
        self._output.resume()
        self._wake()

    def _end(self) -> None:
        if not self._over:
            self._over = True
            self._wake()

    def _interrupt(self, ending: str) -> None:
        if self._over:
            return
        self._ending = ending
        self._timer.cancel()
        if self._interrupts >= _INTERRUPTS:
            self.lost = True
            if ending == "timeout":
                self._why = f"Killed after {self._seconds:g} seconds, for it did not stop; the context was lost."
            self._worker.kill(self._end)
            return
        with contextlib.suppress(OSError):
            (os.killpg if self._interrupts else os.kill)(self._worker.pid, signal.SIGINT)
        self._interrupts += 1
        self._timer = self._guest.loop.later(_SETTLE, lambda: self._interrupt(ending))
