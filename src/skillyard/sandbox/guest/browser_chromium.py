"""The system's Chromium, driven by Playwright: started when it is needed, and started again when it died."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, Playwright

PACKAGES = "/opt/skillyard/browser"
_PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The shell first: it starts in a third of the time, for it has no windows, tabs and bars to prepare."""
_FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)
_DIRECT = ("<-loopback>", "update.googleapis.com", "content-autofill.googleapis.com", "clients2.google.com")
"""Loopback addresses go through the proxy, for those on the list are the host's. What Chromium asks for by itself does
not, and so comes to nothing without being counted as something that a page wanted.
"""
_WITHOUT_DRIVER = "connection closed"
_MAX_LOG = 1000
_PROFILE = b"playwright_chromiumdev_profile"
"""What the driver calls the folder of each browser that it starts."""


class StepError(Exception):
    """A step that could not be taken; the message says what to do."""


class Chromium:
    """One browser with one context; the page that was opened last is the one that steps are about."""

    def __init__(self) -> None:
        self._driver: Playwright | None = None
        self._browser: Browser | None = None
        self._context: BrowserContext | None = None
        self._home = ""
        self._pages: list[Page] = []
        self.broken = False
        """Whether not even a new one can be started: only a new process may help."""

    @property
    def running(self) -> bool:
        return self._browser is not None and self._browser.is_connected() and bool(self._pages)

    @property
    def died(self) -> bool:
        """Whether there was one that ended by itself."""
        return self._browser is not None and not self.running

    def hear(self) -> None:
        """Take in what happened since the last step: the driver tells of it only while it is asked something."""
        if self.running:
            try:
                self.page.wait_for_timeout(1)
            except Exception as error:  # noqa: BLE001 -- that is what there was to hear
                self.broken = _WITHOUT_DRIVER in str(error).lower()

    @property
    def page(self) -> Page:
        return self._pages[-1]

    def start(self) -> None:
        """A new browser with an empty page."""
        self.close()
        try:
            self._start()
        except StepError:
            raise
        except Exception as error:  # noqa: BLE001 -- whatever it is, it is told
            self.broken = True
            raise StepError(_not_started(str(error))) from None

    def _start(self) -> None:
        if self._driver is None:
            self._driver = _driver()
        self._home = tempfile.mkdtemp(prefix="browser-")
        # With a home of its own it leaves nothing in the workspace.
        homes = {"HOME": self._home, "XDG_CONFIG_HOME": self._home, "XDG_CACHE_HOME": self._home}
        self._browser = self._driver.chromium.launch(
            executable_path=_program(),
            args=[*_FLAGS, *_proxy_flags()],
            env={**os.environ, **homes},  # pyright: ignore[reportArgumentType] -- a plain dictionary of texts
            handle_sigint=False,
        )
        self._context = self._browser.new_context(viewport={"width": 1280, "height": 720})
        self._pages = []
        self._context.on("page", self._opened)
        self._context.new_page()

    def close(self) -> None:
        """End the browser; nothing happens when there is none."""
        browser, self._browser, self._context, self._pages = self._browser, None, None, []
        if browser is not None:
            try:
                browser.close()
            except Exception:  # noqa: BLE001 -- it is gone already
                end_browsers()
        shutil.rmtree(self._home, ignore_errors=True)

    def _opened(self, page: Page) -> None:
        self._pages.append(page)
        page.on("close", self._closed)
        page.on("crash", self._closed)

    def _closed(self, page: Page) -> None:
        self._pages = [other for other in self._pages if other is not page]


def end_browsers() -> None:
    """Kill every browser that this process has started, whatever it is doing."""
    for pid in _descendants(os.getpid()):
        try:
            if _PROFILE in Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(pid, signal.SIGKILL)
        except OSError:
            continue  # it has ended


def _descendants(ancestor: int) -> list[int]:
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_bytes().rpartition(b")")[2].split()[1])
        except OSError:
            continue
    found = {ancestor}
    growing = True
    while growing:
        more = {pid for pid, parent in parents.items() if parent in found} - found
        growing = bool(more)
        found |= more
    return sorted(found - {ancestor})


def _driver() -> Playwright:
    packages = os.environ.get("SKILLYARD_BROWSER_PACKAGES", PACKAGES)
    if Path(packages).is_dir():
        sys.path.append(packages)
    try:
        from playwright.sync_api import sync_playwright  # noqa: PLC0415 -- slow, and it may be missing
    except ImportError:
        raise StepError("This sandbox has no Playwright, which drives the browser.") from None
    return sync_playwright().start()


def _program() -> str:
    configured = os.environ.get("SKILLYARD_CHROMIUM", "")
    for name in (configured,) if configured else _PROGRAMS:
        found = shutil.which(name)
        if found:
            return found
    tried = configured or ", ".join(_PROGRAMS)
    raise StepError(
        f"This sandbox has no Chromium ({tried}); whoever runs it can install one, or set SKILLYARD_CHROMIUM."
    )


def _not_started(log: str) -> str:
    said = [line.partition("[err]")[2].strip() for line in log.splitlines() if "[err]" in line]
    return f"Chromium could not be started: {' / '.join(said[-3:]) or log.partition(chr(10))[0]}"[:_MAX_LOG]


def proxy() -> str:
    """The address of the proxy by which listed endpoints are reached; empty without a network."""
    return os.environ.get("HTTP_PROXY") or os.environ.get("http_proxy") or ""


def _proxy_flags() -> list[str]:
    return [f"--proxy-server={proxy()}", f"--proxy-bypass-list={';'.join(_DIRECT)}"] if proxy() else []
