"""The HTTP messages that pass a sandbox's proxy: what is accepted of them, and how they are sent on."""

import re
from typing import Final, NoReturn, TypeAlias

import h11

from skillyard.sandbox.network import DEFAULT_PORTS, Endpoint, split_authority

END_OF_HEAD: Final = b"\r\n\r\n"

_ABSOLUTE: Final = re.compile(r"http://([^/?#]*)([/?][^#]*)?", re.IGNORECASE)
_LOOSE_LINE_END: Final = re.compile(rb"(?<!\r)\n|\r(?!\n)")
_FOLDED: Final = re.compile(rb"\r\n[ \t]")
_HOP_BY_HOP: Final = frozenset(
    {
        *(b"connection", b"keep-alive", b"proxy-connection", b"proxy-authenticate", b"proxy-authorization"),
        *(b"te", b"trailer", b"transfer-encoding", b"upgrade", b"expect"),
    }
)
_NEVER_DROPPED: Final = frozenset({b"host", b"content-length"})
"""Whatever a Connection header says: dropping these would change where a message goes or ends."""

Headers: TypeAlias = list[tuple[bytes, bytes]]


class BadRequestError(Exception):
    """A request that could mean one thing here and another one further on, or nothing at all."""


def check_line_ends(data: bytes, start: int = 0) -> None:
    """Refuse what parsers disagree about: loose line ends, folded lines, zero bytes."""
    end = len(data) - data.endswith(b"\r")  # its LF may still come
    if data.find(b"\0", start) >= 0 or _LOOSE_LINE_END.search(data, start, end) or _FOLDED.search(data, start):
        raise BadRequestError("its head has folded lines, zero bytes, or lines that do not end in CR LF")


def parse_request(side: h11.Connection, head: bytes) -> h11.Request:
    """The request in a head, which is complete."""
    check_line_ends(head)
    side.receive_data(head)
    try:
        request = side.next_event()
    except h11.RemoteProtocolError as error:
        raise BadRequestError(str(error)) from None
    if not isinstance(request, h11.Request):
        raise BadRequestError("its head is not one of a request")
    framing = {name for name, _ in request.headers} & {b"content-length", b"transfer-encoding"}
    if len(framing) > 1:
        raise BadRequestError("it has both Content-Length and Transfer-Encoding")
    if b"transfer-encoding" in framing and request.http_version != b"1.1":
        raise BadRequestError("it has a Transfer-Encoding, which HTTP/1.0 does not know")
    return request


def absolute_target(target: bytes) -> tuple[Endpoint, bytes]:
    """Where `http://host:port/path` leads, and the path to ask for there."""
    text = target.decode("ascii")
    match = _ABSOLUTE.fullmatch(text)
    if match is None:
        _refuse_target(text)
    try:
        host, port = split_authority(match[1])
    except ValueError as error:
        raise BadRequestError(f"its address is not valid: {error}") from None
    path = match[2] or "/"
    path = path if path.startswith("/") else f"/{path}"
    return Endpoint(scheme="http", host=host, port=port or DEFAULT_PORTS["http"]), path.encode()


def connect_target(target: bytes) -> tuple[str, int]:
    """The host and the port that a tunnel is asked for."""
    try:
        host, port = split_authority(target.decode("ascii"))
    except ValueError as error:
        raise BadRequestError(f"its address is not valid: {error}") from None
    if port is None:
        raise BadRequestError("CONNECT needs host:port")
    return host, port


def path_target(target: bytes) -> bytes:
    """The path of a request inside a tunnel, where the host is settled."""
    if not target.startswith(b"/") or b"#" in target:
        raise BadRequestError("inside a tunnel only a path can be asked for")
    return target


def onward_request(request: h11.Request, endpoint: Endpoint, path: bytes) -> h11.Request:
    """The request as the endpoint gets it: for this host, on a connection of its own."""
    headers = request.headers.raw_items()
    onward = [(b"Host", endpoint.authority.encode())]
    onward += [(name, value) for name, value in _end_to_end(headers) if name.lower() != b"host"]
    if _is_chunked(headers):
        onward.append((b"Transfer-Encoding", b"chunked"))
    if wants_websocket(request):
        onward += [(b"Connection", b"Upgrade"), (b"Upgrade", b"websocket")]
    else:
        onward.append((b"Connection", b"close"))
    return h11.Request(method=request.method, target=path, headers=onward)


def onward_response(response: h11.Response) -> h11.Response:
    """The response as the sandbox gets it; how its body is framed is decided anew."""
    headers = response.headers.raw_items()
    onward = _end_to_end(headers)
    if _is_chunked(headers):
        onward = [(name, value) for name, value in onward if name.lower() != b"content-length"]
    return h11.Response(status_code=response.status_code, headers=onward, reason=response.reason)


def onward_switch(response: h11.InformationalResponse) -> h11.InformationalResponse:
    """The answer that turns a connection into a WebSocket."""
    onward = [*_end_to_end(response.headers.raw_items()), (b"Connection", b"Upgrade"), (b"Upgrade", b"websocket")]
    return h11.InformationalResponse(status_code=101, headers=onward, reason=response.reason)


def wants_websocket(request: h11.Request) -> bool:
    """Whether the connection is to become a WebSocket; it becomes nothing else."""
    headers = request.headers.raw_items()
    upgrades = [value.strip().lower() for name, value in headers if name.lower() == b"upgrade"]
    return upgrades == [b"websocket"] and b"upgrade" in _connection_options(headers)


def answer(status: int, reason: str, text: str) -> bytes:
    """An answer of the proxy itself, after which the connection ends."""
    body = f"{text}\n".encode()
    head = (
        f"HTTP/1.1 {status} {reason}\r\nContent-Type: text/plain; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\nX-Skillyard-Proxy: {status}\r\n\r\n"
    )
    return head.encode("ascii", "replace") + body


def _connection_options(headers: Headers) -> set[bytes]:
    values = (value for name, value in headers if name.lower() == b"connection")
    return {option.strip().lower() for value in values for option in value.split(b",")}


def _end_to_end(headers: Headers) -> Headers:
    hop = _HOP_BY_HOP | (_connection_options(headers) - _NEVER_DROPPED)
    return [(name, value) for name, value in headers if name.lower() not in hop]


def _is_chunked(headers: Headers) -> bool:
    return any(name.lower() == b"transfer-encoding" for name, _ in headers)


def _refuse_target(text: str) -> NoReturn:
    if text.lower().startswith("https://"):
        raise BadRequestError("https goes through this proxy with CONNECT")
    raise BadRequestError("this is a proxy: it needs a whole address, like GET http://host:port/path")
