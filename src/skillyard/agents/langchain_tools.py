"""Tools as LangChain tools, for `create_agent`, LangGraph and deepagents."""

from collections.abc import Iterable
from typing import Any

from skillyard.agents.extra import missing_extra

try:
    from langchain_core.tools import StructuredTool, ToolException
except ModuleNotFoundError as error:
    raise missing_extra(error) from error

from skillyard.agents.tool import Tool


def langchain_tool(tool: Tool) -> StructuredTool:
    """A tool of ours as one of LangChain's: an error is answered to the model, which can act on it."""

    def run(**arguments: Any) -> str:  # noqa: ANN401 -- whatever a model sends
        text, went_well = tool.text_or_error(arguments)
        if not went_well:
            raise ToolException(text)
        return text

    return StructuredTool(
        name=tool.name,
        description=tool.description,
        args_schema=dict(tool.parameters),
        func=run,
        handle_tool_error=True,
        metadata={
            "read_only": tool.read_only,
            "destructive": tool.destructive,
            "idempotent": tool.idempotent,
        },
    )


def langchain_tools(tools: Iterable[Tool]) -> list[StructuredTool]:
    return [langchain_tool(tool) for tool in tools]
