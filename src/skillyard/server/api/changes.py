"""The change feed, a page at a time."""

from typing import Annotated

from fastapi import APIRouter, Query

from skillyard.server.api.caller import Caller, TheYard
from skillyard.server.api.history import LARGEST
from skillyard.server.api.history_schemas import ChangeSchema, ChangesSchema
from skillyard.server.api.shapes import BEARER, errors
from skillyard.server.models import Success

router = APIRouter(prefix="/api/v1", tags=["changes"], responses=errors(), dependencies=[BEARER])

Since = Annotated[int, Query(ge=0, le=LARGEST, description="Only what came after this change.")]


@router.get("/changes")
async def list_changes(
    yard: TheYard, caller: Caller, since: Since = 0, limit: Annotated[int, Query(ge=1, le=1000)] = 1000
) -> Success[ChangesSchema]:
    """What changed after a number, in the order it was committed, without gaps.

    `limit` bounds how many changes are examined; those that are not the caller's to know are left out, so an empty
    page is not the end: that is reached when `next` is the `since` that was asked for.
    """
    page = await yard.registry.chronicle.feed(caller, since=since, limit=limit)
    return Success(data=ChangesSchema(changes=[ChangeSchema.of(item) for item in page.items], next=page.next))
