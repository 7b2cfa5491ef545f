"""The browser of the sandbox: a process that takes one step after the other."""

from __future__ import annotations

import base64
import json
import resource
from typing import TYPE_CHECKING, Any

from failures import Failure
from frames import ERR, EXTRA, MAX_DOCUMENT, OUT
from output import Budget
from worker import Worker

if TYPE_CHECKING:
    from intake import Intake
    from link import Channel
    from loop import Steps
    from supervisor import Guest

NAME = "browser-worker"
_GRACE = 3.0
"""The worker keeps to the time itself; only when it does not is it killed."""
_MAX_ERROR = 64 * 1024
_MAX_SCREENSHOT = 32 * 1024 * 1024


class Browser:
    def __init__(self, guest: Guest) -> None:
        self._guest = guest
        self._worker: Worker | None = None
        self._busy = False
        self._count = 0
        self._answer: dict[str, Any] | None = None
        self._ending = "exited"
        self._wake = lambda: None

    def answer(self, channel: Channel, intake: Intake, request: dict[str, Any]) -> Steps:
        """Take the step that comes with a request."""
        step = json.loads((yield from intake.all()))
        if self._busy:
            raise Failure("busy", "The browser is busy.")
        self._busy = True
        self._answer, self._ending = None, ""
        self._wake = channel.on_credit
        try:
            yield from self._take(channel, {**step, "timeout": request["timeout"]})
        finally:
            self._busy = False
        return (yield from self._tell(channel))

    def _take(self, channel: Channel, step: dict[str, Any]) -> Steps:
        if self._worker is None:
            self._worker = Worker(self._guest, NAME, on_answer=self._answered, on_death=self._died)
            try:
                # Browsers reserve far more addresses than they use memory, and live longer than one process should.
                self._worker.start(stdout=None, unlimited=(resource.RLIMIT_AS, resource.RLIMIT_CPU))
            except BaseException:
                self._worker = None
                raise
        self._count += 1
        worker = self._worker
        timer = self._guest.loop.later(float(step["timeout"]) + _GRACE, lambda: self._kill(worker, "timeout"))
        channel.on_cancel = lambda: self._kill(worker, "cancelled")
        worker.ask({**step, "id": self._count})
        while not self._ending:
            yield True
        timer.cancel()

    def _tell(self, channel: Channel) -> Steps:
        answer = self._answer or {}
        budget = Budget(self._guest.limits.output_bytes)
        output, error, screenshot = answer.get("output"), answer.get("error"), answer.get("screenshot")
        if isinstance(output, str):
            yield from channel.put(budget.take(output.encode(errors="replace")), OUT)
        if isinstance(error, str):
            yield from channel.put(error.encode(errors="replace")[:_MAX_ERROR], ERR)
        if isinstance(screenshot, str) and len(screenshot) <= _MAX_SCREENSHOT:
            yield from channel.put(base64.b64decode(screenshot), EXTRA)
        target: Any = answer.get("target")
        if len(json.dumps(target)) > MAX_DOCUMENT // 2:
            target = None
        return {"success": answer.get("ok") is True, "ending": self._ending, "target": target}

    def _answered(self, answer: dict[str, Any]) -> None:
        if answer.get("id") == self._count and not self._ending:
            self._answer, self._ending = answer, "exited"
            self._wake()

    def _died(self, _: int) -> None:
        self._worker = None
        if not self._ending:
            self._answer, self._ending = {"error": "The browser process ended."}, "killed"
            self._wake()

    def _kill(self, worker: Worker, ending: str) -> None:
        if self._ending or self._worker is not worker:
            return

        def killed() -> None:
            self._answer, self._ending = {"error": "The browser did not finish in time, and was ended."}, ending
            self._wake()

        self._worker = None
        worker.kill(killed)
