"""Errors as MCP tells them."""

from typing import Final

from mcp.shared.exceptions import MCPError

from skillyard.errors import NotFoundError, SkillyardError

INTERNAL: Final = "The server failed to answer. Its log says why; this is our mistake."


def mcp_error(error: SkillyardError) -> MCPError:
    """An error with its message and hint for people, and its code and details as data."""
    public = error.as_public_dict()
    if "uri" in error.details:  # where clients look for what a resource error is about
        public["uri"] = error.details["uri"]
    return MCPError(error.mcp_code, f"{public['message']} {public['hint']}".rstrip(), public)


def no_resource(uri: str) -> NotFoundError:
    """There is nothing at an address, or not for this caller."""
    shown = uri if len(uri) <= _SHOWN else f"{uri[:_SHOWN]}…"
    return NotFoundError(
        f"There is nothing at {shown!r}.",
        hint="resources/list and skills/list give the addresses of skills, resources/directory/read those of files.",
        details={"uri": shown},
    )


_SHOWN: Final = 300
