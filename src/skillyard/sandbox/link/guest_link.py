"""The host's end of the stream to a guest: whatever comes from there may be hostile, and is bounded."""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Final

from skillyard.errors import SandboxDiedError
from skillyard.sandbox.guest.frames import (
    CANCEL,
    CLOSE,
    CREDIT,
    DATA,
    END,
    ERR,
    EXTRA,
    FIRST_CONNECTION,
    HELLO,
    MAX_CONNECTIONS,
    MAX_DATA,
    MAX_DOCUMENT,
    OPEN,
    OUT,
    REQUEST,
    RESULT,
    VERSION,
    WINDOW,
    Frame,
    FrameError,
    Parser,
    pack,
    pack_credit,
    pack_document,
    unpack_credit,
)
from skillyard.sandbox.link.connections import Connection, ConnectionHandler
from skillyard.sandbox.link.transport import Transport

_log: Final = logging.getLogger(__name__)
_READ: Final = 256 * 1024
_LINGER_SECONDS: Final = 15.0
"""How long a cancelled call may take to end inside."""
_CLOSE_SECONDS: Final = 30.0

Receive = Callable[[int, bytes], None]


class Call:
    """One request under way."""

    def __init__(self, number: int, *, receive: Receive | None, max_bytes: int | None) -> None:
        self.number = number
        self.answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self.pieces: deque[bytes] = deque()
        """What came and was not taken yet, where nobody receives at once."""
        self.news = asyncio.Event()
        self.credit = WINDOW
        self.room = asyncio.Event()
        self.cancelled = False
        self._receive = receive
        self._left = max_bytes
        self._allowed = WINDOW
        self._owed = 0

    def received(self, stream: int, data: bytes) -> None:
        self._allowed -= len(data)
        if self._left is not None:
            self._left -= len(data)
        if not data or len(data) > MAX_DATA or self._allowed < 0 or (self._left is not None and self._left < 0):
            raise FrameError("it sends more than it may")
        if stream not in {OUT, ERR, EXTRA}:
            raise FrameError("it sends on a stream that is none")
        if self.cancelled:
            self.take(len(data))
        elif self._receive is not None:
            self.take(len(data))
            self._receive(stream, data)
        else:
            self.pieces.append(data)
            self.news.set()

    def take(self, size: int) -> None:
        self._owed += size

    def owed(self) -> int:
        """The room to give back, when it is worth a word."""
        if self._owed < WINDOW // 2:
            return 0
        owed, self._owed = self._owed, 0
        self._allowed += owed
        return owed

    def credited(self, size: int) -> None:
        if size <= 0 or self.credit + size > WINDOW:
            raise FrameError("it gives more room than there is")
        self.credit += size
        self.room.set()

    def fail(self, error: Exception) -> None:
        if not self.answer.done():
            self.answer.set_exception(error)
            self.answer.exception()  # seen: nobody may be waiting for it any more
        self.room.set()
        self.news.set()


class GuestLink:
    """Sends requests and finds the answers; when the guest breaks the rules or goes away, everything fails at once."""

    def __init__(
        self, transport: Transport, *, proxy: ConnectionHandler | None, on_close: Callable[[], Awaitable[None]]
    ) -> None:
        self._transport = transport
        self._proxy = proxy
        self._on_close = on_close
        self._calls: dict[int, Call] = {}
        self._connections: dict[int, Connection] = {}
        self._serving: set[asyncio.Task[None]] = set()
        self._next = 1
        self._greeting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._reason = ""
        self._ending: asyncio.Task[None] | None = None
        self._reading = asyncio.create_task(self._read())

    @property
    def alive(self) -> bool:
        return self._ending is None

    async def greeted(self, seconds: float) -> None:
        """Wait for the guest's first word."""
        try:
            async with asyncio.timeout(seconds):
                await asyncio.shield(self._greeting)
        except TimeoutError:
            raise await self.fail(f"the guest did not answer within {seconds:g} seconds") from None

    def begin(self, request: dict[str, Any], *, receive: Receive | None, max_bytes: int | None) -> Call:
        if self._ending is not None:
            raise self.death()
        call = Call(self._next, receive=receive, max_bytes=max_bytes)
        self._next = self._next % (FIRST_CONNECTION - 1) + 1
        self._calls[call.number] = call
        self._transport.write(pack_document(REQUEST, call.number, request))
        return call

    async def send(self, call: Call, data: bytes) -> None:
        """Send what belongs to a request, and its end."""
        if await self.send_some(call, data):
            await self.send_end(call)

    async def send_some(self, call: Call, data: bytes) -> bool:
        """Send a part of what belongs to a request; false when it was answered without hearing all of it."""
        for at in range(0, len(data), MAX_DATA):
            piece = data[at : at + MAX_DATA]
            while call.credit < len(piece):
                if call.answer.done():
                    return False
                call.room.clear()
                await self._transport.drain()
                await call.room.wait()
            call.credit -= len(piece)
            self._transport.write(pack(DATA, call.number, piece))
        return True

    async def send_end(self, call: Call) -> None:
        self._transport.write(pack(END, call.number))
        await self._transport.drain()

    def taken(self, call: Call, size: int) -> None:
        call.take(size)
        self._give_back(call)

    def cancel(self, call: Call) -> None:
        """Stop it inside. Nobody waits for that, but if it takes too long the sandbox is ended."""
        if call.cancelled or call.number not in self._calls or self._ending is not None:
            return
        call.cancelled = True
        call.pieces.clear()
        self._transport.write(pack(CANCEL, call.number))

        def too_late() -> None:
            if call.number in self._calls:
                self._die("a cancelled call did not end")

        asyncio.get_running_loop().call_later(_LINGER_SECONDS, too_late)

    async def fail(self, reason: str) -> SandboxDiedError:
        """End the sandbox; answers with the error to raise."""
        await asyncio.shield(self._die(reason))
        return self.death()

    def death(self) -> SandboxDiedError:
        return SandboxDiedError(
            f"The sandbox has ended: {self._reason}.",
            hint="Its files are kept; the next call starts it again.",
            details={"reason": self._reason},
        )

    async def close(self) -> None:
        await asyncio.shield(self._die("it was closed"))

    async def _read(self) -> None:
        parser = Parser(max(MAX_DATA, MAX_DOCUMENT))
        reason = "the guest went away"
        try:
            while data := await self._transport.read(_READ):
                for frame in parser.feed(data):
                    self._dispatch(frame)
        except FrameError as error:
            reason = f"the guest broke the protocol ({error})"
        except OSError as error:
            reason = f"the stream to the guest broke ({error})"
        except Exception:  # noqa: BLE001 - of the server itself: told, and the sandbox is ended
            _log.exception("sandbox.link.failed")
            reason = "the server met an error of its own"
        self._die(reason)

    def _dispatch(self, frame: Frame) -> None:
        if not self._greeting.done():
            if frame.kind != HELLO or frame.document().get("version") != VERSION:
                raise FrameError("its first word is not the expected one")
            self._greeting.set_result(None)
        elif frame.channel >= FIRST_CONNECTION:
            self._for_connection(frame)
        elif (call := self._calls.get(frame.channel)) is not None:
            self._for_call(call, frame)
        else:
            raise FrameError("a frame belongs to nothing")

    def _for_call(self, call: Call, frame: Frame) -> None:
        if frame.kind == DATA:
            try:
                call.received(frame.stream, frame.payload)
            except FrameError:
                raise
            except Exception as error:  # noqa: BLE001 - of whoever receives, and told to whoever waits
                call.fail(error)
                self.cancel(call)
            self._give_back(call)
        elif frame.kind == RESULT:
            answer = frame.document()
            del self._calls[call.number]
            if not call.answer.done():
                call.answer.set_result(answer)
            call.room.set()
            call.news.set()
        elif frame.kind == CREDIT:
            call.credited(unpack_credit(frame.payload))
        else:
            raise FrameError(f"a frame of kind {frame.kind} is not expected")

    def _for_connection(self, frame: Frame) -> None:
        connection = self._connections.get(frame.channel)
        if frame.kind == OPEN:
            if connection is not None or self._proxy is None or len(self._connections) >= MAX_CONNECTIONS:
                raise FrameError("a connection is opened that may not be")
            opened = Connection(frame.channel, self._proxy, self._write)
            self._connections[frame.channel] = opened
            self._serving.add(opened.task)
            opened.task.add_done_callback(self._serving.discard)
        elif connection is None:
            raise FrameError("a frame belongs to no connection")
        elif frame.kind == DATA:
            connection.received(frame.payload)
        elif frame.kind == END:
            connection.ended()
        elif frame.kind == CREDIT:
            connection.credited(unpack_credit(frame.payload))
        elif frame.kind == CLOSE:
            connection.peer_closed()
            del self._connections[frame.channel]
        else:
            raise FrameError(f"a frame of kind {frame.kind} is not expected")

    def _give_back(self, call: Call) -> None:
        owed = call.owed()
        if owed and call.number in self._calls:
            self._write(pack_credit(call.number, owed))

    def _write(self, data: bytes) -> None:
        if self._ending is None:
            self._transport.write(data)

    def _die(self, reason: str) -> asyncio.Task[None]:
        if self._ending is None:
            self._reason = reason
            self._ending = asyncio.create_task(self._end())
            death = self.death()
            for call in self._calls.values():
                call.fail(death)
            self._calls.clear()
            for connection in self._connections.values():
                connection.abort()
            self._connections.clear()
            for task in self._serving:
                task.cancel()
            if not self._greeting.done():
                self._greeting.set_exception(death)
                self._greeting.exception()
        return self._ending

    async def _end(self) -> None:
        if self._reading is not asyncio.current_task():
            self._reading.cancel()
        with contextlib.suppress(OSError):
            await self._transport.close()
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self._on_close()
        except Exception:  # noqa: BLE001 - of the backend: nobody is there to hear it
            _log.exception("sandbox.close.failed")
