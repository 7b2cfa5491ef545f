"""Answers kept until the next change: a read that was answered before costs neither routing nor database."""

import asyncio
import gzip
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from skillyard.errors import SkillyardError
from skillyard.server.asgi import App, Header, Message, Receive, Scope, Send, refuse, state_of
from skillyard.server.etags import etag_of, gzip_etag, is_known, without_gzip
from skillyard.server.routes import PERSON, ROUTE, route_template

FRESH_UNTIL: Final = "fresh_until"
"""The note in `request.state` that lets an answer be kept: the time (epoch seconds) until which the caller's rights
hold, `math.inf` if they do not run out. An answer without it, or one that does not follow the change number (usage,
a folder on disk), is never kept."""
HIT: Final = "cache_hit"

MAX_BODY: Final = 1024 * 1024
_GZIP_FROM: Final = 1024
_GZIP_APART_FROM: Final = 64 * 1024
"""Bodies of this size are compressed beside the event loop, which would stand still for milliseconds."""
_GZIP_LEVEL: Final = 5
_ENTRY_COST: Final = 1024
_TEXTUAL: Final = (b"text/", b"application/json", b"application/xml", b"application/javascript", b"image/svg")
_CACHE_CONTROL: Final = (b"cache-control", b"private, no-cache")
_VARY: Final = b"authorization, cookie, accept-encoding"
_VARY_HERE: Final = _VARY + b", host"
"""Of an answer that holds the address it was asked at."""
_KEY_VARIES: Final = frozenset({b"authorization", b"accept-encoding", b"cookie", b"host"})

_Key: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Answer:
    headers: list[Header]
    short_headers: list[Header]
    """Those of an answer that says only that nothing changed."""
    body: bytes
    etag: bytes
    fresh_until: float
    route: str
    person: str | None
    cost: int
    """The memory it takes, about."""


class _Request:
    """The headers of a request that decide which answer fits it."""

    __slots__ = ("accepts_gzip", "if_none_match", "key", "ranged", "size")

    def __init__(self, scope: Scope) -> None:
        host = authorization = cookie = accept_encoding = b""
        self.if_none_match: bytes | None = None
        self.ranged = False
        for name, value in scope["headers"]:
            if name == b"host":
                host += value
            elif name == b"authorization":
                authorization += b"\0" + value
            elif name == b"cookie":
                cookie += b"\0" + value
            elif name == b"accept-encoding":
                accept_encoding += b"," + value
            elif name == b"if-none-match":
                self.if_none_match = value if self.if_none_match is None else self.if_none_match + b"," + value
            elif name == b"range":
                self.ranged = True
        self.accepts_gzip = b"gzip" in accept_encoding and accepts_gzip(accept_encoding)
        path = scope.get("raw_path") or scope["path"]
        query = scope["query_string"]
        # Without a Host header, the address that was connected to stands in for it.
        place = host or str(scope.get("server"))
        self.key: _Key = (path, query, authorization, cookie, place, scope["scheme"], self.accepts_gzip)
        self.size = len(path) + len(query) + len(authorization) + len(cookie) + len(host)


class AnswerCache:
    """Keeps successful answers under the given paths, and answers `If-None-Match`.

    An answer is good for whoever sent the same credentials, while the change number is the one that was read before
    the answer was made. Any change drops all of them.
    """

    def __init__(
        self,
        app: App,
        *,
        number: Callable[[], Awaitable[int]],
        prefixes: tuple[str, ...] = ("/api/v1/", "/.well-known/"),
        capacity: int = 32 * 1024 * 1024,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.app = app
        self._read_number = number
        self._prefixes = prefixes
        self._capacity = capacity
        self._clock = clock
        self._number = -1
        self._answers: OrderedDict[_Key, _Answer] = OrderedDict()
        self._bytes = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        method = scope["method"]
        if method not in {"GET", "HEAD"}:
            _restore_if_match(scope)
            await self.app(scope, receive, send)
            return
        if not scope["path"].startswith(self._prefixes):
            await self.app(scope, receive, send)
            return
        request = _Request(scope)
        if request.ranged:
            await self.app(scope, receive, send)
            return
        try:
            number = await self._read_number()
        except SkillyardError as error:
            await refuse(scope, send, error)
            return
        if number != self._number:
            self._answers.clear()
            self._bytes = 0
            self._number = number
        answer = self._answers.get(request.key)
        if answer is not None and self._clock() < answer.fresh_until:
            self._answers.move_to_end(request.key)
            state = state_of(scope)
            state[HIT] = True
            state[ROUTE] = answer.route
            state[PERSON] = answer.person
            await _send_answer(send, answer, request.if_none_match, head=method == "HEAD")
            return
        await self._ask(scope, receive, send, request, number)

    async def _ask(self, scope: Scope, receive: Receive, send: Send, request: _Request, number: int) -> None:
        head = scope["method"] == "HEAD"
        state = state_of(scope)
        # What a GET would answer decides what a HEAD answers.
        inner = {**scope, "method": "GET"} if head else scope
        start: Message | None = None

        async def take(message: Message) -> None:
            nonlocal start
            kind = message["type"]
            if kind == "http.response.start":
                start = message
                return
            if start is not None:
                held, start = start, None
                if kind == "http.response.body" and not message.get("more_body") and _is_plain(held):
                    body = message.get("body", b"")
                    if len(body) <= MAX_BODY:
                        state[ROUTE] = route_template(inner)
                        answer = await _answer(held["headers"], body, request, state)
                        self._keep(request.key, answer, number)
                        await _send_answer(send, answer, request.if_none_match, head=head)
                        return
                await send(held)
            await send({**message, "body": b""} if head and kind == "http.response.body" else message)

        await self.app(inner, receive, take)
        if head:
            state[ROUTE] = route_template(inner)

    def _keep(self, key: _Key, answer: _Answer, number: int) -> None:
        # Another request may have seen a later change in the meantime.
        if number != self._number or answer.fresh_until <= self._clock():
            return
        old = self._answers.pop(key, None)
        if old is not None:
            self._bytes -= old.cost
        self._answers[key] = answer
        self._bytes += answer.cost
        while self._bytes > self._capacity:
            self._bytes -= self._answers.popitem(last=False)[1].cost


def accepts_gzip(accept_encoding: bytes) -> bool:
    """Whether an Accept-Encoding header names gzip, and not with a weight of 0."""
    for item in accept_encoding.lower().split(b","):
        coding, _, weight = item.partition(b";")
        if coding.strip() == b"gzip":
            return weight.replace(b" ", b"").rstrip(b"0.") not in {b"q=", b"q"}
    return False


def _is_plain(start: Message) -> bool:
    """Whether an answer may be named by a tag and told again."""
    if start["status"] != 200:  # noqa: PLR2004 -- OK
        return False
    for name, value in start["headers"]:
        lower = name.lower()
        if lower == b"cache-control" and b"no-store" in value:
            return False
        if lower in {b"set-cookie", b"content-encoding"}:
            return False
        if lower == b"vary" and not _KEY_VARIES.issuperset(part.strip().lower() for part in value.split(b",")):
            return False
    return True


async def _answer(given: list[Header], body: bytes, request: _Request, state: dict[str, Any]) -> _Answer:
    headers: list[Header] = []
    etag = kind = b""
    cache_control = _CACHE_CONTROL
    vary = _VARY
    for name, value in given:
        lower = name.lower()
        if lower == b"etag":
            etag = value
        elif lower == b"cache-control":
            cache_control = (lower, value)
        elif lower == b"vary":
            vary = _VARY_HERE if b"host" in value.lower() else vary
        elif lower != b"content-length":
            headers.append((lower, value))
            if lower == b"content-type":
                kind = value
    etag = etag or etag_of(body)
    if request.accepts_gzip and len(body) >= _GZIP_FROM and kind.startswith(_TEXTUAL):
        body = await _compressed(body)
        etag = gzip_etag(etag)
        headers.append((b"content-encoding", b"gzip"))
    short = [(b"etag", etag), cache_control, (b"vary", vary)]
    return _Answer(
        headers=[*headers, *short, (b"content-length", b"%d" % len(body))],
        short_headers=short,
        body=body,
        etag=etag,
        fresh_until=state.get(FRESH_UNTIL, 0.0),
        route=state[ROUTE],
        person=state.get(PERSON),
        cost=len(body) + request.size + _ENTRY_COST,
    )


async def _compressed(body: bytes) -> bytes:
    if len(body) < _GZIP_APART_FROM:
        return gzip.compress(body, _GZIP_LEVEL, mtime=0)
    return await asyncio.to_thread(gzip.compress, body, _GZIP_LEVEL, mtime=0)


async def _send_answer(send: Send, answer: _Answer, if_none_match: bytes | None, *, head: bool) -> None:
    # Lists are copied: parts further out add headers of their own.
    if if_none_match is not None and is_known(if_none_match, answer.etag):
        await send({"type": "http.response.start", "status": 304, "headers": answer.short_headers.copy()})
        await send({"type": "http.response.body", "body": b""})
        return
    await send({"type": "http.response.start", "status": 200, "headers": answer.headers.copy()})
    await send({"type": "http.response.body", "body": b"" if head else answer.body})


def _restore_if_match(scope: Scope) -> None:
    """Let an edit name the version it saw by the tag of the compressed form, too."""
    headers = scope["headers"]
    for index, (name, value) in enumerate(headers):
        if name == b"if-match":
            headers[index] = (name, without_gzip(value))
