"""What is kept of a replay while it goes on: its time, its texts, and where it ended."""

import time
from typing import Final

from skillyard.releases.outcomes import Verdict

_MAX_TEXT: Final = 4_000


class FailedError(Exception):
    """The replay ends here."""

    def __init__(self, verdict: Verdict, reason: str, *, step: int | None, is_final: bool = False) -> None:
        super().__init__(reason)
        self.verdict = verdict
        self.reason = reason
        self.step = step
        self.is_final = is_final
        """Whether nothing can be done after it, whoever wants to go on."""


class Clock:
    """The time that a whole replay has."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._began = time.monotonic()

    @property
    def spent(self) -> float:
        return time.monotonic() - self._began

    def within(self, seconds: float) -> float:
        """So many seconds, or what is left of the whole."""
        left = self.seconds - self.spent
        if left <= 0:
            raise TimeoutError
        return min(seconds, left)


def shortened(text: str) -> str:
    """What is kept of a long text: its beginning and its end."""
    if len(text) <= _MAX_TEXT:
        return text
    half = _MAX_TEXT // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters are left out here …]\n{text[-half:]}"
