"""What the parts that every request passes through share: the types of ASGI, and refusing a request."""

import json
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, Final, TypeAlias

from skillyard.errors import InputError, SkillyardError, TooManyRequestsError, UnauthenticatedError
from skillyard.server.mcp.refusals import refusal_body, speaks_mcp
from skillyard.server.yard.errors import of_path, speaks_yard, yard_body, yard_status

Message: TypeAlias = MutableMapping[str, Any]
Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
Header: TypeAlias = tuple[bytes, bytes]

REQUEST_ID: Final = "request_id"
"""The note in a request's state of the id that it goes by."""
SAFE_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
}
RAW_SAFE_HEADERS: Final[tuple[Header, ...]] = tuple(
    (name.lower().encode(), value.encode()) for name, value in SAFE_HEADERS.items()
)


def header(scope: Scope, wanted: bytes) -> bytes | None:
    """The value of a header, the first if it is there more than once."""
    for name, value in scope["headers"]:
        if name == wanted:
            return value
    return None


def state_of(scope: Scope) -> dict[str, Any]:
    """The notes on a request that its parts leave for each other; FastAPI shows them as `request.state`."""
    return scope.setdefault("state", {})


def error_headers(error: SkillyardError) -> dict[str, str]:
    """The headers that say what an error asks of the client."""
    headers: dict[str, str] = {}
    if isinstance(error, UnauthenticatedError):
        headers["WWW-Authenticate"] = "Bearer"
    wait = error.details.get("retry_after", 1 if isinstance(error, TooManyRequestsError) else None)
    if wait is not None:
        headers["Retry-After"] = str(wait)
    return headers


def error_body(error: dict[str, object]) -> bytes:
    return encoded({"success": False, "error": error})


def encoded(body: dict[str, object]) -> bytes:
    # Escaped to ASCII: a message may quote a file name that is no UTF-8.
    return json.dumps(body).encode()


async def refuse(
    scope: Scope, send: Send, error: SkillyardError, *, status: int | None = None, extra: Iterable[Header] = ()
) -> None:
    """Answer with an error before the application has seen the request."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": error.code})
        return
    body = error_body(error.as_public_dict())
    if speaks_mcp(scope["method"], scope["path"]):
        body = encoded(refusal_body(error))
    elif speaks_yard(scope["path"]):
        error = of_path(error, scope["path"])
        body = encoded(yard_body(error, state_of(scope).get(REQUEST_ID, "")))
        status = yard_status(error) if status in {None, InputError.http_status} else status
    own = ((name.lower().encode(), value.encode()) for name, value in error_headers(error).items())
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
        *RAW_SAFE_HEADERS,
        *own,
        *extra,
    ]
    await send({"type": "http.response.start", "status": status or error.http_status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
