"""MCP over the standard streams of a process, for one client that started it."""

import asyncio
import gc
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

import anyio
from mcp.server.stdio import stdio_server

from skillyard.agents.materialise import Place
from skillyard.agents.source import SkillSource
from skillyard.server.mcp.guests import Common, Guest, OneGuest
from skillyard.server.mcp.kept_tools import KeptTools
from skillyard.server.mcp.opening import Opening
from skillyard.server.mcp.server import SkillServer
from skillyard.server.mcp.unanswered import Unanswered
from skillyard.server.mcp.unreadable import Messages
from skillyard.server.mcp.wanted import Wanted

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp_types import ListToolsResult

    from skillyard.remote.client import YardClient

LOOK_SECONDS: Final = 0.5
"""How often it is looked whether skills changed, while the client wants to know."""


def serve_stdio(
    source: SkillSource,
    wanted: Wanted,
    *,
    opening: Opening,
    yard: "Callable[[], YardClient]",
    place: Place,
    local: Path | None = None,
    settle: "Callable[[], None] | None" = None,
    kept: KeptTools,
) -> None:
    """Serve until the client closes the pipe.

    `local` is the folder whose files tools may read and write, `settle` waits until uses of skills are counted, and
    `kept` is what the next process is to know of the tools.
    """
    gc.freeze()  # what was imported stays: no answer waits until it was looked through
    welcome = partial(
        Guest,
        source,
        wanted,
        yard=yard,
        session=f"mcp-{uuid4().hex}",
        place=place,
        local=local,
        wait=partial(asyncio.sleep, LOOK_SECONDS),
        settle=settle,
        common=Common(listed=lambda listed: kept.keep(_as_sent(listed))),
    )
    opening.answered()  # waits here, where it can be interrupted, until the client says something
    anyio.run(_serve, opening, welcome)


def _as_sent(listed: "ListToolsResult") -> list[dict[str, Any]]:
    return [tool.model_dump(by_alias=True, mode="json", exclude_none=True) for tool in listed.tools]


async def _serve(opening: Opening, welcome: "Callable[[], Guest]") -> None:
    guest = welcome()
    server = SkillServer(OneGuest(guest))
    try:
        async with stdio_server(anyio.wrap_file(opening.wire())) as (receiving, sending):
            answers = Unanswered(sending, opening.answered())
            await server.run(Messages(receiving, sending), answers, server.create_initialization_options())
    finally:
        guest.news.close()
