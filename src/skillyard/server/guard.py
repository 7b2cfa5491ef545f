"""Keeps other web pages away: only requests that name this machine get through."""

import ipaddress
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final, TypeAlias

from starlette.responses import JSONResponse

from skillyard.errors import NotAllowedError

Message: TypeAlias = MutableMapping[str, Any]
Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

SAFE_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
}


class LoopbackGuard:
    """Refuses requests whose Host is not this machine.

    A page on the internet can point its own name at 127.0.0.1 and so read a local server; the Host header
    still carries that name.
    """

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        host = _header(scope, b"host")
        if scope["type"] == "lifespan" or is_loopback(hostname(host)):
            await self.app(scope, receive, send)
            return
        error = NotAllowedError(
            f"The host {host!r} is not this machine.",
            hint="Use http://127.0.0.1 or http://localhost; to serve others, bind another address.",
            details={"host": host},
        )
        body = {"success": False, "error": error.as_dict()}
        await JSONResponse(body, status_code=error.http_status, headers=SAFE_HEADERS)(scope, receive, send)


class SafeHeaders:
    """Adds to every answer the headers that keep a browser from doing anything with it but show it."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                known = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [
                    *message["headers"],
                    *(
                        (name.lower().encode(), value.encode())
                        for name, value in SAFE_HEADERS.items()
                        if name.lower().encode() not in known
                    ),
                ]
            await send(message)

        await self.app(scope, receive, send_with_headers)


def hostname(host: str) -> str:
    """The name in a Host header, without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def is_loopback(name: str) -> bool:
    """Whether a host name can only mean this machine."""
    if name.lower().rstrip(".") == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _header(scope: Scope, wanted: bytes) -> str:
    return next((value.decode("latin-1") for name, value in scope.get("headers", ()) if name == wanted), "")
