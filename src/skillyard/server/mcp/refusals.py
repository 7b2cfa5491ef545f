"""Refusals of requests to MCP in the shape that its clients read; others see a status and nothing else.

What is imported here is needed by every server, also by one that no client of MCP ever comes to.
"""

from typing import Any, Final

from skillyard.errors import SkillyardError

PATH: Final = "/mcp"


def speaks_mcp(method: str, path: str) -> bool:
    """Whether whoever asks there reads errors of JSON-RPC: those who send messages do."""
    return method == "POST" and path.rstrip("/") == PATH


def refusal_body(error: SkillyardError) -> dict[str, object]:
    """An error that answers no message in particular: which one it was is not known before it is read."""
    return {"jsonrpc": "2.0", "id": None, "error": error_object(error)}


def error_object(error: SkillyardError) -> dict[str, Any]:
    """An error with its message and hint for people, and its code and details as data."""
    public = error.as_public_dict()
    if "uri" in error.details:  # where clients look for what a resource error is about
        public["uri"] = error.details["uri"]
    return {"code": error.mcp_code, "message": f"{public['message']} {public['hint']}".rstrip(), "data": public}
