"""An agent of Pydantic AI with Skillyard's tools, over MCP.

    pip install "pydantic-ai-slim[mcp,openai]"
    python examples/pydantic_ai_agent.py

Without a real model (`MODEL=openai:gpt-5.2` and its key) a scripted one answers, on this machine.
"""

import asyncio
import os
from pathlib import Path

from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.models import Model
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from skillyard.llm.scripted import Reply, ScriptedModel, ToolCall, in_turn

SKILLS = Path(__file__).parent / "skills"
SCRIPT = in_turn(
    Reply(calls=[ToolCall(name="load_skill", arguments={"skill_name": "unit-conversion"})]),
    Reply(text="26.2 miles are 42.16 km."),
)


async def run(model: Model | str) -> None:
    skills = MCPToolset(StdioTransport("skillyard", ["mcp", "serve", "--root", str(SKILLS)]), init_timeout=30)
    agent = Agent(
        model,
        toolsets=[skills],
        instructions="If a skill fits the task, load it first and follow it. `search_skills` finds skills.",
    )
    async with agent:
        done = await agent.run("How many kilometres are 26.2 miles?")
    for message in done.all_messages():
        for part in message.parts:
            print(f"{part.part_kind}: {getattr(part, 'content', None) or part.tool_name}")


def main() -> None:
    if name := os.environ.get("MODEL"):
        asyncio.run(run(name))
        return
    with ScriptedModel(SCRIPT) as scripted:
        provider = OpenAIProvider(base_url=scripted.base_url, api_key="none")
        asyncio.run(run(OpenAIChatModel("scripted", provider=provider)))


if __name__ == "__main__":
    main()
