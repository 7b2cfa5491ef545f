"""What each step does to the page."""

from __future__ import annotations

import base64
import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from browser_chromium import Chromium, StepError
from browser_navigation import Navigation, whole_address
from browser_snapshot import MASK
from browser_targets import Deadline, Target, Targets

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Locator, Page, Response

_DEFAULT_SCROLL = 300
_MAX_SCREENSHOT = 16 * 1024 * 1024
_ANYWHERE = "*?["
_FAILED = "chrome-error:"
_ERROR_PAGE = 1000
_PROXY_MARK = "x-skillyard-proxy"
_SAYINGS = """() => [...document.querySelectorAll(
    'h1,h2,h3,[role=heading],[role=status],[role=alert],[role=log],[aria-live],output,caption'
)].filter(element => element.getClientRects().length)
    .map(element => element.innerText.replace(/\\s+/g, ' ').trim())
    .filter(text => text && text.length <= 300)
    .slice(0, 12)"""


class Step(NamedTuple):
    """One step, as it is asked for."""

    verb: str
    arguments: list[str]
    options: dict[str, str]
    deadline: Deadline


class Result(NamedTuple):
    """What came of it."""

    output: str = ""
    target: dict[str, Any] | None = None
    screenshot: str | None = None


class Verbs:
    """Takes steps in one browser."""

    def __init__(self, chromium: Chromium) -> None:
        self._chromium = chromium
        self._targets = Targets(chromium)
        self._verbs: dict[str, Callable[[Step], Result]] = {
            "open": self._open,
            "back": lambda step: self._travel(step, self._page.go_back),
            "forward": lambda step: self._travel(step, self._page.go_forward),
            "reload": lambda step: self._travel(step, self._page.reload),
            "close": self._close,
            "snapshot": self._snapshot,
            "press": self._press,
            "scroll": self._scroll,
            "get": self._get,
            "is": self._is,
            "wait": self._wait,
            "screenshot": self._screenshot,
            "eval": self._eval,
            "find": self._find,
        }

    def take(self, step: Step) -> Result:
        verb = self._verbs.get(step.verb)
        if verb is not None:
            return verb(step)
        if step.verb not in _ACTIONS:
            raise StepError(f"There is no step {step.verb!r}.")
        target = self._targets.find(step.arguments[0], step.deadline)
        return self._act(step, step.verb, target, step.arguments[1:])

    @property
    def _page(self) -> Page:
        return self._chromium.page

    def _open(self, step: Step) -> Result:
        response = self._go(whole_address(step.arguments[0]), step.deadline)
        if response is not None and _PROXY_MARK in response.headers:
            raise StepError(self._page.locator("body").inner_text(timeout=step.deadline.milliseconds))
        status = "" if response is None or response.ok else f"\nHTTP {response.status} {response.status_text}".rstrip()
        return Result(f"{self._page.title()}\n{self._page.url}{status}")

    def _go(self, address: str, deadline: Deadline) -> Response | None:
        try:
            return self._page.goto(address, timeout=deadline.milliseconds)
        except Exception as error:
            if "net::ERR_" in str(error) and "net::ERR_ABORTED" not in str(error):
                # The browser's own page about it comes a little later, and would come in the way of the next one.
                with suppress(Exception):
                    self._page.wait_for_url(f"{_FAILED}//**", wait_until="commit", timeout=_ERROR_PAGE)
            raise

    def _travel(self, step: Step, go: Callable[..., Any]) -> Result:
        go(timeout=step.deadline.milliseconds)
        return Result(f"{self._page.title()}\n{self._page.url}")

    def _close(self, _step: Step) -> Result:
        self._chromium.close()
        return Result("The browser is closed.")

    def _snapshot(self, step: Step) -> Result:
        snapshot = self._targets.snapshot(step.options.get("selector"), step.deadline)
        if "interactive" in step.options:
            return Result("\n".join(snapshot.interactive_lines()))
        depth = step.options.get("depth")
        lines = snapshot.lines(compact="compact" in step.options, depth=int(depth) if depth else None)
        return Result("\n".join(lines))

    def _press(self, step: Step) -> Result:
        focused = self._page.locator(":focus")
        target = self._targets.describe(focused, step.deadline) if focused.count() == 1 else None
        return self._navigating(step, "press", target, lambda: self._page.keyboard.press(step.arguments[0]))

    def _act(self, step: Step, action: str, target: Target, values: list[str]) -> Result:
        if "secret" in step.options and not target.is_password:
            raise StepError(
                f"A secret is only written into a password field; this is {target.title} (<{target.facts['tag']}>)."
                " Nothing was written."
            )
        milliseconds = step.deadline.milliseconds
        return self._navigating(step, action, target, lambda: _ACTIONS[action](target.locator, milliseconds, values))

    def _navigating(self, step: Step, action: str, target: Target | None, do: Callable[[], Any]) -> Result:
        """Do something to an element, and wait for the page that it leads to."""
        page = self._page
        before = page.url
        opens_page = action in _CLICKING and target is not None and target.opens_page(step.deadline)
        with Navigation(page, opens_page=opens_page) as navigation:
            do()
            if action not in _STAYING:
                navigation.settle(step.deadline)
        after = self._page.url
        said = [f"{action}: {target.title}" if target else action]
        if self._page is not page:
            said.append(f"It opened a new page, which the next steps are about: {after}")
        elif after.startswith(_FAILED):
            said.append("It led to a page that could not be opened; go back, or open another.")
        elif after != before:
            said.append(f"Now at {after}")
        if target is None:
            return Result("\n".join(said))
        described = {**target.described(), "url_before": before, "url_after": after}
        if action not in _STAYING:
            described["shown"] = self._shown()
        return Result("\n".join(said), described)

    def _shown(self) -> list[str]:
        """What the page says of itself and of what was done: by this one can tell later whether it went well."""
        with suppress(Exception):  # a page that is on its way elsewhere says nothing yet
            return list(self._page.evaluate(_SAYINGS))
        return []

    def _scroll(self, step: Step) -> Result:
        direction = step.arguments[0]
        distance = int(step.arguments[1]) if len(step.arguments) > 1 else _DEFAULT_SCROLL
        distance = -distance if direction in {"up", "left"} else distance
        by = [distance, 0] if direction in {"left", "right"} else [0, distance]
        selector = step.options.get("selector")
        if selector is None:
            self._page.evaluate("by => window.scrollBy(by[0], by[1])", by)
        else:
            found = self._targets.look_at(selector, step.deadline)
            found.locator.evaluate("(element, by) => element.scrollBy(by[0], by[1])", by)
        return Result()

    def _get(self, step: Step) -> Result:
        what = step.arguments[0]
        if what == "title":
            return Result(self._page.title())
        if what == "url":
            return Result(self._page.url)
        if what == "count" and not step.arguments[1].startswith("@"):
            return Result(str(self._page.locator(step.arguments[1]).count()))
        target = self._targets.look_at(step.arguments[1], step.deadline)
        milliseconds = step.deadline.milliseconds
        if what == "count":
            return Result("1", target.described())
        if what == "value" and target.is_password:
            return Result(MASK if target.locator.input_value(timeout=milliseconds) else "", target.described())
        if what == "attr":
            value = target.locator.get_attribute(step.arguments[2], timeout=milliseconds)
            if value is None:
                raise StepError(f"This <{target.facts['tag']}> has no attribute {step.arguments[2]!r}.")
            return Result(value, target.described())
        read = {
            "text": target.locator.inner_text,
            "html": target.locator.inner_html,
            "value": target.locator.input_value,
        }
        return Result(read[what](timeout=milliseconds), target.described())

    def _is(self, step: Step) -> Result:
        target = self._targets.look_at(step.arguments[1], step.deadline)
        checks = {"enabled": target.locator.is_enabled, "checked": target.locator.is_checked}
        check = checks.get(step.arguments[0])
        found = check(timeout=step.deadline.milliseconds) if check else target.locator.is_visible()
        return Result("true" if found else "false", target.described())

    def _wait(self, step: Step) -> Result:
        milliseconds = step.deadline.milliseconds
        options = step.options
        if "text" in options:
            self._page.get_by_text(options["text"]).first.wait_for(timeout=milliseconds)
        elif "url" in options:
            part = options["url"]
            pattern = part if "://" in part or any(sign in part for sign in _ANYWHERE) else f"**{part}**"
            self._page.wait_for_url(pattern, timeout=milliseconds)
        elif "load" in options:
            state: Any = options["load"]
            self._page.wait_for_load_state(state, timeout=milliseconds)
        elif "fn" in options:
            self._page.wait_for_function(options["fn"], timeout=milliseconds)
        elif step.arguments[0].isdecimal():
            wanted_ms = float(step.arguments[0])
            if wanted_ms > milliseconds:
                raise StepError(f"{wanted_ms:g} ms is longer than this step may take ({step.deadline.seconds:g} s).")
            self._page.wait_for_timeout(wanted_ms)
        else:
            target = self._targets.look_at(step.arguments[0], step.deadline)
            target.locator.wait_for(timeout=milliseconds)
            return Result("", target.described())
        return Result()

    def _screenshot(self, step: Step) -> Result:
        path = _inside(step.arguments[0]) if step.arguments else None
        kind: Any = "jpeg" if path and path.suffix.lower() in {".jpg", ".jpeg"} else "png"
        image = self._page.screenshot(
            full_page="full" in step.options, type=kind, timeout=step.deadline.milliseconds, animations="disabled"
        )
        if len(image) > _MAX_SCREENSHOT:
            raise StepError(
                f"The picture has {len(image):,} bytes, more than {_MAX_SCREENSHOT:,}; take it without --full."
            )
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(image)
        said = f"Saved to {step.arguments[0]}." if path else "Taken."
        return Result(said, None, base64.b64encode(image).decode())

    def _eval(self, step: Step) -> Result:
        value = self._page.evaluate(step.arguments[0])
        return Result(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))

    def _find(self, step: Step) -> Result:
        how, *rest = step.arguments
        locator, wanted, action, values = self._found(how, rest, step.options)
        target = self._targets.describe(self._targets.one(locator, wanted, step.deadline), step.deadline)
        if action == "text":
            return Result(target.locator.inner_text(timeout=step.deadline.milliseconds), target.described())
        return self._act(step, action, target, values)

    def _found(self, how: str, rest: list[str], options: dict[str, str]) -> tuple[Locator, str, str, list[str]]:
        page = self._page
        exact = "exact" in options
        if how == "nth":
            return page.locator(rest[1]).nth(int(rest[0])), rest[1], rest[2], rest[3:]
        wanted, action, *values = rest
        if how == "role":
            role: Any = wanted
            locator = page.get_by_role(role, name=options.get("name"), exact=exact)
            return locator, f"{wanted} {options.get('name', '')}".strip(), action, values
        finders: dict[str, Callable[[], Locator]] = {
            "text": lambda: page.get_by_text(wanted, exact=exact),
            "label": lambda: page.get_by_label(wanted, exact=exact),
            "placeholder": lambda: page.get_by_placeholder(wanted, exact=exact),
            "alt": lambda: page.get_by_alt_text(wanted, exact=exact),
            "title": lambda: page.get_by_title(wanted, exact=exact),
            "testid": lambda: page.get_by_test_id(wanted),
            "first": lambda: page.locator(wanted).first,
            "last": lambda: page.locator(wanted).last,
        }
        return finders[how](), wanted, action, values


_ACTIONS: dict[str, Callable[[Locator, float, list[str]], Any]] = {
    "click": lambda locator, timeout, _: locator.click(timeout=timeout),
    "dblclick": lambda locator, timeout, _: locator.dblclick(timeout=timeout),
    "hover": lambda locator, timeout, _: locator.hover(timeout=timeout),
    "focus": lambda locator, timeout, _: locator.focus(timeout=timeout),
    "check": lambda locator, timeout, _: locator.check(timeout=timeout),
    "uncheck": lambda locator, timeout, _: locator.uncheck(timeout=timeout),
    "scrollintoview": lambda locator, timeout, _: locator.scroll_into_view_if_needed(timeout=timeout),
    "fill": lambda locator, timeout, texts: locator.fill(texts[0], timeout=timeout),
    "type": lambda locator, timeout, texts: locator.press_sequentially(texts[0], timeout=timeout),
    "select": lambda locator, timeout, values: locator.select_option(values, timeout=timeout),
}
_STAYING = frozenset(("fill", "hover", "focus", "scrollintoview"))
"""What leads to no other page, so that nothing is waited for."""
_CLICKING = frozenset(("click", "dblclick"))


def _inside(path: str) -> Path:
    """Where a picture is kept: in the workspace, where the browser works."""
    workspace = Path.cwd().resolve()
    whole = (workspace / path).resolve()
    if workspace not in whole.parents:
        raise StepError(f"{path!r} is not a path inside the workspace.")
    return whole
