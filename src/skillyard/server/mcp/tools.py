"""Tools over MCP: how they are listed, and calling one."""

import logging
from collections.abc import Mapping
from typing import Any, Final

from mcp_types import CallToolResult, ListToolsResult, TextContent, ToolAnnotations
from mcp_types import Tool as McpTool

from skillyard.agents.tool import Answer, Tool, as_text, went_well
from skillyard.errors import NotFoundError, SkillyardError
from skillyard.server.mcp.errors import INTERNAL
from skillyard.server.mcp.guests import Visit
from skillyard.server.mcp.toolsets import Toolbox
from skillyard.skill.names import nearest_name

_SHOWN: Final = 100
_log = logging.getLogger(__name__)


def listed_tools(visit: Visit) -> ListToolsResult:
    tools = ListToolsResult(tools=[_mcp_tool(tool) for tool in visit.toolbox.tools().values()])
    visit.guest.listed(tools)
    return tools


def tool_named(toolbox: Toolbox, name: str) -> Tool:
    """The tool of that name, or an error that names the one that may be meant."""
    tool = toolbox.named(name)
    if tool is None:
        near = nearest_name(name, toolbox.tools())
        raise NotFoundError(
            f"There is no tool {name[:_SHOWN]!r} here.",
            hint=f"Did you mean {near!r}?" if near else "tools/list names those there are; toolsets add others.",
            details={"tool": name[:_SHOWN]},
        )
    return tool


def called(tool: Tool, arguments: Mapping[str, Any]) -> CallToolResult:
    """What a tool answers; what goes wrong is told to the model, which can do something about it."""
    try:
        answer = tool.call(**arguments)
    except SkillyardError as error:
        return _failed(error.as_public_dict())
    except Exception:  # noqa: BLE001 -- one tool that fails must not end the connection
        _log.exception("the tool %s failed", tool.name)
        return _failed({"code": "internal", "message": INTERNAL, "hint": "", "details": {}})
    return CallToolResult(
        content=[TextContent(text=as_text(answer))],
        structured_content=_structured(answer),
        is_error=not went_well(answer),
    )


def _failed(error: dict[str, Any]) -> CallToolResult:
    text = f"{error['message']} {error['hint']}".rstrip()
    return CallToolResult(content=[TextContent(text=text)], structured_content={"error": error}, is_error=True)


def _structured(answer: Answer) -> dict[str, Any] | None:
    """The answer as an object, which is all that older clients take; a plain text needs none."""
    if isinstance(answer, str):
        return None
    return answer if isinstance(answer, dict) else {"result": answer}


def _mcp_tool(tool: Tool) -> McpTool:
    return McpTool(
        name=tool.name,
        title=tool.title or None,
        description=tool.description,
        input_schema=dict(tool.parameters),
        annotations=ToolAnnotations(
            read_only_hint=tool.read_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=False,
        ),
    )
