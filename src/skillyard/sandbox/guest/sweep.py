"""Ending a run for good: killed again and again until nothing of it is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from loop import Callback
    from supervisor import Guest

_FIRST = 0.001
_PAUSE = 0.02
_MAX_ROUNDS = 150


class Sweep:
    """What forks while it is being killed is found in the next round; no process is needed to kill others."""

    def __init__(self, guest: Guest, kill: Callable[[], int], done: Callback) -> None:
        """`kill` kills the present processes and returns how many they were."""
        self._guest = guest
        self._kill = kill
        self._done = done
        self._rounds = 0
        self._round()

    def _round(self) -> None:
        if not self._kill():
            self._done()
        elif self._rounds >= _MAX_ROUNDS:
            self._guest.loop.stop()  # it forks faster than it can be killed: the whole sandbox has to go
        else:
            self._rounds += 1
            self._guest.loop.later(_FIRST if self._rounds == 1 else _PAUSE, self._round)
