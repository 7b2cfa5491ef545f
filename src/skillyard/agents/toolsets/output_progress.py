"""What a long run prints, told to whoever waits for it."""

import time
from typing import Final

from skillyard.agents.progress import is_given_up, is_wanted, report_progress
from skillyard.errors import ConflictError
from skillyard.remote.sandboxes import OnOutput
from skillyard.skill.prompt import shortened

EVERY: Final = 0.5
"""Seconds between two reports: more would only be in the way."""
_SHOWN: Final = 200


def told_output() -> OnOutput | None:
    """Reports the last line that was printed, now and then; None where nobody wants to know.

    A call that was cancelled ends the run with its next output, or its next sign of life.
    """
    if not is_wanted():
        return None
    printed = 0
    reported = time.monotonic()

    def tell(_stream: str, text: str) -> None:
        nonlocal printed, reported
        if is_given_up():
            raise ConflictError("The call was cancelled.")
        printed += len(text)
        now = time.monotonic()
        if now - reported >= EVERY and (line := text.rstrip().rpartition("\n")[2].strip()):
            reported = now
            report_progress(printed, None, shortened(line, _SHOWN))

    return tell
