"""Taking what programs print: in pieces, as long as there is room for it, and within a bound."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from frames import MAX_DATA

if TYPE_CHECKING:
    from link import Channel
    from loop import Callback, Loop, Timer

_PAUSE = 0.002
"""After a small piece, so that a program that prints line by line is not followed line by line."""
_SMALL = 16 * 1024
_PIPE = 1024 * 1024
"""A pipe holds at most this much."""
_MAX_LEFT_BEHIND = 128


class Budget:
    """How much output is kept of one execution, over all its streams."""

    def __init__(self, size: int) -> None:
        self._left = size
        self.truncated = False

    def take(self, data: bytes) -> bytes:
        kept = data[: self._left]
        self._left -= len(kept)
        if len(kept) < len(data):
            self.truncated = True
        return kept

    @property
    def spent(self) -> bool:
        return self._left <= 0


class Output:
    """One stream of output, from a pipe to a channel."""

    def __init__(self, loop: Loop, fd: int) -> None:
        self._loop = loop
        self._fd = fd
        self._channel: Channel | None = None
        self._budget = Budget(0)
        self._stream = 0
        self._timer: Timer | None = None
        self._on_end: Callback = lambda: None
        self.ended = False
        os.set_blocking(fd, False)
        loop.on_readable(fd, self._take)

    def send_to(self, channel: Channel | None, stream: int, budget: Budget) -> None:
        """Where it goes from now on; without a channel it is dropped, so that nobody is stopped by a full pipe."""
        self._channel, self._stream, self._budget = channel, stream, budget
        self.resume()

    def on_end(self, callback: Callback) -> None:
        self._on_end = callback

    def resume(self) -> None:
        """Go on when there is room again."""
        if not self.ended:
            self._loop.on_readable(self._fd, self._take)

    def drain(self) -> bool:
        """Take what is there now; answers whether that was all of it."""
        taken = 0
        while not self.ended and taken < _PIPE:
            if self._blocked():
                return False
            size = self._read()
            if not size:
                return True
            taken += size
        return True

    def close(self) -> None:
        if not self.ended:
            self.ended = True
            self._loop.close(self._fd)

    def _blocked(self) -> bool:
        return self._channel is not None and not self._budget.spent and self._channel.credit <= 0

    def _take(self) -> None:
        self._read()

    def _read(self) -> int:
        size = MAX_DATA
        if self._channel is not None and not self._budget.spent:
            size = min(size, self._channel.credit)
            if size <= 0:
                self._loop.on_readable(self._fd, None)
                return 0
        try:
            data = os.read(self._fd, size)
        except BlockingIOError:
            return 0
        except OSError:
            data = b""
        if not data:
            self.close()
            self._on_end()
            return 0
        kept = self._budget.take(data)
        if kept and self._channel is not None:
            self._channel.send(kept, self._stream)
        if len(data) < _SMALL and self._timer is None:
            self._timer = self._loop.later(_PAUSE, self._go_on)
            self._loop.on_readable(self._fd, None)
        return len(data)

    def _go_on(self) -> None:
        self._timer = None
        self.resume()


class LeftBehind:
    """Output of programs that go on in the background after the command that started them: read and dropped.

    Were its pipes closed instead, such a program would be killed by its next word.
    """

    def __init__(self) -> None:
        self._outputs: list[Output] = []

    def add(self, output: Output) -> None:
        self._outputs = [other for other in self._outputs if not other.ended]
        output.on_end(lambda: None)
        output.send_to(None, 0, Budget(0))
        self._outputs.append(output)
        if len(self._outputs) > _MAX_LEFT_BEHIND:
            self._outputs.pop(0).close()
