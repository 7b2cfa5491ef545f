"""Conditions: whether they hold, given the time that pages and files need to come."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, quote_plus, urlsplit

from skillyard.errors import NotFoundError, SkillyardError
from skillyard.identity.principals import Principal
from skillyard.releases.payload_checks import OF_PAGES
from skillyard.releases.payloads import Check, CheckKind
from skillyard.releases.placeholders import Scalar, fill_text, text_of
from skillyard.releases.replay.labels import plain
from skillyard.releases.replay.page import Page
from skillyard.releases.replay.patterns import fill_glob, found, glob_matches
from skillyard.sandbox.browser_steps import BrowserStep
from skillyard.sandbox.browsing import Drive
from skillyard.sandbox.workspace import Workspace

_FILES: Final = frozenset({CheckKind.FILE_EXISTS, CheckKind.FILE_CONTAINS})
_LOOK_AGAIN: Final = 0.15
_LOOK_SECONDS: Final = 10.0
_MAX_FILE: Final = 16 * 1024 * 1024
_VISIBLE_TEXT: Final = BrowserStep(verb="eval", arguments=("document.body ? document.body.innerText : ''",))
ADDRESS: Final = BrowserStep(verb="get", arguments=("url",))
SNAPSHOT: Final = BrowserStep(verb="snapshot")


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """What steps said, and how the last one ended."""

    output: str = ""
    exit_code: int | None = None


class Checks:
    """Looks whether conditions hold in one sandbox."""

    def __init__(
        self,
        workspace: Workspace,
        caller: Principal,
        sandbox_id: str,
        values: Mapping[str, Scalar],
        *,
        secrets: Collection[str] = (),
    ) -> None:
        self._workspace = workspace
        self._caller = caller
        self._sandbox_id = sandbox_id
        self._values = values
        self._secrets = secrets

    async def failing(
        self, checks: Sequence[Check], said: Said, *, seconds: float, drive: Drive | None = None
    ) -> str | None:
        """What does not hold, in words; None if all does. What may still come is waited for."""
        for check in checks:
            if not await self._comes_true(check, said, seconds, drive):
                first, _, second = fill_text(check.value, self._shown).partition("\n")
                return f"{_SENTENCES[check.kind].format(first, second)}."
        return None

    async def _comes_true(self, check: Check, said: Said, seconds: float, drive: Drive | None) -> bool:
        if check.kind in OF_PAGES:
            if drive is None:
                return False
            page = drive
            return await _soon(lambda: self._on_page(check, page), seconds)
        if check.kind in _FILES:
            return await _soon(lambda: self._in_workspace(check), seconds)
        return await self._in_output(check, said)

    async def _in_output(self, check: Check, said: Said) -> bool:
        if check.kind is CheckKind.EXIT_CODE:
            return said.exit_code == int(check.value)
        if check.kind is CheckKind.OUTPUT_CONTAINS:
            return self._filled(check.value) in said.output
        pattern = fill_text(check.value, lambda name: re.escape(text_of(self._values[name])))
        return await found(pattern, said.output)

    async def _in_workspace(self, check: Check) -> bool:
        path, _, wanted = self._filled(check.value).partition("\n")
        try:
            if check.kind is CheckKind.FILE_EXISTS:
                return await self._is_there(path)
            data = await self._workspace.read(self._caller, self._sandbox_id, path, max_bytes=_MAX_FILE)
        except (NotFoundError, SkillyardError):
            return False
        return wanted in data.decode("utf-8", "replace")

    async def _is_there(self, path: str) -> bool:
        folder, _, name = path.rstrip("/").rpartition("/")
        entries = await self._workspace.list(self._caller, self._sandbox_id, folder or ".")
        return any(entry.name == name for entry in entries)

    async def _on_page(self, check: Check, drive: Drive) -> bool:
        if check.kind is CheckKind.URL_MATCHES:
            address = await drive.look(ADDRESS, seconds=_LOOK_SECONDS)
            return not address.exit_code and self._matches(check.value, address.output.strip())
        if check.kind is CheckKind.TEXT_VISIBLE:
            wanted = plain(self._filled(check.value)).casefold()
            visible = await drive.look(_VISIBLE_TEXT, seconds=_LOOK_SECONDS)
            if not visible.exit_code and wanted in plain(visible.output).casefold():
                return True
            return wanted in plain((await self._page(drive)).text).casefold()
        role, _, name = self._filled(check.value).partition("\n")
        nodes = (await self._page(drive)).nodes
        return any(node.role == role and plain(node.label) == plain(name) for node in nodes)

    async def _page(self, drive: Drive) -> Page:
        return Page((await drive.look(SNAPSHOT, seconds=_LOOK_SECONDS)).output)

    def _matches(self, glob: str, address: str) -> bool:
        """Whether an address, or its path and query, is as a glob says; values may be encoded in it in either way."""
        parts = urlsplit(address)
        local = parts.path + (f"?{parts.query}" if parts.query else "")
        encodings: tuple[Callable[[str], str], ...] = (str, quote, lambda text: quote(text, safe=""), quote_plus)
        for encoding in encodings:
            filled = fill_glob(glob, lambda name, encoding=encoding: encoding(text_of(self._values[name])))
            if any(glob_matches(filled, text) for text in (address, local)):
                return True
        return False

    def _shown(self, name: str) -> str:
        """A value as a person may read it."""
        return f"<{name}>" if name in self._secrets else text_of(self._values[name])

    def _filled(self, text: str) -> str:
        return fill_text(text, lambda name: text_of(self._values[name]))


async def _soon(holds: Callable[[], Awaitable[bool]], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not await holds():
        if time.monotonic() >= end:
            return False
        await asyncio.sleep(_LOOK_AGAIN)
    return True


_SENTENCES: Final[Mapping[CheckKind, str]] = {
    CheckKind.EXIT_CODE: "It did not end with the code {0}",
    CheckKind.OUTPUT_CONTAINS: "The output does not contain {0!r}",
    CheckKind.OUTPUT_MATCHES: "The output does not match {0!r}",
    CheckKind.FILE_EXISTS: "There is no file {0!r}",
    CheckKind.FILE_CONTAINS: "The file {0!r} is not there, or does not contain {1!r}",
    CheckKind.TEXT_VISIBLE: "The page does not show {0!r}",
    CheckKind.URL_MATCHES: "The address of the page does not match {0!r}",
    CheckKind.ELEMENT_PRESENT: "The page has no {0} {1!r}",
}
