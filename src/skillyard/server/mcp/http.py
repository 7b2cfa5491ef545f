"""MCP over HTTP: every request is answered with the rights of whoever sent it, as the API would."""

import asyncio
from typing import TYPE_CHECKING, Final

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.datastructures import State

from skillyard.server.asgi import Receive, Scope, Send, state_of
from skillyard.server.auth import PRINCIPAL
from skillyard.server.limits import MAX_BODY
from skillyard.server.mcp.http_guests import GUEST, HttpGuests
from skillyard.server.mcp.server import SkillServer
from skillyard.server.streams import Streams

if TYPE_CHECKING:
    from skillyard.identity.principals import Principal

MAX_SESSIONS: Final = 10_000
SESSION_SECONDS: Final = 600.0
"""How long a session of an older client is kept when nothing of it is under way."""


class McpOverHttp:
    """The ASGI application behind `/mcp`."""

    def __init__(self, guests: HttpGuests, manager: StreamableHTTPSessionManager, streams: Streams) -> None:
        self._guests = guests
        self._manager = manager
        self._streams = streams
        self._stopping = asyncio.Event()
        self._running: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Have sessions run, until this is closed, in a task of their own."""
        ready = asyncio.Event()

        async def run() -> None:
            async with self._manager.run():
                ready.set()
                await self._stopping.wait()
                await self._guests.settle()

        self._running = asyncio.create_task(run())
        await ready.wait()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        principal: Principal = state_of(scope)[PRINCIPAL]
        # Blanks around a value are no part of it, and not every HTTP parser takes them away.
        scope["headers"] = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        scope[GUEST] = self._guests.admit(scope, principal)
        # A session of an older client is only for whoever began it.
        whose = AccessToken(token="", client_id=principal.token_id or principal.person_id, scopes=[])
        scope["user"] = AuthenticatedUser(whose)
        over = self._streams.begin(principal.person_id) if scope["method"] == "GET" else None
        try:
            await self._manager.handle_request(scope, receive, send)
        finally:
            if over is not None:
                over()

    def close(self) -> None:
        """End every stream and session."""
        self._guests.close()
        self._stopping.set()

    async def ended(self) -> None:
        """Wait until all is over; after `close`."""
        if self._running is not None:
            await self._running


async def open_mcp(state: State) -> McpOverHttp:
    """MCP for the application whose state this is."""
    guests = HttpGuests(state)
    manager = StreamableHTTPSessionManager(
        SkillServer(guests),
        max_request_body_size=MAX_BODY,
        session_idle_timeout=SESSION_SECONDS,
        max_sessions=MAX_SESSIONS,
    )
    service = McpOverHttp(guests, manager, state.streams)
    await service.start()
    return service
