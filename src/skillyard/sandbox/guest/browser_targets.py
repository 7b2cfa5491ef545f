"""Finds the element that a step names, and says what it is: a ref alone means nothing to another page."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from browser_chromium import StepError
from browser_snapshot import Element, Snapshot, read_node

if TYPE_CHECKING:
    from browser_chromium import Chromium
    from playwright.sync_api import Locator, Page

_FACTS = """element => ({
    tag: element.tagName.toLowerCase(),
    type: element.type === undefined ? null : String(element.type),
    is_password: element.tagName === 'INPUT' && element.type === 'password',
    autocomplete: element.getAttribute('autocomplete') || '',
    field: element.getAttribute('name') || '',
})"""
_OPENS_PAGE = """element => {
    const link = element.closest('a[href][target], area[href][target]');
    return link !== null && !['', '_self', '_parent', '_top'].includes(link.target.toLowerCase());
}"""
_PASSWORDS = "elements => elements.map(element => element.value)"
_MAX_NAME = 500


class Deadline:
    """The time that a step has."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    @property
    def milliseconds(self) -> float:
        """What is left; never 0, which would mean for ever."""
        return max(1.0, (self._end - time.monotonic()) * 1000)


class Target(NamedTuple):
    """An element to act on."""

    locator: Locator
    ref: str | None
    role: str
    name: str
    facts: dict[str, Any]
    within: str = ""
    """What stands around it, if it is not the only one of its name."""
    group: str = ""
    """What it is a choice for."""

    @property
    def is_password(self) -> bool:
        return self.facts["is_password"] is True

    def opens_page(self, deadline: Deadline) -> bool:
        """Whether it is a link that says that it opens another page."""
        return self.locator.evaluate(_OPENS_PAGE, timeout=deadline.milliseconds) is True

    @property
    def title(self) -> str:
        return f'{self.role} "{self.name[:_MAX_NAME]}"' if self.name else self.role

    def described(self) -> dict[str, Any]:
        named = {"role": self.role, "name": self.name[:_MAX_NAME], "within": self.within[:_MAX_NAME]}
        group = {"group": self.group[:_MAX_NAME]} if self.group else {}
        return {"ref": self.ref, **named, **group, **self.facts}


class Targets:
    """The elements of the last snapshot, which stay named until the next one, and ways to find others."""

    def __init__(self, chromium: Chromium) -> None:
        self._chromium = chromium
        self._elements: dict[str, Element] = {}
        self._snapshot: Snapshot | None = None
        self._page: Page | None = None
        self._armed = False
        """Whether the driver still knows the refs of the snapshot: looking at one element makes it forget them."""

    def snapshot(self, selector: str | None, deadline: Deadline) -> Snapshot:
        page = self._chromium.page
        passwords: list[str] = []
        for frame in page.frames:
            with suppress(Exception):  # a frame that is gone is not in the snapshot either
                passwords += frame.locator("input[type=password]").evaluate_all(_PASSWORDS)
        where = page if selector is None else self.one(page.locator(selector), selector, deadline)
        snapshot = Snapshot(where.aria_snapshot(mode="ai", timeout=deadline.milliseconds), passwords)
        self._snapshot, self._elements = snapshot, snapshot.elements
        self._page, self._armed = page, selector is None
        return snapshot

    def find(self, target: str, deadline: Deadline) -> Target:
        """The element that a ref or a CSS selector names."""
        if target.startswith("@"):
            return self._of_ref(target)
        locator = self.one(self._chromium.page.locator(target), target, deadline)
        return self.describe(locator, deadline)

    def look_at(self, target: str, deadline: Deadline) -> Target:
        """The same to read from: what it is to people is known of a ref, and otherwise not worth the time."""
        if target.startswith("@"):
            return self._of_ref(target)
        locator = self.one(self._chromium.page.locator(target), target, deadline)
        return Target(locator, None, "", "", locator.evaluate(_FACTS))

    def one(self, locator: Locator, wanted: str, deadline: Deadline) -> Locator:
        """The one element that there is, when it is there."""
        locator.first.wait_for(state="attached", timeout=deadline.milliseconds)
        count = locator.count()
        if count != 1:
            raise StepError(f"{count} elements match {wanted!r}; name one of them by its ref (run: snapshot -i).")
        return locator

    def describe(self, locator: Locator, deadline: Deadline) -> Target:
        """What a found element is."""
        lines = locator.aria_snapshot(mode="ai", timeout=deadline.milliseconds).splitlines()
        self._armed = False
        node = read_node(lines[0]) if lines else None
        facts = locator.evaluate(_FACTS)
        if node is None or node.ref is None or not self._is(locator, node.ref):
            return Target(locator, None, "generic", "", facts)
        known = [mine for mine, element in self._elements.items() if element.engine_ref == node.ref]
        ref = known[0] if known else None
        return Target(locator, ref, node.role, node.label, facts, *self._surroundings(ref))

    def _is(self, locator: Locator, engine_ref: str) -> bool:
        """Whether a ref is of this very element: snapshots leave out what only holds one other."""
        other = locator.page.locator(f"aria-ref={engine_ref}").element_handle()
        return locator.evaluate("(element, other) => element === other", other) is True

    def _of_ref(self, ref: str) -> Target:
        page = self._chromium.page
        element = self._elements.get(ref)
        if element is None or self._snapshot is None or ref not in self._snapshot.printed:
            raise StepError(f"There is no element {ref} in the last snapshot; run: snapshot -i")
        if page is self._page and not self._armed:
            page.aria_snapshot(mode="ai")
            self._armed = True
        locator = page.locator(f"aria-ref={element.engine_ref}")
        there = 0
        with suppress(Exception):  # the driver does not even know the frame that it was in
            there = locator.count()
        if page is not self._page or not there:
            raise StepError(f"{ref} ({element.role} {element.name!r}) is not on the page any more; run: snapshot -i")
        return Target(locator, ref, element.role, element.name, locator.evaluate(_FACTS), *self._surroundings(ref))

    def _surroundings(self, ref: str | None) -> tuple[str, str]:
        """What stands around an element of the snapshot, and what it is a choice for."""
        if self._snapshot is None or ref is None:
            return "", ""
        return self._snapshot.within(ref), self._snapshot.group(ref)
