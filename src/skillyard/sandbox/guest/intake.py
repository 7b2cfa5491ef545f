"""What the host sends with a request, for work that goes in steps."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator

    from link import Channel
    from loop import Callback


class Intake:
    """The data of a channel, piece by piece."""

    def __init__(self, channel: Channel, wake: Callback) -> None:
        self._channel = channel
        self._wake = wake
        self._pieces: deque[bytes] = deque()
        self._ended = False
        channel.on_data = self._data
        channel.on_end = self._end

    def take(self) -> Generator[bool, None, bytes]:
        """The next piece; empty at the end."""
        while not self._pieces:
            if self._ended:
                return b""
            yield True
        piece = self._pieces.popleft()
        self._channel.consumed(len(piece))
        return piece

    def all(self) -> Generator[bool, None, bytes]:
        pieces: list[bytes] = []
        while True:
            piece = yield from self.take()
            if not piece:
                return b"".join(pieces)
            pieces.append(piece)

    def _data(self, data: bytes) -> None:
        self._pieces.append(data)
        self._wake()

    def _end(self) -> None:
        self._ended = True
        self._wake()
