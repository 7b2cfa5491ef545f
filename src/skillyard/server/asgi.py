"""What the parts that every request passes through share: the types of ASGI, and refusing a request."""

import json
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from skillyard.errors import InputError, SkillyardError, TooManyRequestsError, UnauthenticatedError, UsageError
from skillyard.server.mcp.refusals import refusal_body, speaks_mcp
from skillyard.server.yard.errors import of_path, speaks_yard, yard_body, yard_status

if TYPE_CHECKING:
    from skillyard.server.web.refusals import RefusalPage

Message: TypeAlias = MutableMapping[str, Any]
Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
Header: TypeAlias = tuple[bytes, bytes]

PROBES: Final = frozenset({"/health", "/healthz", "/readyz"})
"""What watches the server gets an answer without credentials, also when everyone else asks too often."""
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
    """Answer with an error before the application has seen the request: people with a page, programs with JSON."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": error.code})
        return
    page = _page(scope, error)
    body = error_body(error.as_public_dict()) if page is None else page.body
    if speaks_mcp(scope["method"], scope["path"]):
        body = encoded(refusal_body(error))
    elif speaks_yard(scope["path"]):
        error = of_path(error, scope["path"])
        body = encoded(yard_body(error, state_of(scope).get(REQUEST_ID, "")))
        status = yard_status(error) if status in {None, InputError.http_status} else status
    own = ((name.lower().encode(), value.encode()) for name, value in error_headers(error).items())
    shown = [(b"content-type", b"application/json"), *RAW_SAFE_HEADERS] if page is None else page.headers
    headers = [
        (b"content-length", b"%d" % len(body)),
        *shown,
        *own,
        *extra,
    ]
    await send({"type": "http.response.start", "status": status or error.http_status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})


def _page(scope: Scope, error: SkillyardError) -> "RefusalPage | None":
    """What a person in front of a browser is shown; what is wrong with the request itself only a program can mend."""
    from skillyard.server.sign_in.origins import wants_page  # noqa: PLC0415 -- it needs the types of this module

    is_program = header(scope, b"authorization") is not None or not wants_page(scope)
    if is_program or isinstance(error, UsageError):
        return None
    from skillyard.server.web.refusals import refusal_page  # noqa: PLC0415 -- programs need no templates

    return refusal_page(scope, error)
