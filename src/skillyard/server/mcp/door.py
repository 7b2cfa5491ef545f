"""The way to MCP over HTTP: what is behind it is imported and started when somebody first comes."""

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING

from skillyard.server.asgi import Scope

if TYPE_CHECKING:
    from skillyard.server.mcp.http import McpOverHttp


class McpDoor:
    """The MCP of one application: nothing, until the first request."""

    def __init__(self) -> None:
        self._service: asyncio.Task[McpOverHttp] | None = None
        self._closed = False

    async def service(self, scope: Scope) -> "McpOverHttp":
        if self._service is None:
            self._service = asyncio.create_task(_opened(scope))
        try:
            service = await asyncio.shield(self._service)
        except Exception:
            self._service = None  # whoever asks next may be luckier
            raise
        if self._closed:
            service.close()
        return service

    def close(self) -> None:
        """End every stream and session; called when the server begins to stop."""
        self._closed = True
        if self._service is not None and self._service.done() and not self._service.exception():
            self._service.result().close()

    async def ended(self) -> None:
        """Wait until all of it is over; after `close`."""
        if self._service is not None:
            service = await self._service
            service.close()
            await service.ended()


async def _opened(scope: Scope) -> "McpOverHttp":
    # Half a second of imports, beside the loop: others are being answered.
    http = await asyncio.to_thread(import_module, "skillyard.server.mcp.http")
    return await http.open_mcp(scope["app"].state)
