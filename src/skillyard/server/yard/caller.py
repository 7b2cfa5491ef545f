"""What every route of the control plane needs: its sandboxes and who is calling, and how its contract is told."""

from typing import Annotated, Any, Final

from fastapi import Depends, Request
from pydantic import BaseModel

from skillyard.app.sandboxes import SandboxRooms
from skillyard.server.api.caller import Caller, principal_of, yard_of

__all__ = ["Body", "Caller", "Rooms", "failures", "principal_of"]


async def rooms_of(request: Request) -> SandboxRooms:
    return (await yard_of(request)).sandboxes


Rooms = Annotated[SandboxRooms, Depends(rooms_of)]


class Body(BaseModel):
    """A body: what it holds beyond the fields is ignored, as clients of the control plane are used to."""


class ErrorDetail(BaseModel):
    code: str
    message: str
    request_id: str
    details: dict[str, Any]
    hint: str = ""


class ErrorResponse(BaseModel):
    """What went wrong."""

    error: ErrorDetail


_MEANINGS: Final = {
    400: "`validation_error`, `invalid_path` or `capability_not_supported`: the request must be changed.",
    401: "`unauthorized`: the server does not know who is asking.",
    403: "`forbidden`: your role or your token is not enough.",
    404: "`not_found` or `file_not_found`: there is no such thing, or not for you.",
    409: "`conflict`, `sandbox_expired` or `sandbox_ttl_infinite`: the state does not allow it.",
    413: "`limit_exceeded`: larger than allowed.",
    414: "`limit_exceeded`: the path and query are longer than allowed.",
    422: "`validation_error`: a field is missing, of another type, or out of its range.",
    429: "`quota_exceeded`: you have, or ask for, too many.",
    502: "`ship_error`: what runs the sandbox failed.",
    503: "`session_not_ready`: the sandbox cannot be used now; try again. `elsewhere`: another server has its files.",
    504: "`timeout`: it was not done in its time.",
}
_ALWAYS: Final = (400, 401, 403, 404, 413, 414, 422, 429, 503)


def failures(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors that a route documents: those that every route has, and these."""
    named = {status: _MEANINGS[status] for status in sorted({*_ALWAYS, *statuses})}
    return {status: {"model": ErrorResponse, "description": meaning} for status, meaning in named.items()}
