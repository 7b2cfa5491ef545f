"""A real server and a real browser: pages as people meet them."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, BrowserContext, Page, Request, Response, expect, sync_playwright
from tests.commands import Command
from tests.components import require_chromium

from skillyard import Skillyard

WIDTHS = {"desktop": 1280, "phone": 390}
SCREENS = [("light", "desktop"), ("dark", "phone")]
if os.environ.get("SKILLYARD_SOAK"):
    SCREENS += [("light", "phone"), ("dark", "desktop")]
PATIENCE_MS = 60_000
"""For what comes within a second where nothing else is under way."""
expect.set_options(timeout=PATIENCE_MS)
RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "resultTypes": ["violations"],
}


class Served:
    """A yard that is being served on this machine."""

    def __init__(self, url: str, home: Path) -> None:
        self.url = url
        self.home = home
        self.client = Skillyard(url)


@pytest.fixture(scope="module")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator:
    """Start `skillyard serve` on a home of its own; it is ended with the file: an idle one takes time of the others."""
    started: list[subprocess.Popen[str]] = []
    clients: list[Skillyard] = []

    def start(**settings: str) -> Served:
        home = tmp_path_factory.mktemp("home")
        kept = {name: value for name, value in os.environ.items() if not name.startswith("SKILLYARD_")}
        environment = {**kept, "HOME": str(home), "SKILLYARD_HOME": str(home / "yard"), **settings}
        process = Command(
            ["serve", "--json", "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
            cwd=home,
        )
        started.append(process)
        assert process.stdout
        served = Served(json.loads(process.stdout.readline())["url"], home)
        clients.append(served.client)
        return served

    yield start
    for client in clients:
        client.close()
    for process in started:
        process.terminate()
        process.communicate(timeout=60)


@pytest.fixture(scope="module")
def yard(serve) -> Served:
    """A yard of the person at this machine, which the tests of a file share."""
    return serve()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """For one file: as long as there is one, Playwright's loop runs, and no other test could have its own."""
    program = require_chromium()
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()


class Visitor:
    """Someone in front of a browser, who notices whatever goes wrong."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        self.url = url
        self.page: Page = context.new_page()
        self.wrong: list[str] = []
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        self.page.on("request", self._asked)
        self.page.on("response", self._answered)

    def _said(self, message) -> None:
        # What the server refuses on purpose is looked at where it is asked for.
        if message.type in {"error", "warning"} and "the server responded with a status of" not in message.text:
            self.wrong.append(f"console: {message.text}")

    def _asked(self, request: Request) -> None:
        if not request.url.startswith((self.url, "data:")):
            self.wrong.append(f"left the machine: {request.url}")

    def _answered(self, response: Response) -> None:
        if response.status >= 500 or (response.status >= 400 and response.request.resource_type != "document"):
            self.wrong.append(f"{response.status}: {response.url}")

    def go(self, path: str) -> Page:
        self.page.goto(self.url + path)
        return self.page

    def is_content(self) -> None:
        """Nothing went wrong until now, and everyone can use the page."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE_SCRIPT)
        found = self.page.evaluate("rules => axe.run(rules).then(found => found.violations)", RULES)
        problems = [f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in found]
        overflow = self.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        if overflow > 0:
            problems.append(f"the page is {overflow} pixels wider than the window")
        assert not [*self.wrong, *problems], self.page.url

    def is_content_on_every_screen(self) -> None:
        """The same on each, the first at last, as which the page is left."""
        for theme, width in reversed(SCREENS):
            self.page.emulate_media(color_scheme=theme)
            self.page.set_viewport_size({"width": WIDTHS[width], "height": 900})
            self.is_content()


@pytest.fixture
def visit(browser: Browser) -> Iterator:
    """Begin a visit: `visit(yard.url, theme="dark", width="phone")`."""
    contexts: list[BrowserContext] = []

    def begin(url: str, *, theme: str = "light", width: str = "desktop", javascript: bool = True, **more) -> Visitor:
        context = browser.new_context(
            color_scheme=theme,
            viewport={"width": WIDTHS[width], "height": 900},
            java_script_enabled=javascript,
            reduced_motion="reduce",
            **more,
        )
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        return Visitor(context, url)

    yield begin
    for context in contexts:
        context.close()
