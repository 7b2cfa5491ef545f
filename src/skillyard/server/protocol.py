"""The HTTP protocols of a server: what is taken of a connection before there is a request that could be refused."""

import asyncio
import socket
from typing import Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from skillyard.errors import NotAllowedError
from skillyard.server.asgi import Receive, Scope, Send, refuse
from skillyard.server.peers import Peer, own_uids, whose

HEAD_SECONDS: Final = 20.0
"""How long the head of a request may take, from its first byte or from the beginning of the connection."""
HEAD_BYTES: Final = 128 * 1024
"""So much may arrive without becoming a request or a body; what is taken of it is less (see `limits`)."""
SEND_SECONDS: Final = 60.0
"""How long a client may take nothing of an answer, where the system can tell (Linux)."""


class BoundedProtocol(HttpToolsProtocol):
    """The protocol of uvicorn, which by itself waits for ever and takes heads of any size."""

    head_seconds: float = HEAD_SECONDS
    send_seconds: float = SEND_SECONDS
    _deadline: asyncio.TimerHandle | None = None
    _in_head = False
    _spare_bytes = 0
    """What came since there was last a request, or a piece of its body."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        super().connection_made(transport)
        self._deadline = self.loop.call_later(self.head_seconds, transport.close)
        connection = transport.get_extra_info("socket")
        if connection is not None and hasattr(socket, "TCP_USER_TIMEOUT"):
            milliseconds = int(self.send_seconds * 1000)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget_deadline()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._spare_bytes += len(data)
        super().data_received(data)
        active = bool(self.cycle) and not self.cycle.response_complete
        if active:
            self._forget_deadline()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(self.head_seconds, self.transport.close)
        if self._spare_bytes <= HEAD_BYTES or self.transport.is_closing():
            return
        if active:
            self.transport.close()
        else:
            self.send_400_response("The head of the request is too large.")

    def on_message_begin(self) -> None:
        self._in_head = True
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        # What follows a body would be taken for headers that nobody has looked at.
        if self._in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._spare_bytes = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._spare_bytes = 0
        super().on_body(body)

    def _forget_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class LocalProtocol(BoundedProtocol):
    """That of a local server: it looks once, at the start, at whose connection it serves."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        super().connection_made(transport)
        if not self.client or not self.server or self.server[1] is None:
            return
        server = (self.server[0], self.server[1])
        if whose(self.client, server, uids=own_uids()) is Peer.FOREIGN:
            # Refused by an answer, not by hanging up: a connection closed with unread data loses the answer.
            self.app = refuse_stranger


async def refuse_stranger(scope: Scope, _receive: Receive, send: Send) -> None:
    """The application that users of this machine meet who are not the one the server belongs to."""
    error = NotAllowedError(
        "This server belongs to another user of this machine.",
        hint="Start your own: skillyard serve --port 0",
    )
    await refuse(scope, send, error, extra=((b"connection", b"close"),))
