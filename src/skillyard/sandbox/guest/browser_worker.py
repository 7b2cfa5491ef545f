"""Takes browser steps, one JSON object a line: asked on stdin, answered on stdout.

`{"id", "verb", "arguments", "options", "timeout"}` gets `{"id", "ok", "output", "error", "target", "screenshot"}`.
What is typed may be a secret: it is never logged, and never part of an answer.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from browser_chromium import Chromium, StepError
from browser_errors import explain
from browser_targets import Deadline
from browser_verbs import Result, Step, Verbs
from browser_watch import Watch

_MAX_OUTPUT = 200_000
_DIED = "The browser had ended, and was started again with an empty page: open the page again."

_DIED_AND_OPENED = "The browser had ended, and was started again."


class Worker:
    """Answers one request after the other, whatever becomes of the browser."""

    def __init__(self) -> None:
        self._watch = Watch()
        self._chromium = Chromium()
        self._verbs = Verbs(self._chromium)

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        seconds = float(request["timeout"])
        self._watch.begin(seconds)
        error: str | None = None
        result = Result()
        try:
            result = self._take(request, Deadline(seconds))
        except StepError as failure:
            error = str(failure)
        except Exception as failure:  # noqa: BLE001 -- whatever the driver raises, the next step is taken
            error = self._explain(failure, request)
        finally:
            self._watch.end()
        return {
            "id": request["id"],
            "ok": error is None,
            "output": _bounded(result.output),
            "error": None if error is None else _bounded(error),
            "target": result.target,
            "screenshot": result.screenshot,
        }

    @property
    def broken(self) -> bool:
        return self._chromium.broken

    def close(self) -> None:
        self._chromium.close()

    def _take(self, request: dict[str, Any], deadline: Deadline) -> Result:
        options = {name: value for name, _, value in (option.partition("=") for option in request["options"])}
        step = Step(request["verb"], list(request["arguments"]), options, deadline)
        self._chromium.hear()
        died = self._chromium.died
        if step.verb == "close":
            return self._verbs.take(step)
        if not self._chromium.running:
            self._chromium.start()
        if died and step.verb != "open":
            raise StepError(_DIED)
        result = Result()
        try:
            result = self._verbs.take(step)
        except Exception:
            self._chromium.hear()
            if step.verb != "open" or not self._chromium.died or self._watch.late:
                raise
            self._chromium.start()  # it was dead before this step, only nobody knew
            died, result = True, self._verbs.take(step)
        return result._replace(output=f"{_DIED_AND_OPENED}\n{result.output}") if died else result

    def _explain(self, failure: Exception, request: dict[str, Any]) -> str:
        seconds = float(request["timeout"])
        if self._watch.late:
            return (
                f"The page did not respond within {seconds:g} seconds, and the browser was ended. Open the page again."
            )
        self._chromium.hear()
        if self._chromium.broken or not self._chromium.running:
            return "The browser ended during this step; the next one starts it again. Open the page again."
        return explain(failure, seconds, [str(argument) for argument in request["arguments"][1:]])


def main() -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever else prints must not break the talk
    worker = Worker()
    for line in sys.stdin.buffer:
        answers.write(json.dumps(worker.answer(json.loads(line))).encode() + b"\n")
        answers.flush()
        if worker.broken:
            break
    worker.close()


def _bounded(text: str) -> str:
    if len(text) <= _MAX_OUTPUT:
        return text
    more = len(text) - _MAX_OUTPUT
    return f"{text[:_MAX_OUTPUT]}\n… {more:,} more characters; narrow it down with -i, -c or a selector."


if __name__ == "__main__":
    main()
