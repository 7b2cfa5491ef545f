"""Errors as MCP tells them."""

from typing import Final

from mcp.shared.exceptions import MCPError

from skillyard.errors import NotFoundError, SkillyardError
from skillyard.server.mcp.refusals import error_object

INTERNAL: Final = "The server failed to answer. Its log says why; this is our mistake."


def mcp_error(error: SkillyardError) -> MCPError:
    """An error as the SDK takes it."""
    return MCPError(**error_object(error))


def no_resource(uri: str) -> NotFoundError:
    """There is nothing at an address, or not for this caller."""
    shown = uri if len(uri) <= _SHOWN else f"{uri[:_SHOWN]}…"
    return NotFoundError(
        f"There is nothing at {shown!r}.",
        hint="resources/list and skills/list give the addresses of skills, resources/directory/read those of files.",
        details={"uri": shown},
    )


_SHOWN: Final = 300
