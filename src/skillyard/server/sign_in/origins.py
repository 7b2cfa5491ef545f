"""Where a request of a browser comes from, and where it may be sent on to."""

import re
from typing import Final
from urllib.parse import quote, urlsplit

from skillyard.errors import NotAllowedError
from skillyard.server.asgi import Scope, header

SIGN_IN: Final = "/sign-in"
SIGN_OUT: Final = "/sign-out"
HOME: Final = "/"
_SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_MACHINES: Final = ("/api/", "/v1/", "/mcp", "/.well-known/")
"""Paths of programs, which are told what is wrong instead of being sent to a page."""
_OWN_PATH: Final = re.compile(r"/(?![/\\])[\x21-\x5b\x5d-\x7e]{0,1000}")


def require_same_origin(scope: Scope) -> None:
    """Refuses a request that a page of another site may have made in the name of who is signed in here."""
    if scope.get("method") in _SAFE_METHODS:
        return
    site = header(scope, b"sec-fetch-site")
    # No page can set that header, and what it says stays true behind a proxy that speaks TLS for us.
    if site == b"same-origin" or (site is None and origin_of(scope) is not None):
        return
    raise NotAllowedError(
        "This request does not come from a page of this server.",
        hint="Programs send 'Authorization: Bearer TOKEN' instead of a cookie.",
        details={"header": "origin" if site is None else "sec-fetch-site"},
    )


def origin_of(scope: Scope) -> str | None:
    """The origin that a browser names, if it is this server's own.

    Behind a proxy that speaks TLS for us, the browser's https is our http; the other way round never happens.
    """
    origin = (header(scope, b"origin") or b"").decode("latin-1").lower()
    host = (header(scope, b"host") or b"").decode("latin-1").lower()
    own = {f"https://{host}"} if scope["scheme"] == "https" else {f"https://{host}", f"http://{host}"}
    return origin if host and origin in own else None


def base_url(scope: Scope) -> str:
    """The address of this server as the browser knows it."""
    host = (header(scope, b"host") or b"").decode("latin-1")
    return origin_of(scope) or f"{scope['scheme']}://{host}"


def own_referer(scope: Scope) -> str | None:
    """The page of this server that a request was sent from, as a path."""
    try:
        referer = urlsplit((header(scope, b"referer") or b"").decode("latin-1"))
    except ValueError:
        return None
    if f"{referer.scheme}://{referer.netloc}".lower() != base_url(scope).lower():
        return None
    return safe_next(f"{referer.path}?{referer.query}" if referer.query else referer.path)


def own_path(wanted: str) -> str:
    """Where to send a browser on: a path of this server, whatever was asked for."""
    return wanted if _OWN_PATH.fullmatch(wanted) else HOME


def safe_next(wanted: str) -> str:
    """Where to go after signing in: not to the door again."""
    path = own_path(wanted)
    return HOME if urlsplit(path).path.startswith((SIGN_IN, SIGN_OUT)) else path


def wants_page(scope: Scope) -> bool:
    """Whether it is a person in front of a browser who asks, not a program."""
    if scope["type"] != "http" or scope["path"].startswith(_MACHINES) or scope["path"].endswith(".json"):
        return False
    return b"text/html" in (header(scope, b"accept") or b"").lower()


def page_to_sign_in(scope: Scope) -> str | None:
    """The sign-in page that leads back here, if it is a person who looks for a page."""
    if not wants_page(scope) or scope["method"] not in {"GET", "HEAD"} or header(scope, b"authorization") is not None:
        return None
    path = (scope.get("raw_path") or quote(scope["path"]).encode()).decode("latin-1")
    query = scope["query_string"].decode("latin-1")
    return f"{SIGN_IN}?next={quote(f'{path}?{query}' if query else path, safe='')}"
