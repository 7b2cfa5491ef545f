"""The first page of the API: where to go from there."""

from typing import Final

from fastapi import APIRouter

from skillyard.server.api.shapes import errors
from skillyard.server.models import Success

LINKS: Final = {
    "health": "/healthz",
    "openapi": "/openapi.json",
    "me": "/api/v1/me",
    "skills": "/api/v1/skills",
    "changes": "/api/v1/changes",
    "library": "/api/v1/library/skills",
    "search": "/api/v1/search?q=skill",
    "sandboxes": "/v1/sandboxes",
}

router = APIRouter(tags=["about"])


@router.get("/", responses=errors())
async def index() -> Success[dict[str, str]]:
    """Where to go from here."""
    return Success(data=LINKS)
