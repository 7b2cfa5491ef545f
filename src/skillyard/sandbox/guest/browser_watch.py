"""Ends a step that hangs: pages can keep a driver waiting for ever."""

from __future__ import annotations

import os
import threading
import time

from browser_chromium import end_browsers

_LATE = 0.5
"""Seconds after its time when a step loses its browser."""
_TOO_LATE = 2.0
"""Seconds after its time when this process gives up; whoever started it starts another."""


class Watch:
    """One thread, there from the beginning: when processes run short, there would be none for each step."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._end: float | None = None
        self.late = False
        """Whether the step that runs, or ran last, has lost its browser."""
        threading.Thread(target=self._run, daemon=True).start()

    def begin(self, seconds: float) -> None:
        with self._changed:
            self._end, self.late = time.monotonic() + seconds, False
            self._changed.notify()

    def end(self) -> None:
        with self._changed:
            self._end = None
            self._changed.notify()

    def _run(self) -> None:
        with self._changed:
            while True:
                if self._end is None:
                    self._changed.wait()
                    continue
                left = self._end + (_TOO_LATE if self.late else _LATE) - time.monotonic()
                if left > 0:
                    self._changed.wait(left)
                elif self.late:
                    os._exit(1)
                else:
                    self.late = True
                    end_browsers()
