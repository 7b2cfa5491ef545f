"""A server that serves nothing over stdio, made with the MCP SDK alone: the floor of `bench/mcp_serving.py`."""

import anyio
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server


async def serve() -> None:
    server = Server("nothing")
    async with stdio_server() as (receiving, sending):
        await server.run(receiving, sending, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(serve)
