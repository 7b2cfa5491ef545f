"""Waiting for many things at once in one thread: descriptors, times, ended children, and long work in small steps.

One thread, because only then is it safe to fork and to set limits before the program of a child starts; and not
asyncio, because importing that takes several times as long as all else that happens at the start.
"""

from __future__ import annotations

import contextlib
import heapq
import itertools
import os
import selectors
import signal
import time
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import Any

    Callback = Callable[[], None]
    Steps = Generator[bool, None, Any]
    """Work in steps: it yields whether it waits to be woken, or only lets others have a turn."""


def _nothing(*_: object) -> None:
    pass


class Timer:
    def __init__(self, callback: Callback) -> None:
        self.callback: Callback | None = callback

    def cancel(self) -> None:
        self.callback = None


class Task:
    """Work in steps under way."""

    def __init__(self, loop: Loop, steps: Steps) -> None:
        self._loop = loop
        self._steps: Steps | None = steps
        self._queued = False
        self.wake()

    def wake(self) -> None:
        """Let it go on, in its turn."""
        if not self._queued and self._steps is not None:
            self._queued = True
            self._loop.ready.append(self)

    def stop(self, reason: BaseException) -> None:
        """End it where it is, with its own clean-up."""
        if self._steps is not None:
            steps, self._steps = self._steps, None
            with contextlib.suppress(StopIteration, type(reason)):
                steps.throw(reason)

    def step(self) -> None:
        self._queued = False
        if self._steps is None:
            return
        try:
            waits = next(self._steps)
        except StopIteration:
            self._steps = None
            return
        if not waits:
            self.wake()


class Loop:
    def __init__(self) -> None:
        self.ready: deque[Task] = deque()
        self._selector = selectors.DefaultSelector()
        self._readers: dict[int, Callback] = {}
        self._writers: dict[int, Callback] = {}
        self._timers: list[tuple[float, int, Timer]] = []
        self._order = itertools.count()
        self._children: dict[int, Callable[[int], None]] = {}
        self._running = True
        self._woken, wake = os.pipe()
        os.set_blocking(self._woken, False)
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, _nothing)
        self.on_readable(self._woken, self._reap)

    def on_readable(self, fd: int, callback: Callback | None) -> None:
        self._watch(fd, self._readers, callback)

    def on_writable(self, fd: int, callback: Callback | None) -> None:
        self._watch(fd, self._writers, callback)

    def close(self, fd: int) -> None:
        """Watch it no more, and close it."""
        self.on_readable(fd, None)
        self.on_writable(fd, None)
        os.close(fd)

    def later(self, seconds: float, callback: Callback) -> Timer:
        timer = Timer(callback)
        heapq.heappush(self._timers, (time.monotonic() + seconds, next(self._order), timer))
        return timer

    def on_exit(self, pid: int, callback: Callable[[int], None]) -> None:
        """Call with the wait status when this child ended."""
        self._children[pid] = callback

    def ended(self, pid: int, status: int) -> None:
        """A process has ended. Of orphans of what ran here nobody wants to know."""
        callback = self._children.pop(pid, None)
        if callback is not None:
            callback(status)

    def stop(self) -> None:
        self._running = False

    def run(self) -> None:
        while self._running:
            self._turn()

    def _turn(self) -> None:
        for key, events in self._selector.select(self._patience()):
            if events & selectors.EVENT_READ and (callback := self._readers.get(key.fd)):
                callback()
            if events & selectors.EVENT_WRITE and (callback := self._writers.get(key.fd)):
                callback()
        now = time.monotonic()
        while self._timers and self._timers[0][0] <= now:
            timer = heapq.heappop(self._timers)[2]
            if timer.callback is not None:
                timer.callback()
        for _ in range(len(self.ready)):
            self.ready.popleft().step()

    def _patience(self) -> float | None:
        if self.ready:
            return 0
        while self._timers and self._timers[0][2].callback is None:
            heapq.heappop(self._timers)
        return max(0.0, self._timers[0][0] - time.monotonic()) if self._timers else None

    def _watch(self, fd: int, side: dict[int, Callback], callback: Callback | None) -> None:
        before = self._events(fd)
        if callback is None:
            side.pop(fd, None)
        else:
            side[fd] = callback
        events = self._events(fd)
        if events == before:
            return
        if not before:
            self._selector.register(fd, events)
        elif not events:
            self._selector.unregister(fd)
        else:
            self._selector.modify(fd, events)

    def _events(self, fd: int) -> int:
        return (selectors.EVENT_READ if fd in self._readers else 0) | (
            selectors.EVENT_WRITE if fd in self._writers else 0
        )

    def _reap(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self._woken, 4096)
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            self.ended(pid, status)
