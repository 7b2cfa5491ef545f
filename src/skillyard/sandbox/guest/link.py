"""The guest's end of the stream to the host, and the channels on it."""

from __future__ import annotations

import os
from collections import deque
from typing import TYPE_CHECKING, Any

from frames import (
    CANCEL,
    CLOSE,
    CREDIT,
    DATA,
    END,
    MAX_DATA,
    MAX_REQUEST,
    REQUEST,
    RESULT,
    WINDOW,
    Frame,
    Parser,
    pack,
    pack_credit,
    pack_document,
    unpack_credit,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from loop import Callback, Loop

_READ = 256 * 1024


def _nothing() -> None:
    pass


def _no_data(_: bytes) -> None:
    pass


class Channel:
    """One request, or one connection: data both ways, each side sending only what the other has room for."""

    def __init__(self, link: Link, number: int) -> None:
        self.number = number
        self.credit = WINDOW
        self.on_data: Callable[[bytes], None] = _no_data
        self.on_end: Callback = _nothing
        self.on_cancel: Callback = _nothing
        self.on_credit: Callback = _nothing
        self._link = link
        self._owed = 0

    def send(self, data: bytes, stream: int = 0) -> None:
        """One piece; the caller has seen that there is credit for it."""
        self.credit -= len(data)
        self._link.send(pack(DATA, self.number, data, stream))

    def consumed(self, size: int) -> None:
        """Tell, in good time, that there is room for more."""
        self._owed += size
        if self._owed >= WINDOW // 2:
            self._link.send(pack_credit(self.number, self._owed))
            self._owed = 0

    def end(self) -> None:
        self._link.send(pack(END, self.number))

    def close(self) -> None:
        self._link.send(pack(CLOSE, self.number))

    def result(self, document: dict[str, Any]) -> None:
        self._link.send(pack_document(RESULT, self.number, document))
        self._link.forget(self.number)

    def put(self, data: bytes, stream: int) -> Generator[bool, None, None]:
        """Send any amount, waiting for room."""
        at = 0
        while at < len(data):
            while self.credit <= 0:
                yield True
            piece = data[at : at + min(self.credit, MAX_DATA)]
            self.send(piece, stream)
            at += len(piece)


class Link:
    """Reads frames from the host and writes frames to it; ends the guest when the host is gone."""

    def __init__(self, loop: Loop, incoming: int, outgoing: int, on_request: Callable[[Channel, Any], None]) -> None:
        self._loop = loop
        self._incoming = incoming
        self._outgoing = outgoing
        self._on_request = on_request
        self._channels: dict[int, Channel] = {}
        self._parser = Parser(MAX_REQUEST)
        self._waiting: deque[bytes] = deque()
        self._flushing = False
        for fd in {incoming, outgoing}:
            os.set_blocking(fd, False)
        loop.on_readable(incoming, self._read)

    def open(self, number: int) -> Channel:
        channel = self._channels[number] = Channel(self, number)
        return channel

    def forget(self, number: int) -> None:
        self._channels.pop(number, None)

    def send(self, data: bytes) -> None:
        self._waiting.append(data)
        if not self._flushing:
            self._flush()

    def _flush(self) -> None:
        while self._waiting:
            data = self._waiting.popleft()
            try:
                sent = os.write(self._outgoing, data)
            except BlockingIOError:
                sent = 0
            except OSError:
                self._loop.stop()
                return
            if sent < len(data):
                self._waiting.appendleft(data[sent:])
                if not self._flushing:
                    self._flushing = True
                    self._loop.on_writable(self._outgoing, self._flush)
                return
        if self._flushing:
            self._flushing = False
            self._loop.on_writable(self._outgoing, None)

    def _read(self) -> None:
        try:
            data = os.read(self._incoming, _READ)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._loop.stop()
            return
        for frame in self._parser.feed(data):
            self._dispatch(frame)

    def _dispatch(self, frame: Frame) -> None:
        if frame.kind == REQUEST:
            self._on_request(self.open(frame.channel), frame.document())
            return
        channel = self._channels.get(frame.channel)
        if channel is None:
            return  # answered already: what was on its way to it comes too late
        if frame.kind == DATA:
            channel.on_data(frame.payload)
        elif frame.kind == END:
            channel.on_end()
        elif frame.kind in {CANCEL, CLOSE}:
            channel.on_cancel()
        elif frame.kind == CREDIT:
            channel.credit += unpack_credit(frame.payload)
            channel.on_credit()
