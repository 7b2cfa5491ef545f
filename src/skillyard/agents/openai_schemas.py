"""Tools as OpenAI-style function schemas, which most model providers take."""

import json
from collections.abc import Iterable
from typing import Any, Final

from skillyard.agents.tool import Tool, told
from skillyard.errors import InputError, NotFoundError, SkillyardError
from skillyard.skill.names import nearest_name
from skillyard.skill.paths import printable

LONGEST_DESCRIPTION: Final = 1_024
"""Characters; requests with a longer description of a tool are refused."""


def openai_schema(tool: Tool, *, longest: int = LONGEST_DESCRIPTION) -> dict[str, Any]:
    """A tool as it stands in the `tools` of a request, its description in at most `longest` characters."""
    function = {
        "name": tool.name,
        "description": tool.description_within(longest),
        "parameters": dict(tool.parameters),
    }
    return {"type": "function", "function": function}


def openai_schemas(tools: Iterable[Tool], *, longest: int = LONGEST_DESCRIPTION) -> list[dict[str, Any]]:
    """Each of them; providers that take longer descriptions can be told more."""
    return [openai_schema(tool, longest=longest) for tool in tools]


def call_openai_tool(tools: Iterable[Tool], name: str, arguments: str) -> str:
    """What a model's call answers, as a text: the answer, or the error that it can act on.

    `arguments` is the JSON text that the model wrote.
    """
    try:
        return _named(tools, name).text(_read(arguments))
    except SkillyardError as error:
        return told(error)


def _named(tools: Iterable[Tool], name: str) -> Tool:
    by_name = {tool.name: tool for tool in tools}
    if name not in by_name:
        near = nearest_name(name, by_name)
        raise NotFoundError(
            f"There is no tool {printable(name)!r}.",
            hint=f"Did you mean {near!r}?" if near else f"There are: {', '.join(by_name)}.",
            details={"field": "name", "value": name[:200]},
        )
    return by_name[name]


def _read(arguments: str) -> dict[str, Any]:
    try:
        read = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        read = None
    if not isinstance(read, dict):
        raise InputError(
            f"The arguments are no JSON object: {printable(arguments[:200])!r}.",
            hint='Write them as {"name": value}.',
            details={"field": "arguments"},
        )
    return read  # pyright: ignore[reportUnknownVariableType] -- the keys of a JSON object are texts
