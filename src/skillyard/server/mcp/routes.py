"""Where MCP is: one path, whatever the method."""

from fastapi import APIRouter
from starlette.responses import JSONResponse
from starlette.routing import Route

from skillyard.errors import SkillyardError
from skillyard.server.asgi import Receive, Scope, Send, header, refuse


class _Endpoint:
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if _only_looks(scope):
            await JSONResponse({"success": True, "data": _about()})(scope, receive, send)
            return
        service = await scope["app"].state.mcp.service(scope)
        try:
            await service(scope, receive, send)
        except SkillyardError as error:
            await refuse(scope, send, error)


def _only_looks(scope: Scope) -> bool:
    """Whether it is no client of MCP: those that GET something want a stream, and have to say so."""
    return scope["method"] in {"GET", "HEAD"} and b"text/event-stream" not in (header(scope, b"accept") or b"").lower()


def _about() -> dict[str, object]:
    from skillyard.agents.toolsets.names import DEFAULT, TOOLSETS  # noqa: PLC0415 -- other routes need no tools

    return {
        "protocol": "Model Context Protocol over streamable HTTP",
        "hint": "Give this address to an MCP client, with a token as for the API; `skillyard mcp install` does it.",
        "toolsets": TOOLSETS,
        "default_toolsets": DEFAULT,
    }


router = APIRouter()
router.routes.append(Route("/mcp", endpoint=_Endpoint(), methods=["GET", "POST", "DELETE"]))
