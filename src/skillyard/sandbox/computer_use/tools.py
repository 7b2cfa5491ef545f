"""The tools of a computer-use server over MCP: found by their names, called with a time limit, read liberally."""

import asyncio
import contextlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from skillyard.errors import SandboxDiedError, SkillyardError, UnavailableError

if TYPE_CHECKING:
    from mcp import Client
    from mcp.types import CallToolResult

PREFIXES: Final = ("", "mcp_computer-use_", "mcp_cursor-computer-use_")
NEEDED: Final = ("create_session", "create_file", "run_shell", "delete_file", "delete_session")
PARAMETERS: Final[Mapping[str, tuple[str, ...]]] = {
    "ttl": ("ttl", "ttl_seconds", "timeout"),
    "session": ("session_id", "sessionId", "session"),
    "path": ("path", "file_path", "filePath", "filename"),
    "content": ("content", "contents", "file_content", "text", "data"),
    "command": ("command", "cmd", "script"),
}
"""What a parameter is called; servers differ, and their schemas tell."""

_TAKES: Final[Mapping[str, tuple[str, ...]]] = {
    "create_session": ("ttl",),
    "create_file": ("session", "path", "content"),
    "run_shell": ("session", "command"),
    "delete_file": ("session", "path"),
    "delete_session": ("session",),
}
_OPTIONAL: Final = frozenset({"ttl"})
_PAGES: Final = 100
_SHOWN: Final = 500
_SESSION_ID: Final = re.compile(r"session[ _-]?id[\"'`]?\s*(?:[:=]|is)\s*[\"'`]?([\w.:-]+)", re.IGNORECASE)
_TOKEN: Final = re.compile(r"[\w.:-]{1,200}")
_GONE: Final = re.compile(
    r"session\b.{0,80}\b(not found|expired|unknown|does not exist|no longer|terminated|gone)", re.IGNORECASE | re.DOTALL
)


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A tool as the server has it."""

    name: str
    parameters: Mapping[str, str]
    """What the server calls our parameters."""


class Tools:
    """A connection to a computer-use server, in a task of its own: it must be closed where it was opened."""

    def __init__(self, url: str, *, seconds: float) -> None:
        self._url = url
        self._seconds = seconds
        self._client: Client | None = None
        self._tools: dict[str, Tool] = {}
        self._stop = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Connect and find the tools; `UnavailableError` says what is wrong."""
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._live(ready))
        try:
            async with asyncio.timeout(self._seconds):
                await ready
        except Exception as error:
            await self.close()
            raise self._unreachable(error) from error
        except BaseException:
            await self.close()
            raise

    async def call(self, tool: str, *, seconds: float | None = None, **arguments: str | int) -> str:
        """All text of a tool's answer. A tool that says it failed is an `UnavailableError` with its words."""
        client = self._client
        if client is None:
            raise SandboxDiedError(f"The connection to {self._url} is closed.", hint="Start the sandbox again.")
        known = self._tools[tool]
        named = {known.parameters[name]: value for name, value in arguments.items() if name in known.parameters}
        try:
            async with asyncio.timeout(seconds or self._seconds):
                result = await client.call_tool(known.name, named)
        except TimeoutError as error:
            limit = seconds or self._seconds
            raise UnavailableError(f"{self._url} did not answer '{known.name}' within {limit:g} s.") from error
        except Exception as error:
            self._client = None
            raise SandboxDiedError(
                f"The connection to {self._url} broke: {_words(error)}", hint="Start the sandbox again."
            ) from error
        text = _text(result)
        if not result.is_error:
            return text
        if _GONE.search(text):
            self._client = None
            raise SandboxDiedError(
                f"The session at {self._url} is gone: {text[:_SHOWN]}", hint="Start the sandbox again."
            )
        raise UnavailableError(f"The tool '{known.name}' of {self._url} failed: {text[:_SHOWN]}")

    @property
    def connected(self) -> bool:
        return self._client is not None

    async def close(self) -> None:
        self._stop.set()
        if self._task is not None:
            _, pending = await asyncio.wait([self._task], timeout=self._seconds)
            for task in pending:
                task.cancel()
            self._task = None

    async def _live(self, ready: "asyncio.Future[None]") -> None:
        from mcp import Client  # noqa: PLC0415 -- takes long, and few use it

        try:
            async with Client(self._url) as client:
                self._tools = await _find(client)
                self._client = client
                if not ready.done():
                    ready.set_result(None)
                await self._stop.wait()
                self._client = None
        except Exception as error:  # noqa: BLE001 -- whatever it is, it is told to those who call
            self._client = None
            if not ready.done():
                ready.set_exception(error)

    def _unreachable(self, error: Exception) -> SkillyardError:
        if isinstance(error, SkillyardError):
            return error
        said = "no answer" if isinstance(error, TimeoutError) else _words(error)
        return UnavailableError(
            f"The computer-use server at {self._url} cannot be reached: {said}",
            hint="Start it, or correct COMPUTER_USE_MCP_URL.",
        )


def session_id_in(text: str) -> str | None:
    """The id of a session that was created, in whatever words a server tells it."""
    with contextlib.suppress(ValueError):
        found = _id_in(json.loads(text))
        if found:
            return found
    match = _SESSION_ID.search(text)
    if match:
        return match[1]
    return text.strip() if _TOKEN.fullmatch(text.strip()) else None


def _id_in(value: object) -> str | None:
    if isinstance(value, dict):
        fields = cast("dict[str, object]", value)
        for name in ("session_id", "sessionId", "id"):
            if isinstance(fields.get(name), str | int):
                return str(fields[name])
        return next((found for each in fields.values() if (found := _id_in(each))), None)
    return value if isinstance(value, str) and _TOKEN.fullmatch(value) else None


async def _find(client: "Client") -> dict[str, Tool]:
    listed: dict[str, Mapping[str, Any]] = {}
    cursor: str | None = None
    for _ in range(_PAGES):
        page = await client.list_tools(cursor=cursor)
        listed |= {tool.name: tool.input_schema for tool in page.tools}
        cursor = page.next_cursor
        if not cursor:
            break
    tools: dict[str, Tool] = {}
    for wanted in NEEDED:
        name = next((prefix + wanted for prefix in PREFIXES if prefix + wanted in listed), None)
        if name is None:
            raise UnavailableError(
                f"The server has no tool '{wanted}'; it has: {', '.join(sorted(listed)) or 'none'}.",
                hint="Point COMPUTER_USE_MCP_URL to a computer-use server.",
            )
        tools[wanted] = Tool(name=name, parameters=_parameters(name, wanted, listed[name]))
    return tools


def _parameters(name: str, wanted: str, schema: Mapping[str, Any]) -> dict[str, str]:
    offered: Mapping[str, Any] = schema.get("properties") or {}
    named: dict[str, str] = {}
    for parameter in _TAKES[wanted]:
        found = next((each for each in PARAMETERS[parameter] if each in offered), None)
        if found:
            named[parameter] = found
        elif parameter not in _OPTIONAL:
            known = ", ".join(PARAMETERS[parameter])
            raise UnavailableError(f"The tool '{name}' has no parameter for its {parameter} (known names: {known}).")
    return named


def _text(result: "CallToolResult") -> str:
    texts = [block.text for block in result.content if block.type == "text"]
    if texts:
        return "\n".join(texts)
    return "" if result.structured_content is None else json.dumps(result.structured_content)


def _words(error: BaseException) -> str:
    """What an error says, or the errors in a group of them."""
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        return "; ".join(_words(each) for each in group.exceptions)
    return str(error) or type(error).__name__
