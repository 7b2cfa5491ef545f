"""A page: what it shows, as HTML for people and as JSON for programs, and where it is registered."""

import asyncio
import gzip
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, Final, TypeVar, cast
from urllib.parse import parse_qsl, urlencode

from fastapi import APIRouter, Request, Response
from fastapi.params import Depends
from fastapi.responses import RedirectResponse
from pydantic import BaseModel
from pydantic_core import to_jsonable_python
from starlette.types import Receive, Scope, Send

from skillyard.identity.turns import Turns
from skillyard.server.asgi import header
from skillyard.server.cache import accepts_gzip
from skillyard.server.web.reader import Reader
from skillyard.server.web.rendering import render

TWIN: Final = ".json"
_GZIP_FROM: Final = 1024
_APART_FROM: Final = 64 * 1024
"""Pages of this size are compressed beside the event loop."""
_LARGE: Final = 16 * 1024
"""Characters of text on a page that is rendered beside the event loop: Markdown of half a MiB takes two seconds."""
_TURNS: Final = Turns(threads=6)
"""One page of a person at a time, and never so many that the event loop waits for long."""
_CONTENT_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = {
    "Content-Security-Policy": _CONTENT_POLICY,
    # With no-referrer, browsers would hide the origin of our own forms from us.
    "Referrer-Policy": "same-origin",
    "Vary": "Cookie, Authorization, Accept-Language, Accept-Encoding",
}
_Handler = TypeVar("_Handler", bound=Callable[..., Any])


class Page(Response):
    """An answer that is made when it is sent: as a page or as JSON.

    `data` is what the page shows, and all that its twin is; `extra` is only for the template. What is shown `once` no
    browser keeps. `twin` says which of the two it is where the path does not: it may end like a file that is shown.
    `address` is where the page is found again when it answers a form that was sent elsewhere.
    """

    def __init__(
        self,
        template: str,
        data: Mapping[str, Any],
        *,
        extra: Mapping[str, Any] | None = None,
        status: int = 200,
        once: bool = False,
        twin: bool | None = None,
        address: str = "",
    ) -> None:
        super().__init__(status_code=status)
        self.template = template
        self.data = data
        self.extra = extra or {}
        self.once = once
        self.twin = twin
        self.address = address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        reader = Reader(request=Request(scope))
        if scope["path"].endswith(TWIN) if self.twin is None else self.twin:
            body = await self._made(reader, self._json)
            answer = Response(body, self.status_code, {"Vary": _HEADERS["Vary"]}, "application/json")
        else:
            body = await self._made(reader, lambda: self._html(reader))
            answer = Response(body, self.status_code, _HEADERS, "text/html")
            reader.remember(answer)
        answer.headers["Cache-Control"] = "no-store" if self.once else reader.cache_control
        await _compress(answer, scope)
        await answer(scope, receive, send)

    async def _made(self, reader: Reader, make: Callable[[], bytes]) -> bytes:
        """What is sent: made here where it is little, else when it is this reader's turn."""
        if not _is_large([self.data, self.extra]):
            return make()
        if reader.principal is None:
            return await asyncio.to_thread(make)
        return await _TURNS.run(reader.principal, make)

    def _html(self, reader: Reader) -> bytes:
        text = render(self.template, reader, {**self.data, **self.extra}, address=self.address)
        return text.encode("utf-8", "replace")

    def _json(self) -> bytes:
        data = to_jsonable_python(self.data, fallback=str)
        return json.dumps({"success": True, "data": data}, ensure_ascii=False).encode("utf-8", "replace")


class PageRouter(APIRouter):
    """Routes of pages, each with its twin: `/skills` and `/skills.json`."""

    def __init__(self) -> None:
        super().__init__(include_in_schema=False)

    def page(self, path: str, *, dependencies: Sequence[Depends] = ()) -> Callable[[_Handler], _Handler]:
        def register(handler: _Handler) -> _Handler:
            # The twin first: what follows a slash in the page's path may hold a dot.
            for each in (f"{path}{TWIN}", path):
                self.get(each, response_model=None, dependencies=dependencies)(handler)
            return handler

        return register


def go_to(path: str, /, *, done: str = "", **query: str) -> RedirectResponse:
    """Send the browser on after a form; `done` is the key of the text that says what was done."""
    place, _, before = path.partition("?")
    kept = [(name, value) for name, value in parse_qsl(before, keep_blank_values=True) if name != "done"]
    given = urlencode([*kept, *query.items(), *([("done", done)] if done else [])])
    return RedirectResponse(f"{place}?{given}" if given else place, status_code=303)


def _is_large(value: object) -> bool:
    """Whether the texts in a value have so many characters that they take long to render."""
    left, waiting = _LARGE, [value]
    while waiting and left > 0:
        one = waiting.pop()
        if isinstance(one, str):
            left -= len(one)
        else:
            left -= 1  # many values without texts are much, too
            waiting.extend(_parts(one))
    return left <= 0


def _parts(value: object) -> Iterable[object]:
    if isinstance(value, BaseModel):
        return vars(value).values()
    if isinstance(value, Mapping):
        return cast("Mapping[object, object]", value).values()
    if isinstance(value, list | tuple):
        return cast("Sequence[object]", value)
    if is_dataclass(value) and not isinstance(value, type):
        return (getattr(value, field.name) for field in fields(value))
    return ()


async def _compress(answer: Response, scope: Scope) -> None:
    body = bytes(answer.body)
    if len(body) < _GZIP_FROM or not accepts_gzip(header(scope, b"accept-encoding") or b""):
        return
    if len(body) >= _APART_FROM:
        answer.body = await asyncio.to_thread(gzip.compress, body, 5, mtime=0)
    else:
        answer.body = gzip.compress(body, 5, mtime=0)
    answer.headers["Content-Encoding"] = "gzip"
    answer.headers["Content-Length"] = str(len(answer.body))
