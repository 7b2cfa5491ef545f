"""A plain MCP client: it starts Skillyard's server, and uses its tools and resources.

    python examples/mcp_client.py

`Client("http://127.0.0.1:8321/mcp")` would talk to `skillyard serve` instead.
"""

import asyncio
import sys
from pathlib import Path

from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult

SKILLS = Path(__file__).parent / "skills"
SERVER = StdioServerParameters(command=sys.executable, args=["-m", "skillyard", "mcp", "serve", "--root", str(SKILLS)])


async def main() -> None:
    async with Client(SERVER) as client:
        tools = (await client.list_tools()).tools
        print("tools:", ", ".join(tool.name for tool in tools))
        found = await client.call_tool("search_skills", {"query": "how many kilometres are 26.2 miles", "n": 1})
        print("found:", text_of(found))
        loaded = await client.call_tool("load_skill", {"skill_name": "unit-conversion"})
        print("loaded:", text_of(loaded).splitlines()[1])
        resources = (await client.list_resources()).resources
        print("resources:", ", ".join(sorted(str(resource.uri) for resource in resources)))
        wrong = await client.call_tool("load_skill", {"skill_name": "unit-convertor"})
        print("error:", text_of(wrong))


def text_of(result: CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if block.type == "text")


if __name__ == "__main__":
    asyncio.run(main())
