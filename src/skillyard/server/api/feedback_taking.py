"""Feedback in the hands of a connected agent, which decides and commits without a model of the server's."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Self

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field, StringConstraints

from skillyard.identity.agents import MAX_ID
from skillyard.learning.feedback import MAX_AGENTS
from skillyard.learning.lessons import Lesson
from skillyard.learning.taking import MAX_SECONDS, MAX_WORKER, Assignment
from skillyard.server.api.agent_schemas import AgentSchema
from skillyard.server.api.caller import Caller
from skillyard.server.api.feedback_schemas import FeedbackSchema, LessonSchema
from skillyard.server.api.learning_shapes import Learning
from skillyard.server.api.shapes import BEARER, Listed, Request, errors
from skillyard.server.auth import not_kept
from skillyard.server.models import Success

router = APIRouter(prefix="/api/v1", tags=["feedback"], responses=errors(409), dependencies=[BEARER, Depends(not_kept)])

Worker = Annotated[
    str, StringConstraints(min_length=1, max_length=MAX_WORKER), Field(description="Your name for whoever works on it.")
]
Meaning = Annotated[str, StringConstraints(min_length=1, max_length=4_000)]


class Take(Request):
    worker: Worker
    seconds: int = Field(default=900, ge=1, le=MAX_SECONDS, description="For so long; each call renews it.")


class Matches(Request):
    worker: Worker
    matches: dict[Annotated[str, StringConstraints(max_length=MAX_ID)], Meaning] = Field(
        max_length=MAX_AGENTS, description="What each agent should learn, by its id; none, if nobody should."
    )


class ToolUse(Request):
    worker: Worker
    arguments: dict[str, Any] = Field(default={}, description="Those of the tool.")


class Finish(Request):
    worker: Worker
    reason: str = Field(default="", max_length=2_000, description="Why nothing was committed, where nothing was.")


class Held(Request):
    worker: Worker


class AssignmentSchema(BaseModel):
    feedback: FeedbackSchema
    agents: list[AgentSchema] = Field(description="Those that it can be for.")
    lessons: list[LessonSchema] = Field(description="What was begun with it before.")
    until: datetime

    @classmethod
    def of(cls, taken: Assignment, lessons: Sequence[Lesson]) -> Self:
        return cls(
            feedback=FeedbackSchema.of(taken.feedback),
            agents=[AgentSchema.of(agent) for agent in taken.agents],
            lessons=[LessonSchema.of(lesson) for lesson in lessons],
            until=taken.until,
        )


@router.post("/feedback/take", summary="Take the next feedback")
async def take_feedback(body: Take, learning: Learning, caller: Caller) -> Success[AssignmentSchema | None]:
    """Take the oldest piece of feedback that nobody works on; null where there is none."""
    taken = await learning.taking.take_next(caller, body.worker, body.seconds)
    if taken is None:
        return Success(data=None)
    return Success(data=AssignmentSchema.of(taken, await learning.shown.shown(caller, taken.lessons)))


@router.post("/feedback/{feedback_id}/matches", summary="Say whom feedback is for")
async def match_feedback(feedback_id: str, body: Matches, learning: Learning, caller: Caller) -> Listed[LessonSchema]:
    """Begin a lesson for each agent that should learn from it; it is said once."""
    lessons = await learning.taking.give(caller, feedback_id, body.matches, worker=body.worker)
    return Listed(data=[LessonSchema.of(lesson) for lesson in await learning.shown.shown(caller, lessons)])


@router.post("/lessons/{lesson_id}/tools/{tool}", summary="Use a tool of a lesson", responses=errors(413))
async def use_tool(lesson_id: str, tool: str, body: ToolUse, learning: Learning, caller: Caller) -> Success[str]:
    """Search, compare and commit, as a model would: what is wrong with a call is in its answer."""
    return Success(data=await learning.taking.call(caller, lesson_id, tool, body.arguments, worker=body.worker))


@router.post("/feedback/{feedback_id}/finish", summary="Be done with feedback")
async def finish_feedback(
    feedback_id: str, body: Finish, learning: Learning, caller: Caller
) -> Success[FeedbackSchema]:
    """Lessons without a commit end as such."""
    done = await learning.taking.finish(caller, feedback_id, worker=body.worker, reason=body.reason)
    return Success(data=FeedbackSchema.of(done))


@router.post("/feedback/{feedback_id}/give-back", summary="Let others work on feedback")
async def give_feedback_back(
    feedback_id: str, body: Held, learning: Learning, caller: Caller
) -> Success[FeedbackSchema]:
    await learning.taking.give_back(caller, feedback_id, worker=body.worker)
    return Success(data=FeedbackSchema.of(await learning.intake.get(caller, feedback_id)))
