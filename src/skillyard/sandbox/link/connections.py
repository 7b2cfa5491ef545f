"""Connections that something inside a sandbox opened to its proxy, as they arrive on the host."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final, Protocol, TypeAlias, cast

from skillyard.sandbox.guest.frames import CLOSE, DATA, END, MAX_DATA, WINDOW, FrameError, pack, pack_credit

_log: Final = logging.getLogger(__name__)
_READ_AHEAD: Final = 64 * 1024
_WRITE_AHEAD: Final = 256 * 1024


class StreamWriterLike(Protocol):
    """What can be written to as to one of asyncio's own writers."""

    def write(self, data: bytes, /) -> None: ...

    async def drain(self) -> None: ...

    def close(self) -> None: ...


ConnectionHandler: TypeAlias = Callable[[asyncio.StreamReader, StreamWriterLike], Awaitable[None]]
"""Called for each connection to the proxy's port inside; the connection ends with it."""


class Connection:
    """One such connection: its handler reads and writes, neither side faster than the other takes it."""

    def __init__(self, number: int, handler: ConnectionHandler, send: Callable[[bytes], None]) -> None:
        self._number = number
        self._send = send
        self._reader = asyncio.StreamReader(limit=_READ_AHEAD)
        self._reader.set_transport(cast("asyncio.Transport", self))  # for its pauses only
        self._paused = False
        self._owed = 0
        self._allowed = WINDOW
        self._credit = WINDOW
        self._waiting = bytearray()
        self._room = asyncio.Event()
        self._room.set()
        self._peer_ended = False
        self._ending = False
        self._closing = False
        self._closed = False
        self.over = False
        """Both sides have said their last word."""
        self.task = asyncio.create_task(self._serve(handler))

    def received(self, data: bytes) -> None:
        self._allowed -= len(data)
        if not data or self._allowed < 0 or self._peer_ended:
            raise FrameError("a connection sends more than it may")
        self._owed += len(data)
        if not self._closing:
            self._reader.feed_data(data)
        if not self._paused or self._closing:
            self.resume_reading()

    def ended(self) -> None:
        if self._peer_ended:
            raise FrameError("a connection ends twice")
        self._peer_ended = True
        self._reader.feed_eof()

    def credited(self, size: int) -> None:
        if size <= 0 or self._credit + size > WINDOW:
            raise FrameError("a connection gives more room than there is")
        self._credit += size
        self._flush()

    def peer_closed(self) -> None:
        """The guest said its last word."""
        self.over = True
        if not self._peer_ended:
            self._peer_ended = True
            self._reader.feed_eof()
        self._waiting.clear()
        self._room.set()
        self._closing = True
        if not self._closed:
            self._closed = True
            self._send(pack(CLOSE, self._number))

    def abort(self) -> None:
        """The sandbox is gone."""
        self._closed = True
        self.peer_closed()

    def pause_reading(self) -> None:
        self._paused = True

    def resume_reading(self) -> None:
        self._paused = False
        if self._owed and not self._closed:
            self._send(pack_credit(self._number, self._owed))
            self._allowed += self._owed
            self._owed = 0

    def write(self, data: bytes, /) -> None:
        if not self._closing and not self._ending:
            self._waiting += data
            self._flush()

    async def drain(self) -> None:
        await self._room.wait()
        if self.over:
            raise ConnectionResetError("The connection was closed inside the sandbox.")

    def write_eof(self) -> None:
        if not self._ending and not self._closing:
            self._ending = True
            self._flush()

    def close(self) -> None:
        if not self._closing:
            self._closing = True
            self.resume_reading()
            self._flush()

    def is_closing(self) -> bool:
        return self._closing

    async def wait_closed(self) -> None:
        await self._room.wait()

    async def _serve(self, handler: ConnectionHandler) -> None:
        try:
            await handler(self._reader, self)
        except (OSError, EOFError):
            pass  # one side went away, which is an end like others
        except Exception:  # noqa: BLE001 - of one handler, and the sandbox goes on
            _log.exception("sandbox.proxy.failed")
        finally:
            self.close()

    def _flush(self) -> None:
        while self._waiting and self._credit > 0 and not self._closed:
            piece = bytes(self._waiting[: min(MAX_DATA, self._credit)])
            del self._waiting[: len(piece)]
            self._credit -= len(piece)
            self._send(pack(DATA, self._number, piece))
        if len(self._waiting) > _WRITE_AHEAD:
            self._room.clear()
        elif not self._room.is_set() and len(self._waiting) <= _WRITE_AHEAD // 2:
            self._room.set()
        if self._waiting or self._closed:
            return
        if self._ending or self._closing:
            self._ending = True
            self._send(pack(END, self._number))
        if self._closing:
            self._closed = True
            self._send(pack(CLOSE, self._number))
