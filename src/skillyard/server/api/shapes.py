"""What the answers and the contracts of all routes have in common."""

from typing import Any, Final, Generic, TypeVar

from fastapi import Depends
from fastapi.security import HTTPBearer
from pydantic import BaseModel, ConfigDict, Field

from skillyard.server.models import Failure, Success

T = TypeVar("T")

# It checks nothing, which was done before: it tells readers of the contract how to come in.
BEARER: Final = Depends(HTTPBearer(auto_error=False, description="An API token, such as `sky_…`."))


class Request(BaseModel):
    """A body: what it holds beyond the fields is refused, since it would be ignored otherwise."""

    model_config = ConfigDict(extra="forbid")


class Listed(Success[list[T]], Generic[T]):
    """Some of a list."""

    next_cursor: str | None = Field(
        default=None, description="Pass it on as `cursor` for the next page; null at the end."
    )


_MEANINGS: Final = {
    400: "`usage`: the request cannot be understood.",
    401: "`unauthenticated`: the server does not know who is asking.",
    403: "`not_allowed`: your role or your token is not enough.",
    404: "`not_found`: there is no such thing, or not for you.",
    409: "`conflict`: the state has moved on, or the name is taken; `details` has the present `digest`.",
    413: "`limit_exceeded`: larger than allowed.",
    414: "`limit_exceeded`: the path and query are longer than allowed.",
    422: "`invalid_input`: something in the request is wrong; `details` says what. "
    "`policy_refused`: the namespace does not take this version.",
    429: "`rate_limited`: wait as `Retry-After` says.",
    503: "`unavailable`: something that the server needs is not there yet; try again.",
}
_ALWAYS: Final = (400, 401, 403, 404, 414, 422, 429)


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors that a route documents: those that every route has, and these."""
    return {status: {"model": Failure, "description": _MEANINGS[status]} for status in sorted({*_ALWAYS, *statuses})}
