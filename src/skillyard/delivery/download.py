"""One bounded HTTP download: size, time and redirects have limits, and the scheme never changes."""

import hashlib
import socket
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urljoin, urlsplit

from skillyard.delivery.source import check_reachable, is_loopback
from skillyard.errors import LimitError, NotAllowedError, NotFoundError, SkillyardError, UnavailableError
from skillyard.skill.limits import MAX_ARCHIVE_BYTES

if TYPE_CHECKING:
    import httpx

MAX_REDIRECTS: Final = 5
CONNECT_SECONDS: Final = 10.0
READ_SECONDS: Final = 30.0
MIN_BYTES: Final = 1024
"""Bytes that a server must send in each span of READ_SECONDS; a slower download is given up."""
_GONE: Final = frozenset({404, 410})
_DENIED: Final = frozenset({401, 403, 407})


@dataclass(frozen=True, kw_only=True, slots=True)
class Credentials:
    """A token, and the one server that may see it."""

    server: str
    token: str = field(repr=False)

    def headers_for(self, url: str) -> dict[str, str]:
        """What to send along with a request: to any other server nothing, also when one redirects there."""
        return {"Authorization": f"Bearer {self.token}"} if _origin(url) == _origin(self.server) else {}


@dataclass(frozen=True, kw_only=True, slots=True)
class DownloadLimits:
    """What fetching may do and take at most."""

    allow_http: bool = False
    credentials: Credentials | None = None
    max_bytes: int = MAX_ARCHIVE_BYTES
    max_seconds: float = 300.0
    max_idle_seconds: float = READ_SECONDS
    """The time in which at least MIN_BYTES must arrive."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Download:
    data: bytes
    url: str
    """Where the bytes came from in the end, after redirects."""

    @property
    def digest(self) -> str:
        return f"sha256:{hashlib.sha256(self.data).hexdigest()}"


def download(url: str, limits: DownloadLimits) -> Download:
    """The bytes at a URL; every way this can fail is a typed error that names the URL."""
    import httpx  # noqa: PLC0415 -- slow to import, and most commands download nothing

    deadline = time.monotonic() + limits.max_seconds
    patience = min(limits.max_idle_seconds, limits.max_seconds)
    timeout = httpx.Timeout(patience, connect=min(CONNECT_SECONDS, patience))
    try:
        for _ in range(MAX_REDIRECTS + 1):
            check_reachable(url, allow_http=limits.allow_http)
            # What is on this machine is asked for directly, whatever proxy the environment names.
            direct = is_loopback(urlsplit(url).hostname)
            alarm = _Alarm(patience, url)
            with (
                httpx.Client(timeout=timeout, trust_env=not direct) as client,
                alarm,
                client.stream("GET", url, headers=_headers(url, limits), extensions={"trace": alarm.watch}) as response,
            ):
                alarm.stop()
                if response.has_redirect_location:
                    url = _redirected(url, response.headers["location"])
                    continue
                _check_status(url, response.status_code)
                return Download(data=_body(url, response, limits, deadline), url=url)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise UnavailableError(
            f"{url} could not be downloaded: {str(error) or type(error).__name__}.",
            hint="Check the address and the connection, then try again.",
            details={"url": url},
        ) from error
    raise LimitError(
        f"{url} was still redirecting after {MAX_REDIRECTS} redirects.",
        hint="Use the address that the last redirect leads to.",
        details={"url": url, "limit": MAX_REDIRECTS},
    )


class _Alarm:
    """Cuts a connection whose answer does not begin in time; dripping bytes never reach a read timeout."""

    def __init__(self, seconds: float, url: str) -> None:
        self._seconds, self._url = seconds, url
        self._sockets: list[socket.socket] = []
        self._timer = threading.Timer(seconds, self._cut)
        self._rang = False

    def watch(self, event: str, info: Mapping[str, Any]) -> None:
        """Notes each connection; TLS replaces the first socket with its own."""
        if event in {"connection.connect_tcp.complete", "connection.start_tls.complete"}:
            self._sockets.append(info["return_value"].get_extra_info("socket"))

    def stop(self) -> None:
        self._timer.cancel()

    def _cut(self) -> None:
        self._rang = True
        for each in self._sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> None:
        self._timer.daemon = True
        self._timer.start()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.stop()
        if kind is not None and self._rang:
            raise UnavailableError(
                f"{self._url} did not begin to answer within {self._seconds:g} seconds.",
                hint="Try again later, or download the file yourself and give `skillyard add` the file.",
                details={"url": self._url, "limit": self._seconds},
            )


def _headers(url: str, limits: DownloadLimits) -> dict[str, str]:
    credentials = limits.credentials.headers_for(url) if limits.credentials else {}
    return {"User-Agent": "skillyard", "Accept-Encoding": "identity", **credentials}


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def _redirected(url: str, location: str) -> str:
    target = urljoin(url, location)
    if urlsplit(target).scheme != urlsplit(url).scheme:
        raise NotAllowedError(
            f"{url} redirects to {target}, which is another scheme.",
            hint="Use the final address itself if you trust it.",
            details={"url": url, "value": target},
        )
    return target


def _check_status(url: str, status: int) -> None:
    if status == 200:  # noqa: PLR2004 -- the one answer that carries the whole content
        return
    kind: type[SkillyardError] = UnavailableError
    hint = "Try again later."
    if status in _GONE:
        kind, hint = NotFoundError, "Check the address."
    elif status in _DENIED:
        kind, hint = NotAllowedError, "Download it yourself and give `skillyard add` the file."
    raise kind(f"{url} answered with HTTP status {status}.", hint=hint, details={"url": url, "status": status})


def _body(url: str, response: "httpx.Response", limits: DownloadLimits, deadline: float) -> bytes:
    data = bytearray()
    span, before = time.monotonic() + limits.max_idle_seconds, 0
    for chunk in response.iter_bytes():
        data += chunk
        if len(data) > limits.max_bytes:
            raise LimitError(
                f"{url} is larger than the limit of {limits.max_bytes} bytes.",
                hint="Ask for a smaller archive, or give a git repository instead.",
                details={"url": url, "limit": limits.max_bytes},
            )
        if time.monotonic() > deadline:
            raise UnavailableError(
                f"{url} was not downloaded within {limits.max_seconds:g} seconds.",
                hint="Try again, or download the file yourself and give `skillyard add` the file.",
                details={"url": url, "limit": limits.max_seconds},
            )
        if time.monotonic() > span:
            if len(data) - before < MIN_BYTES:
                raise UnavailableError(
                    f"{url} sent {len(data) - before} bytes in {limits.max_idle_seconds:g} seconds: too slow.",
                    hint="Try again later, or download the file yourself and give `skillyard add` the file.",
                    details={"url": url, "limit": MIN_BYTES},
                )
            span, before = time.monotonic() + limits.max_idle_seconds, len(data)
    return bytes(data)
