"""Starts a server as an agent's list of servers says, and sends it the first requests of an agent."""

import json
import re
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from tempfile import TemporaryFile
from types import TracebackType
from typing import Any, Final, Self, cast

from skillyard.agents.clients.table import Client
from skillyard.errors import InputError, UnavailableError
from skillyard.redact import redact

PROTOCOL: Final = "2025-06-18"
"""The version of the protocol that agents of today begin with."""
HARMLESS: Final = ("search_skills", {"query": "skill"})
"""A call that changes nothing, of a tool in the default toolset."""
_VARIABLE: Final = re.compile(r"\$\{(?:env:)?(\w+)\}|\{env:(\w+)\}")
_SAID: Final = 500
"""Characters of a failing server's own message that are shown."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Start:
    """What an agent does to reach a server."""

    command: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """When each step was done, in seconds since the start."""

    greeted: float
    listed: float
    tools: int
    called: float | None
    """None if there is no tool that can be called without changing anything."""


def start_of(client: Client, entry: Mapping[str, Any], environment: Mapping[str, str]) -> Start:
    """What an entry says to start, with the variables that the agent passes on."""

    def expand(text: object) -> str:
        return _VARIABLE.sub(lambda found: environment.get(found[1] or found[2], ""), str(text))

    def table(key: str) -> dict[str, str]:
        value = entry.get(key)
        fields = cast("dict[str, object]", value) if isinstance(value, dict) else {}
        return {name: expand(text) for name, text in fields.items()}

    url = next((str(entry[key]) for key in ("url", "httpUrl", "serverUrl") if entry.get(key)), "")
    if url:
        token = environment.get(str(entry.get("bearer_token_env_var")), "")
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return Start(url=expand(url), headers={**headers, **table("headers")})
    command = entry.get("command")
    first = cast("list[object]", command) if isinstance(command, list) else [command] if command else []
    words = [expand(word) for word in (*first, *cast("list[object]", entry.get("args") or ()))]
    if not words:
        raise InputError(
            f"The entry of {client.label} names neither a command nor an address.",
            hint=f"Write it again: skillyard mcp install --agent {client.id}",
            details={"field": "command"},
        )
    named = cast("list[str]", entry.get("env_vars") or ())
    handed_on = {
        key: value for key, value in environment.items() if client.hands_on is None or key in (*client.hands_on, *named)
    }
    return Start(command=words, environment={**handed_on, **table("env"), **table("environment")})


def try_start(start: Start, folder: Path, *, patience: float) -> Trial:
    """Initialize, list the tools and call one; an error when that fails or takes longer than `patience` seconds."""
    return _try_address(start, patience) if start.url else _try_command(start, folder, patience)


def _try_command(start: Start, folder: Path, patience: float) -> Trial:
    with _StartedServer(start, folder, patience) as pipe:
        client = {"name": "skillyard-mcp-test", "version": "1"}
        pipe.ask("initialize", {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client})
        greeted = pipe.seconds
        pipe.say({"method": "notifications/initialized"})
        tools: list[dict[str, Any]] = []
        params: dict[str, Any] = {}
        while True:
            page = pipe.ask("tools/list", params)
            tools += page.get("tools") or []
            if not page.get("nextCursor"):
                break
            params = {"cursor": page["nextCursor"]}
        listed = pipe.seconds
        called = None
        if any(tool.get("name") == HARMLESS[0] for tool in tools):
            pipe.ask("tools/call", {"name": HARMLESS[0], "arguments": HARMLESS[1]})
            called = pipe.seconds
    return Trial(greeted=greeted, listed=listed, tools=len(tools), called=called)


def _try_address(start: Start, patience: float) -> Trial:
    import anyio  # noqa: PLC0415 -- an address alone needs the SDK
    import httpx2  # noqa: PLC0415
    from mcp.client.client import Client as McpClient  # noqa: PLC0415
    from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415

    async def ask() -> Trial:
        began = time.monotonic()
        async with httpx2.AsyncClient(headers=dict(start.headers), timeout=patience) as http:
            transport = streamable_http_client(start.url, http_client=http)
            with anyio.fail_after(patience):
                async with McpClient(transport) as client:
                    greeted = time.monotonic() - began
                    tools = (await client.list_tools()).tools
                    listed = time.monotonic() - began
                    called = None
                    if any(tool.name == HARMLESS[0] for tool in tools):
                        await client.call_tool(HARMLESS[0], HARMLESS[1])
                        called = time.monotonic() - began
        return Trial(greeted=greeted, listed=listed, tools=len(tools), called=called)

    try:
        return anyio.run(ask)
    except Exception as error:  # the SDK and its transports raise many, in groups
        reason = _first_of(error)
        raise UnavailableError(
            f"{start.url} did not answer as an MCP server within {patience:g} seconds: {redact(reason)}",
            hint="Check that the server runs there and accepts the token.",
            details={"url": start.url},
        ) from error


def _first_of(error: BaseException) -> str:
    """The first error of a group."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return f"{type(error).__name__}: {error}".rstrip(": ")


class _StartedServer:
    """A started server, and the lines that are exchanged with it."""

    def __init__(self, start: Start, folder: Path, patience: float) -> None:
        self._patience = patience
        self._began = time.monotonic()
        self._number = 0
        self._errors = TemporaryFile()  # noqa: SIM115 -- open for as long as the server runs
        try:
            self._process = subprocess.Popen(
                list(start.command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env=dict(start.environment),
                cwd=folder,
            )
        except OSError as error:
            self._errors.close()
            raise UnavailableError(
                f"{start.command[0]} cannot be started: {error.strerror}.",
                hint="Put it on the agent's PATH, or install with --user, which writes its full path.",
                details={"command": list(start.command)},
            ) from error
        self._lines: SimpleQueue[bytes] = SimpleQueue()
        self._listening = threading.Thread(target=self._read_lines, daemon=True)
        self._listening.start()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    def say(self, message: dict[str, Any]) -> None:
        pipe = self._process.stdin
        assert pipe is not None  # noqa: S101 -- it was asked for
        try:
            pipe.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            pipe.flush()
        except OSError:
            raise self._failure(f"ended before it answered {message['method']}") from None

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        self.say({"id": self._number, "method": method, "params": params})
        while True:
            try:
                line = self._lines.get(timeout=max(self._patience - self.seconds, 0.01))
            except Empty:
                raise self._failure(f"did not answer {method} within {self._patience:g} seconds") from None
            if not line:
                raise self._failure(f"ended before it answered {method}")
            try:
                message = json.loads(line)
            except ValueError:
                raise self._failure(f"wrote something that is not a message: {line[:100]!r}") from None
            if isinstance(message, dict) and cast("dict[str, Any]", message).get("id") == self._number:
                answer = cast("dict[str, Any]", message)
                if "result" not in answer:
                    raise self._failure(f"refused {method}: {answer.get('error')}")
                return answer["result"]

    def _failure(self, what: str) -> UnavailableError:
        self._process.terminate()
        self._process.wait()
        self._errors.seek(0)
        said = redact(self._errors.read().decode("utf-8", "replace")).strip()[-_SAID:]
        return UnavailableError(
            f"The server {what}.{f' It said: {said}' if said else ''}",
            hint="Start the command by hand to see what it says.",
            details={"command": self._process.args},
        )

    def _read_lines(self) -> None:
        assert self._process.stdout is not None  # noqa: S101 -- it was asked for
        with self._process.stdout as said:
            for line in said:
                self._lines.put(line)
        self._lines.put(b"")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        with suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        try:
            self._process.wait(self._patience)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._listening.join(self._patience)
        self._errors.close()
