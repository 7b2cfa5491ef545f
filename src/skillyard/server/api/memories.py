"""Memories: listed, recalled, kept and changed by hand."""

from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from fastapi import APIRouter, Depends, Query, Response
from pydantic import Field

from skillyard.clock import utc_now
from skillyard.history.entries import Why
from skillyard.identity.agents import MAX_ID
from skillyard.identity.principals import Principal
from skillyard.learning.drafts import CommitResult, Draft
from skillyard.learning.memories import MemoryWish
from skillyard.learning.memory import MAX_TEXT, Memory
from skillyard.learning.recall import MAX_RECALLED
from skillyard.learning.service import LearningRooms
from skillyard.learning.states import Operation
from skillyard.server.api.caller import Caller, Reason, TheYard
from skillyard.server.api.learning_shapes import (
    Base,
    Counted,
    Cursor,
    HandChange,
    Learning,
    Limit,
    Moment,
    Namespace,
    ShownNamespace,
    Told,
    Visibility,
    by_hand,
    by_whom_may,
    made_id,
    require_base,
    tag_of,
)
from skillyard.server.api.shapes import BEARER, Listed, Request, errors
from skillyard.server.auth import not_kept
from skillyard.server.models import Success

router = APIRouter(prefix="/api/v1", tags=["memories"], responses=errors(), dependencies=[BEARER, Depends(not_kept)])

AgentId = Annotated[str | None, Query(max_length=MAX_ID, description="What this agent goes by.")]


class MemoryCreate(Request):
    text: str = Field(min_length=1, max_length=MAX_TEXT, examples=["Refunds take five days."])
    agent_id: str | None = Field(default=None, max_length=MAX_ID, description="Null: for every agent.")
    expires_at: Moment | None = None
    namespace: Namespace = None
    visibility: Visibility = "public"


class MemoryUpdate(Request):
    """What is left out stays."""

    text: str | None = Field(default=None, min_length=1, max_length=MAX_TEXT)
    expires_at: Moment | None = Field(default=None, description="Null: it does not expire.")
    locked: bool | None = Field(default=None, description="Whether lessons are only proposed against it.")


class MemoryRecall(Request):
    query: str = Field(default="", max_length=2000, description="What it is about; empty for the newest.")
    agent: str | None = Field(default=None, max_length=MAX_ID, description="What this agent goes by.")
    limit: int = Field(default=10, ge=1, le=MAX_RECALLED)


class MemoryJudgement(Request):
    verdict: Literal["helpful", "harmful"]


class MemorySchema(Told):
    id: str
    agent_id: str | None = Field(description="Null: for every agent.")
    text: str
    lesson_id: str | None
    provenance: dict[str, Any] = Field(description="Where it comes from.")
    superseded_by: str | None = Field(description="The memory that came in its place.")
    helpful: int
    harmful: int
    expires_at: datetime | None
    locked: bool
    namespace: ShownNamespace
    visibility: Visibility
    created_at: datetime
    updated_at: datetime


class MemoryChange(HandChange):
    memory: MemorySchema | None = Field(description="As it is now; null where it is gone, or only proposed.")

    @classmethod
    def made(cls, result: CommitResult, draft: Draft, memory: Memory | None) -> Self:
        return cls(**cls.values(result, draft), memory=memory and MemorySchema.of(memory))


@router.get("/memories", summary="List memories")
async def list_memories(
    learning: Learning,
    caller: Caller,
    agent: AgentId = None,
    everything: Annotated[bool, Query(description="Also what was superseded or has expired.")] = False,
    cursor: Cursor = 0,
    limit: Limit = 50,
) -> Counted[MemorySchema]:
    """The newest first."""
    now = utc_now()
    found = [each for each in await learning.memories.all(caller, agent_id=agent) if everything or each.holds(now)]
    page = [MemorySchema.of(each) for each in found[cursor : cursor + limit]]
    return Counted[MemorySchema].page(page, len(found), cursor)


@router.post("/memories", status_code=201, summary="Remember something", responses=errors(413))
async def create_memory(
    body: MemoryCreate, yard: TheYard, learning: Learning, caller: Caller, why: Reason
) -> Success[MemoryChange]:
    """Keep something for one agent, or for all."""
    if body.agent_id is not None:
        await yard.registry.agents.get(caller, body.agent_id)
    wish = MemoryWish(operation=Operation.CREATE, text=body.text, agent_id=body.agent_id, expires_at=body.expires_at)
    wish = replace(wish, place=await learning.place(caller, body.namespace, private=body.visibility == "private"))
    return Success(data=await _change(learning, caller, wish, why))


@router.post("/memories/recall", summary="Recall what fits")
async def recall_memories(body: MemoryRecall, learning: Learning, caller: Caller) -> Listed[MemorySchema]:
    """What is remembered about something, the most fitting first: what an agent reads before it answers."""
    found = await learning.recall.recall(caller, body.query, agent_id=body.agent, limit=body.limit)
    return Listed(data=[MemorySchema.of(each) for each in found])


@router.get("/memories/{memory_id}", summary="Read a memory")
async def get_memory(memory_id: str, learning: Learning, caller: Caller, response: Response) -> Success[MemorySchema]:
    memory = await learning.memories.get(caller, memory_id)
    response.headers["ETag"] = tag_of(_state(memory), memory.helpful, memory.harmful)
    return Success(data=MemorySchema.of(memory))


@router.patch("/memories/{memory_id}", summary="Change a memory", responses=errors(409, 413))
async def update_memory(
    memory_id: str, body: MemoryUpdate, learning: Learning, caller: Caller, why: Reason, base: Base
) -> Success[MemoryChange]:
    """Say something else, or for another time. The old memory is kept, superseded by a new one with its own id."""
    present = await learning.memories.get(caller, memory_id)
    require_base(base, _state(present), {"memory": memory_id})
    told: MemoryChange | None = None
    if body.model_fields_set & {"text", "expires_at"}:
        wish = MemoryWish(
            operation=Operation.UPDATE,
            memory_id=memory_id,
            text=body.text if body.text is not None else present.text,
            expires_at=body.expires_at if "expires_at" in body.model_fields_set else present.expires_at,
        )
        told = await _change(learning, caller, wish, why)
        memory_id = told.memory.id if told.memory else memory_id
    if body.locked is not None:
        memory = await learning.memories.lock(by_hand(caller, why), memory_id, locked=body.locked)
        locked = MemorySchema.of(memory)
        told = told.model_copy(update={"memory": locked}) if told else _untouched(locked)
    return Success(data=told or _untouched(MemorySchema.of(present)))


@router.delete("/memories/{memory_id}", summary="Forget something", responses=errors(409))
async def delete_memory(
    memory_id: str, learning: Learning, caller: Caller, why: Reason, base: Base
) -> Success[MemoryChange]:
    """Take a memory away; undoing its entry in the history brings it back."""
    if base is not None:
        require_base(base, _state(await learning.memories.get(caller, memory_id)), {"memory": memory_id})
    return Success(
        data=await _change(learning, caller, MemoryWish(operation=Operation.DELETE, memory_id=memory_id), why)
    )


@router.post("/memories/{memory_id}/judge", summary="Say whether a memory helped")
async def judge_memory(
    memory_id: str, body: MemoryJudgement, learning: Learning, caller: Caller
) -> Success[MemorySchema]:
    """Count that it helped, or did harm."""
    return Success(data=MemorySchema.of(await learning.memories.judge(caller, memory_id, body.verdict)))


async def _change(learning: LearningRooms, caller: Principal, wish: MemoryWish, why: Why) -> MemoryChange:
    draft = by_whom_may(caller, await learning.memories.draft(caller, wish))
    result = await learning.commits.commit(by_hand(caller, why), draft)
    made = made_id(result, draft)
    memory = None if made is None else await learning.memories.get(caller, made)
    return MemoryChange.made(result, draft, memory)


def _untouched(memory: MemorySchema) -> MemoryChange:
    return MemoryChange(state="committed", effects=[], proposal_id=None, warnings=[], memory=memory)


def _state(memory: Memory) -> str:
    return memory.updated_at.isoformat()
