"""What a client of the mcp SDK 1.x does, run by a Python that has it, with a command or a URL to connect to.

It prints what it saw as one JSON document. A line on stdin is its sign that the skills were changed.
"""

import asyncio
import json
import sys
from contextlib import asynccontextmanager

from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client

PATIENCE = 60


@asynccontextmanager
async def streams(words):
    if words[0].startswith("http"):
        async with streamablehttp_client(words[0]) as (receiving, sending, _):
            yield receiving, sending
    else:
        async with stdio_client(StdioServerParameters(command=words[0], args=words[1:])) as both:
            yield both


async def main(words):
    changed = asyncio.Event()

    async def note(message):
        if isinstance(message, types.ServerNotification) and isinstance(
            message.root, types.ToolListChangedNotification
        ):
            changed.set()

    async with (
        streams(words) as (receiving, sending),
        ClientSession(receiving, sending, message_handler=note) as session,
    ):
        hello = await session.initialize()
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        resources = (await session.list_resources()).resources
        read = await session.read_resource(resources[0].uri)
        prompts = (await session.list_prompts()).prompts
        prompt = await session.get_prompt(prompts[0].name, {"task": "Do it."})
        called = await session.call_tool("skill", {"skill": prompts[0].name})
        failed = await session.call_tool("load_skill", {"skill_name": "none"})
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.readline)
        async with asyncio.timeout(PATIENCE):
            await changed.wait()
        again = {tool.name: tool for tool in (await session.list_tools()).tools}
    seen = {
        "protocol": hello.protocolVersion,
        "tools": sorted(tools),
        "before": tools["skill"].description,
        "after": again["skill"].description,
        "resource": str(resources[0].uri),
        "text": read.contents[0].text,
        "prompt": [message.content.text for message in prompt.messages],
        "called": called.content[0].text,
        "failed": [failed.isError, failed.content[0].text],
    }
    sys.stdout.write(json.dumps(seen) + "\n")


asyncio.run(main(sys.argv[1:]))
