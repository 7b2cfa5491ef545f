"""MCP over the standard streams of a process, for one client that started it."""

import asyncio
import gc
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final
from uuid import uuid4

import anyio
from mcp.server.stdio import stdio_server

from skillyard.agents.materialise import Place
from skillyard.agents.source import SkillSource
from skillyard.server.mcp.guests import Guest, OneGuest
from skillyard.server.mcp.server import SkillServer
from skillyard.server.mcp.unreadable import Messages

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillyard.remote.client import YardClient

LOOK_SECONDS: Final = 0.5
"""How often it is looked whether skills changed, while the client wants to know."""


def serve_stdio(
    source: SkillSource, toolsets: tuple[str, ...], *, yard: "Callable[[], YardClient]", place: Place
) -> None:
    """Serve until the client closes the pipe."""
    gc.freeze()  # what was imported stays: no answer waits until it was looked through
    welcome = partial(
        Guest,
        source,
        toolsets,
        yard=yard,
        session=f"mcp-{uuid4().hex}",
        place=place,
        local=Path.cwd(),
        wait=partial(asyncio.sleep, LOOK_SECONDS),
    )
    anyio.run(_serve, welcome)


async def _serve(welcome: "Callable[[], Guest]") -> None:
    guest = welcome()
    server = SkillServer(OneGuest(guest))
    try:
        async with stdio_server() as (receiving, sending):
            await server.run(Messages(receiving, sending), sending, server.create_initialization_options())
    finally:
        guest.news.close()
