"""Addresses to open, and waiting for the page that an action leads to."""

from __future__ import annotations

import ipaddress
import os
import re
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from browser_chromium import StepError

if TYPE_CHECKING:
    from browser_targets import Deadline
    from playwright.sync_api import Frame, Page, Request

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_PORT = re.compile(r"[^/?#]*:[0-9]+(?:[/?#].*)?$")
_SCHEMES = ("http", "https", "file", "data", "about")
_FIRST_LOOK = 60
"""Milliseconds in which an action has begun to lead elsewhere, if it does."""
_LOOK = 20
_OPENING = 3_000
"""Milliseconds to wait for a page that a link said it opens: it may give a file out instead, and open none."""
_MOST = 10_000
"""Milliseconds to wait for a page that is slow to come: the next step can wait longer."""


def whole_address(address: str) -> str:
    """An address with its scheme, as a person would have typed it without."""
    scheme = _SCHEME.match(address)
    if scheme and not _PORT.match(address):
        if scheme[1].lower() not in _SCHEMES:
            raise StepError(f"Addresses of {scheme[1]!r} are not opened; use one of {', '.join(_SCHEMES)}.")
        if scheme[1].lower() == "file":
            _require_own_file(address)
        return address
    host = re.split(r"[:/?#]", address, maxsplit=1)[0]
    return f"http://{address}" if _is_near(host) else f"https://{address}"


class Navigation:
    """Sees whether what is done meanwhile leads to another page, and waits until that is there."""

    def __init__(self, page: Page, *, opens_page: bool = False) -> None:
        self._page = page
        self._opening = opens_page
        self._under_way: Request | None = None
        self._arrived = False

    def __enter__(self) -> Navigation:  # noqa: PYI034 -- Python 3.8 has no Self
        self._page.on("request", self._requested)
        self._page.on("requestfailed", self._failed)
        self._page.on("framenavigated", self._navigated)
        self._page.on("popup", self._opened)
        return self

    def __exit__(self, *_: object) -> None:
        self._page.remove_listener("request", self._requested)
        self._page.remove_listener("requestfailed", self._failed)
        self._page.remove_listener("framenavigated", self._navigated)
        self._page.remove_listener("popup", self._opened)

    def settle(self, deadline: Deadline) -> None:
        left = min(_MOST, deadline.milliseconds)
        self._page.wait_for_timeout(min(_FIRST_LOOK, left))
        opening = min(_OPENING, left)
        while self._is_waiting(opening) and left > 0 and not self._page.is_closed():
            self._page.wait_for_timeout(_LOOK)
            left -= _LOOK
            opening -= _LOOK
        if self._arrived and not self._page.is_closed():
            self._page.wait_for_load_state("load", timeout=max(1.0, left))

    def _is_waiting(self, opening: float) -> bool:
        return self._under_way is not None or (self._opening and opening > 0)

    def _requested(self, request: Request) -> None:
        if request.is_navigation_request() and request.frame is self._page.main_frame:
            self._under_way = request

    def _failed(self, request: Request) -> None:
        if request is self._under_way:
            self._under_way = None

    def _navigated(self, frame: Frame) -> None:
        if frame is self._page.main_frame:
            self._under_way, self._arrived = None, True

    def _opened(self, _page: Page) -> None:
        self._opening = False


def _require_own_file(address: str) -> None:
    """The browser shows what is in the workspace, its working folder, and nothing else of the disk."""
    parts = urlsplit(address)
    workspace = os.path.realpath(".")
    path = os.path.realpath(unquote(parts.path))
    if parts.netloc not in {"", "localhost"} or os.path.commonpath([workspace, path]) != workspace:
        raise StepError(
            f"{address!r} cannot be opened: the browser opens only files of the workspace, file://{workspace}/…"
        )


def _is_near(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
