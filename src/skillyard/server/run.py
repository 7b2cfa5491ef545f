"""Running the server: one socket, bound before anything is promised."""

import asyncio
import contextlib
import errno
import socket
from collections.abc import Callable, Sequence
from typing import Final

from skillyard.errors import ConflictError, NotAllowedError, UnavailableError, UsageError
from skillyard.server.asgi import App, Message, Receive, Scope, Send, refuse

_STOP_SECONDS: Final = 5
"""How long answers under way may take when the server is told to stop; a run in a sandbox could take minutes."""


def bind(host: str, port: int) -> socket.socket:
    """A listening socket; what is in the way is named together with the fix."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (socket.gaierror, UnicodeError) as error:
        raise UsageError(
            f"The host {host!r} means no address.",
            hint="Use 127.0.0.1, ::1 or localhost.",
            details={"host": host},
        ) from error
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(2048)
    except OSError as error:
        listener.close()
        raise _bind_error(error, host, port) from error
    return listener


def address_of(listener: socket.socket) -> str:
    """The URL under which a bound socket is reached."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def run(
    app: App,
    listener: socket.socket,
    *,
    local: bool = True,
    proxies: Sequence[str] = (),
    stopping: Callable[[], None] = lambda: None,
) -> None:
    """Serve until interrupted.

    A `local` server takes only connections of its own user, where the system can tell. `proxies` are the addresses
    whose `X-Forwarded-*` headers are believed. `stopping` is called when the server has been told to stop, before it
    waits for the answers under way, which it does for a short time.
    """
    import uvicorn  # noqa: PLC0415 -- only a running server needs it

    from skillyard.server.protocol import BoundedProtocol, LocalProtocol  # noqa: PLC0415

    config = uvicorn.Config(
        _StopsInTime(app),
        http=LocalProtocol if local else BoundedProtocol,
        ws="none",  # a WebSocket would bypass the protocol above
        log_level="warning",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(proxies),
        forwarded_allow_ips=list(proxies),
        timeout_graceful_shutdown=_STOP_SECONDS,
    )

    class Server(uvicorn.Server):
        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            stopping()
            await super().shutdown(sockets)

    with contextlib.suppress(KeyboardInterrupt):  # the way a person stops it
        Server(config).run(sockets=[listener])


class _StopsInTime:
    """Tells those whose answer is not ready when the patience of a stopping server ends."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def say(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, say)
        except asyncio.CancelledError:  # nothing else does that here
            if scope["type"] == "http" and not begun:
                await refuse(scope, send, _stopped())


def _stopped() -> UnavailableError:
    return UnavailableError(
        "The server was told to stop before this was done.",
        hint="Ask again when it is back; what was run in a sandbox is in its history.",
        details={"retry_after": _STOP_SECONDS},
    )


def _bind_error(error: OSError, host: str, port: int) -> ConflictError | NotAllowedError | UsageError:
    details = {"host": host, "port": port}
    if error.errno == errno.EADDRINUSE:
        return ConflictError(
            f"Port {port} on {host} is in use.",
            hint=f"Stop what uses it, or choose another: skillyard serve --port {port + 1}",
            details=details,
        )
    if error.errno in {errno.EACCES, errno.EPERM}:
        return NotAllowedError(
            f"Port {port} on {host} needs more rights.", hint="Use a port above 1023.", details=details
        )
    return UsageError(f"The address {host} cannot be bound: {error.strerror}.", hint="Use 127.0.0.1.", details=details)
