"""The scripts of the `skill-creator` skill: over MCP from a skill server, or those that come with Skillyard."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from skillyard.errors import UnavailableError
from skillyard.library.builtin import builtin_root

if TYPE_CHECKING:
    from mcp import Client

SKILL: Final = "skill-creator"
_TOOL: Final = "read_skill_document"
_SECONDS: Final = 30.0
_SHOWN: Final = 300
_SKILL_NAMES: Final = ("skill_name", "skillName", "skill", "name")
_PATH_NAMES: Final = ("document_path", "documentPath", "path", "file_path", "document")
_TEXTS: Final = ("content", "text", "document", "body")


class SkillDocuments(Protocol):
    """Where documents of skills are read."""

    async def read(self, skill: str, path: str) -> str: ...


class BuiltinDocuments:
    """Those that come with Skillyard."""

    async def read(self, skill: str, path: str) -> str:
        return await asyncio.to_thread((builtin_root() / skill / PurePosixPath(path)).read_text, encoding="utf-8")


class ServerDocuments:
    """Those of the skill server at `MCP_SERVER_URL`."""

    def __init__(self, url: str, name: str) -> None:
        self._url = url
        self._prefixes = ("", f"mcp_{name}_", f"mcp_cursor-{name}_", f"{name}_")

    async def read(self, skill: str, path: str) -> str:
        from mcp import Client  # noqa: PLC0415 -- takes long, and few use it

        try:
            async with asyncio.timeout(_SECONDS), Client(self._url) as client:
                text, problem = await self._read(client, skill, path)
        except Exception as error:  # whatever a connection fails with
            raise UnavailableError(
                f"The skill server at {self._url} cannot be read: {type(error).__name__}: {str(error)[:_SHOWN]}",
                hint="Start it, or correct MCP_SERVER_URL; without it the built-in skill-creator is used.",
            ) from error
        if problem or not text.strip():
            raise UnavailableError(
                f"The skill server at {self._url} gave no {path!r} of {skill!r}: {problem or 'it is empty'}",
                hint="Correct MCP_SERVER_URL, or leave it out: then the built-in skill-creator is used.",
            )
        return text

    async def _read(self, client: "Client", skill: str, path: str) -> tuple[str, str]:
        """The document, or what is wrong."""
        offered = {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}
        tool = next((prefix + _TOOL for prefix in self._prefixes if prefix + _TOOL in offered), None)
        if tool is None:
            return "", f"it has no tool {_TOOL!r}, but {', '.join(sorted(offered))}"
        taken: Mapping[str, Any] = offered[tool].get("properties") or {}
        arguments = {_called(_SKILL_NAMES, taken): skill, _called(_PATH_NAMES, taken): path}
        result = await client.call_tool(tool, arguments)
        said = "\n".join(block.text for block in result.content if block.type == "text")
        return ("", said[:_SHOWN] or "it failed") if result.is_error else (_text_in(said), "")


def _called(names: tuple[str, ...], taken: Mapping[str, Any]) -> str:
    """What a server calls a parameter."""
    return next((name for name in names if name in taken), names[0])


def _text_in(said: str) -> str:
    """The document in an answer, which may be the whole of it or a field of it."""
    try:
        answer: object = json.loads(said)
    except ValueError:
        return said
    if isinstance(answer, dict):
        fields = cast("dict[str, object]", answer)
        return next((text for key in _TEXTS if isinstance(text := fields.get(key), str)), said)
    return answer if isinstance(answer, str) else said
