"""The HTTP protocol of a local server: it looks once, at the start, at whose connection it serves."""

import asyncio
from typing import Any

from skillyard.errors import NotAllowedError
from skillyard.server.asgi import Receive, Scope, Send, refuse
from skillyard.server.peers import Peer, own_uids, whose


async def refuse_stranger(scope: Scope, _receive: Receive, send: Send) -> None:
    """The application that users of this machine meet who are not the one the server belongs to."""
    error = NotAllowedError(
        "This server belongs to another user of this machine.",
        hint="Start your own: skillyard serve --port 0",
    )
    await refuse(scope, send, error, extra=((b"connection", b"close"),))


def local_protocol() -> type[asyncio.Protocol]:
    """The protocol of uvicorn, whichever it chose, for the connections of one user."""
    from uvicorn.protocols.http.auto import AutoHTTPProtocol  # noqa: PLC0415 -- only a running server needs it

    base: Any = AutoHTTPProtocol
    uids = own_uids()

    class LocalProtocol(base):
        def connection_made(self, transport: asyncio.Transport) -> None:
            base.connection_made(self, transport)
            if self.client and self.server and whose(self.client, self.server, uids=uids) is Peer.FOREIGN:
                # Refused by an answer, not by hanging up: a connection closed with unread data loses the answer.
                self.app = refuse_stranger

    return LocalProtocol
