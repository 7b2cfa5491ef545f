"""What every route of the registry needs: the yard, who is calling, and why."""

from typing import Annotated

from fastapi import Depends, Query, Request

from skillyard.app.yard import Yard
from skillyard.history.entries import Why
from skillyard.identity.principals import Principal


async def yard_of(request: Request) -> Yard:
    return request.app.state.yard


async def principal_of(request: Request) -> Principal:
    """Who is calling: found out before the request got here."""
    return request.state.principal


async def why_of(
    request: Request,
    reason: Annotated[str, Query(max_length=1000, description="Why this is done; kept in the history.")] = "",
    feedback: Annotated[str, Query(max_length=2000, description="The words of the person it comes from.")] = "",
) -> Why:
    return Why(reason=reason, feedback=feedback, request_id=getattr(request.state, "request_id", ""))


TheYard = Annotated[Yard, Depends(yard_of)]
Caller = Annotated[Principal, Depends(principal_of)]
Reason = Annotated[Why, Depends(why_of)]
