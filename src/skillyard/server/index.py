"""The first page: where to go from there."""

from typing import Final

from fastapi import APIRouter, Request, Response

from skillyard.server.api.caller import Caller, TheYard
from skillyard.server.api.shapes import errors
from skillyard.server.models import Success
from skillyard.server.sign_in.origins import wants_page

LINKS: Final = {
    "health": "/healthz",
    "openapi": "/openapi.json",
    "me": "/api/v1/me",
    "skills": "/api/v1/skills",
    "changes": "/api/v1/changes",
    "library": "/api/v1/library/skills",
    "search": "/api/v1/search?q=skill",
    "sandboxes": "/v1/sandboxes",
    "mcp": "/mcp",
}

router = APIRouter(tags=["about"])


@router.get("/", responses=errors(), response_model=Success[dict[str, str]])
async def index(request: Request, yard: TheYard, caller: Caller) -> Success[dict[str, str]] | Response:
    """Where to go from here; for a browser, the first page."""
    if wants_page(request.scope):
        from skillyard.server.web.home import home  # noqa: PLC0415 -- programs need no templates

        return await home(request, yard, caller)
    return Success(data=LINKS)
