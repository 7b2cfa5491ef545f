"""Refusals from before the routes, as pages: for people whose session is over, or who send too much or too often."""

from typing import Final, NamedTuple

from fastapi import Request

from skillyard.errors import SkillyardError
from skillyard.server.asgi import SAFE_HEADERS, Header, Scope
from skillyard.server.web.errors import way_back
from skillyard.server.web.reader import Reader
from skillyard.server.web.rendering import render

_POLICY: Final = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'"
_HEADERS: Final = {
    **SAFE_HEADERS,
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": _POLICY,
    "Cache-Control": "no-store",
}


class RefusalPage(NamedTuple):
    body: bytes
    headers: list[Header]


def refusal_page(scope: Scope, error: SkillyardError) -> RefusalPage:
    """What is in the way, and what to do about it. It knows nothing of the yard, which was not asked."""
    request = Request(scope)
    shown = {"error": error.as_public_dict(), "back": way_back(request)}
    text = render("refused.html", Reader(request=request), shown)
    headers = [(name.lower().encode(), value.encode()) for name, value in _HEADERS.items()]
    return RefusalPage(text.encode("utf-8", "replace"), headers)
