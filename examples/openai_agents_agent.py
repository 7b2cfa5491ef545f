"""An agent of the OpenAI Agents SDK with Skillyard's tools, over MCP.

    pip install openai-agents
    python examples/openai_agents_agent.py

Without a real model (`OPENAI_MODEL=gpt-5.2`, `OPENAI_API_KEY`) a scripted one answers, on this machine.
"""

import asyncio
import os
from pathlib import Path

from agents import Agent, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
from agents.mcp import MCPServerStdio
from openai import AsyncOpenAI

from skillyard.llm.scripted import Reply, ScriptedModel, ToolCall, in_turn

SKILLS = Path(__file__).parent / "skills"
SCRIPT = in_turn(
    Reply(calls=[ToolCall(name="load_skill", arguments={"skill_name": "unit-conversion"})]),
    Reply(text="26.2 miles are 42.16 km."),
)


async def run(name: str, client: AsyncOpenAI) -> None:
    skills = MCPServerStdio(
        {"command": "skillyard", "args": ["mcp", "serve", "--root", str(SKILLS)]}, client_session_timeout_seconds=30
    )
    async with client, skills:
        agent = Agent(
            name="calculator",
            instructions="If a skill fits the task, load it first and follow it. `search_skills` finds skills.",
            model=OpenAIChatCompletionsModel(model=name, openai_client=client),
            mcp_servers=[skills],
        )
        done = await Runner.run(agent, "How many kilometres are 26.2 miles?")
    for item in done.new_items:
        print(item.type, getattr(item, "output", ""))
    print(done.final_output)


def main() -> None:
    set_tracing_disabled(disabled=True)
    if name := os.environ.get("OPENAI_MODEL"):
        asyncio.run(run(name, AsyncOpenAI()))
        return
    with ScriptedModel(SCRIPT) as scripted:
        asyncio.run(run("scripted", AsyncOpenAI(base_url=scripted.base_url, api_key="none")))


if __name__ == "__main__":
    main()
