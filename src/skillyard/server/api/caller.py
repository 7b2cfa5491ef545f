"""What every route of the registry needs: the yard, who is calling, and why."""

from dataclasses import replace
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


async def risky_why_of(
    why: Annotated[Why, Depends(why_of)],
    allow_risky: Annotated[
        bool, Query(description="Accept serious findings of the scan, for the `reason`; for administrators.")
    ] = False,
) -> Why:
    return replace(why, allow_risky=allow_risky)


TheYard = Annotated[Yard, Depends(yard_of)]
Caller = Annotated[Principal, Depends(principal_of)]
Reason = Annotated[Why, Depends(why_of)]
RiskyReason = Annotated[Why, Depends(risky_why_of)]
