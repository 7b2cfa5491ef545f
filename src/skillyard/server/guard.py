"""Keeps other web pages, proxies and names away from a server that trusts the person at this machine."""

import ipaddress
from functools import lru_cache
from typing import Final

from skillyard.config.settings import Settings
from skillyard.errors import NotAllowedError
from skillyard.server.asgi import RAW_SAFE_HEADERS, App, Message, Receive, Scope, Send, refuse

_FORWARDED: Final = (b"forwarded", b"x-forwarded", b"x-real-ip")
_OWN_SITE: Final = frozenset({b"same-origin", b"none"})


class LoopbackGuard:
    """Refuses every request that does not come straight from this machine, or that another page made.

    A page on the internet can point its own name at 127.0.0.1, or simply send requests there; a proxy can bring
    strangers in. Host, Origin, Sec-Fetch-Site and the headers that proxies add tell them apart.
    """

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            error = _objection(scope)
            if error is not None:
                await refuse(scope, send, error)
                return
        await self.app(scope, receive, send)


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
                    *(item for item in RAW_SAFE_HEADERS if item[0] not in known),
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


def require_safe_address(settings: Settings, address: str) -> None:
    """Refuses to trust whoever reaches an address that others can reach."""
    if settings.auth == "local" and not is_loopback(address):
        raise NotAllowedError(
            f"{address} can be reached by others, and with auth 'local' everyone would be you.",
            hint="Set SKILLYARD_AUTH=token and SKILLYARD_ADMIN_TOKEN, or bind 127.0.0.1.",
            details={"host": address, "auth": settings.auth},
        )


def _objection(scope: Scope) -> NotAllowedError | None:
    host = origin = site = None
    for name, value in scope["headers"]:
        if name == b"host":
            if host is not None:
                return _foreign_host(b"%s, %s" % (host, value))
            host = value
        elif name == b"origin":
            origin = value
        elif name == b"sec-fetch-site":
            site = value
        elif name.startswith(_FORWARDED):
            return NotAllowedError(
                f"The header {_text(name)!r} says that a proxy passed this request on; this server takes none.",
                hint="Ask it directly, or serve others with tokens: SKILLYARD_AUTH=token",
                details={"header": _text(name)},
            )
    if not _names_this_machine(host or b""):
        return _foreign_host(host or b"")
    if origin is not None and origin.lower() != b"%s://%s" % (_scheme(scope), (host or b"").lower()):
        return NotAllowedError(
            f"The page at {_text(origin)!r} may not use this server.",
            hint="Only its own pages may; other programs send no Origin.",
            details={"origin": _text(origin)},
        )
    if site is not None and site not in _OWN_SITE:
        return NotAllowedError(
            f"Another site led here (Sec-Fetch-Site: {_text(site)}).",
            hint="Open the address yourself instead of following a link to it.",
            details={"sec_fetch_site": _text(site)},
        )
    return None


def _foreign_host(host: bytes) -> NotAllowedError:
    return NotAllowedError(
        f"The host {_text(host)!r} is not this machine.",
        hint="Use http://127.0.0.1 or http://localhost; to serve others, bind another address.",
        details={"host": _text(host)},
    )


def _scheme(scope: Scope) -> bytes:
    # A page over http or https opens a WebSocket under ws or wss.
    return {"https": b"https", "wss": b"https"}.get(scope["scheme"], b"http")


@lru_cache(maxsize=64)
def _names_this_machine(host: bytes) -> bool:
    return is_loopback(hostname(_text(host)))


def _text(value: bytes) -> str:
    return value.decode("latin-1")
