"""Sources that feedback is polled from, for whoever runs the yard."""

from datetime import datetime
from typing import Any

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field

from skillyard.learning.sources.source import MAX_NAME, MAX_SECONDS, MIN_SECONDS, SourceKind
from skillyard.server.api.caller import Caller, Reason
from skillyard.server.api.learning_shapes import Counted, Cursor, Learning, Limit, Told
from skillyard.server.api.shapes import BEARER, Listed, Request, errors
from skillyard.server.api.skill_schemas import Deleted
from skillyard.server.auth import not_kept
from skillyard.server.models import Success

router = APIRouter(
    prefix="/api/v1", tags=["feedback sources"], responses=errors(), dependencies=[BEARER, Depends(not_kept)]
)

_PLACE: Any = Field(
    description="For `url`: `url`, `headers`, `since`, `after`, `overlap_seconds`; for `table`: `database`, `schema`, "
    "`table`, `overlap_rows`; for both `fields`, our names and theirs. Credentials are named as "
    "`${FEEDBACK_SOURCE_…}`, and stand in the environment of the server.",
    examples=[{"url": "https://desk.example.org/feedback", "fields": {"content": "comment"}}],
)
_SECONDS: Any = Field(default=60, ge=MIN_SECONDS, le=MAX_SECONDS, description="Between two looks.")


class SourceCreate(Request):
    name: str = Field(min_length=1, max_length=MAX_NAME, examples=["help desk"])
    kind: SourceKind
    place: dict[str, Any] = _PLACE
    every_seconds: int = _SECONDS


class SourceUpdate(Request):
    """What is left out stays; another place is read from its beginning."""

    name: str | None = Field(default=None, min_length=1, max_length=MAX_NAME)
    place: dict[str, Any] | None = None
    every_seconds: int | None = Field(default=None, ge=MIN_SECONDS, le=MAX_SECONDS)
    enabled: bool | None = None


class SourceSchema(Told):
    id: str
    name: str
    kind: SourceKind
    place: dict[str, Any]
    every_seconds: int
    enabled: bool
    due_at: datetime = Field(description="When it is looked at next.")
    failures: int = Field(description="How often in a row it could not be read.")
    error: str = Field(description="Why, the last time.")
    created_at: datetime


class PolledSchema(Told):
    read: int
    created: int
    known: int = Field(description="Those that had come before.")
    dead: int = Field(description="Those that could not be taken in.")


class DeadLetterSchema(Told):
    id: str
    item: Any
    reason: str
    created_at: datetime


class Forgotten(BaseModel):
    deleted: int


@router.get("/feedback-sources", summary="List sources of feedback")
async def list_sources(learning: Learning, caller: Caller) -> Listed[SourceSchema]:
    """By name."""
    return Listed(data=[SourceSchema.of(source) for source in await learning.sources.all(caller)])


@router.post("/feedback-sources", status_code=201, summary="Make a source of feedback", responses=errors(409))
async def create_source(body: SourceCreate, learning: Learning, caller: Caller, why: Reason) -> Success[SourceSchema]:
    """Have an address or a table polled; each piece that it gives is taken in once."""
    made = await learning.sources.create(
        caller, name=body.name, kind=body.kind, place=body.place, every_seconds=body.every_seconds, why=why
    )
    return Success(data=SourceSchema.of(made))


@router.get("/feedback-sources/{source_id}", summary="Read a source of feedback")
async def get_source(source_id: str, learning: Learning, caller: Caller) -> Success[SourceSchema]:
    return Success(data=SourceSchema.of(await learning.sources.get(caller, source_id)))


@router.patch("/feedback-sources/{source_id}", summary="Change a source of feedback", responses=errors(409))
async def update_source(
    source_id: str, body: SourceUpdate, learning: Learning, caller: Caller, why: Reason
) -> Success[SourceSchema]:
    fields = body.model_dump(exclude_none=True)
    return Success(data=SourceSchema.of(await learning.sources.change(caller, source_id, fields, why=why)))


@router.delete("/feedback-sources/{source_id}", summary="Delete a source of feedback")
async def delete_source(source_id: str, learning: Learning, caller: Caller, why: Reason) -> Success[Deleted]:
    """Poll it no more. What it gave stays; its dead letters go."""
    await learning.sources.delete(caller, source_id, why=why)
    return Success(data=Deleted(id=source_id))


@router.post("/feedback-sources/{source_id}/poll", summary="Look at a source now", responses=errors(409, 413, 503))
async def poll_source(source_id: str, learning: Learning, caller: Caller) -> Success[PolledSchema]:
    return Success(data=PolledSchema.of(await learning.sources.poll(caller, source_id)))


@router.get("/feedback-sources/{source_id}/dead-letters", summary="What could not be taken in")
async def list_dead_letters(
    source_id: str, learning: Learning, caller: Caller, cursor: Cursor = 0, limit: Limit = 50
) -> Counted[DeadLetterSchema]:
    """What came from a source and is no feedback, with the reason; the newest first."""
    found, total = await learning.sources.dead_letters(caller, source_id, limit=limit, offset=cursor)
    return Counted[DeadLetterSchema].page([DeadLetterSchema.of(each) for each in found], total, cursor)


@router.delete("/feedback-sources/{source_id}/dead-letters", summary="Delete what could not be taken in")
async def delete_dead_letters(source_id: str, learning: Learning, caller: Caller) -> Success[Forgotten]:
    return Success(data=Forgotten(deleted=await learning.sources.forget_dead_letters(caller, source_id)))
