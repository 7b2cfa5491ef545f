"""Feedback: given, listed, looked at, and tried again."""

import asyncio
import json
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, File, Form, Query, Response, UploadFile
from pydantic import BaseModel, Discriminator, Field, Tag

from skillyard.identity.principals import Principal, Scope
from skillyard.learning.batches import take_each
from skillyard.learning.feedback_files import MAX_PROBLEMS, LineProblem, read_feedback_file
from skillyard.learning.intake import MAX_AT_ONCE, Taken
from skillyard.learning.lessons import Lesson
from skillyard.learning.service import LearningRooms
from skillyard.learning.states import Stage
from skillyard.server.api.caller import Caller, Reason
from skillyard.server.api.feedback_schemas import (
    FeedbackCreate,
    FeedbackDetail,
    FeedbackSchema,
    ImportedFeedback,
    ImportProblem,
    LessonDetail,
    LessonSchema,
    TakenFeedback,
)
from skillyard.server.api.learning_shapes import Counted, Cursor, Learning, Limit
from skillyard.server.api.shapes import BEARER, Listed, errors
from skillyard.server.auth import not_kept
from skillyard.server.models import Success

router = APIRouter(prefix="/api/v1", tags=["feedback"], responses=errors(), dependencies=[BEARER, Depends(not_kept)])

_Several = Annotated[list[FeedbackCreate], Field(min_length=1, max_length=MAX_AT_ONCE)]
Given = Annotated[
    Annotated[FeedbackCreate, Tag("one")] | Annotated[_Several, Tag("several")],
    Discriminator(lambda given: "several" if isinstance(given, list) else "one"),
]
"""Told apart first, so that what is wrong is said of what was meant."""
WithTranscript = Annotated[bool, Query(description="With all that was said while deciding.")]


class FeedbackPage(Counted[FeedbackSchema]):
    counts: dict[str, int] = Field(description="How much stands where, whatever was asked for.")


class Begun(BaseModel):
    begun: int


@router.post(
    "/feedback",
    status_code=201,
    summary="Give feedback",
    responses={
        **errors(409, 413),
        200: {"model": Success[TakenFeedback] | Listed[TakenFeedback], "description": "It had come before."},
    },
)
async def give_feedback(
    body: Given,
    learning: Learning,
    caller: Caller,
    response: Response,
    source: Annotated[Literal["api", "cli", "mcp", "web"], Query(description="By which way it comes.")] = "api",
) -> Success[TakenFeedback] | Listed[TakenFeedback]:
    """Take in one piece of feedback, or several, all or none. It is stored durably before the answer and learned from
    automatically; its `stage` says where it stands. Feedback without an `event_id` that comes again after it was undone
    is learned `again`.
    """
    given = body if isinstance(body, list) else [body]
    taken = await learning.intake.take(caller, [each.spec for each in given], source=source, by_hand=True)
    if not any(each.created for each in taken):
        response.status_code = 200
    told = [TakenFeedback.taken(each) for each in taken]
    return Listed(data=told) if isinstance(body, list) else Success(data=told[0])


@router.get("/feedback", summary="List feedback")
async def list_feedback(
    learning: Learning, caller: Caller, stage: Stage | None = None, cursor: Cursor = 0, limit: Limit = 50
) -> FeedbackPage:
    """The newest first, and how much stands where."""
    found, total = await learning.intake.page(caller, stage=stage, limit=limit, offset=cursor)
    counts = await learning.intake.counts(caller)
    shown = await learning.shown.feedback(caller, found)
    return FeedbackPage.page([FeedbackSchema.of(each) for each in shown], total, cursor, counts=counts)


@router.post("/feedback/work", summary="Work on what waits")
async def work_on_feedback(learning: Learning, caller: Caller) -> Success[Begun]:
    """Begin with what nobody works on. A server does so by itself; who has none asks for it."""
    return Success(data=Begun(begun=await learning.work(caller)))


@router.post("/feedback/import", summary="Import feedback", responses=errors(413))
async def import_feedback(
    learning: Learning,
    caller: Caller,
    file: Annotated[UploadFile, File(description="CSV or Excel with column names, JSON lines, or a JSON list.")],
    encoding: Annotated[str | None, Form(max_length=40, description="Where it is no UTF-8 and has no mark.")] = None,
    dry_run: Annotated[bool, Form(description="Only say what is in it.")] = False,
) -> Success[ImportedFeedback]:
    """Take in what is in a file. Lines that are no feedback are told; the others are taken in, each once.

    Columns, and fields, are `content` (or `feedback`), `task`, `description`, `agents` (or `agent`), `user`, `time`,
    `event_id` and `events`.
    """
    caller.require_scope(Scope.WRITE)  # before anything is read
    data = await file.read()
    name = file.filename or ""
    read = await asyncio.to_thread(read_feedback_file, data, name=name, encoding=encoding)
    specs = [spec for _, spec in read.specs]
    outcomes = [] if dry_run else await take_each(learning.intake, caller, specs, source="file")
    problems = list(read.problems)
    for (line, _), outcome in zip(read.specs, outcomes, strict=not dry_run):
        if not isinstance(outcome, Taken):
            problems.append(LineProblem(line=line, message=f"{outcome.message} {outcome.hint}".strip()))
    taken = [outcome for outcome in outcomes if isinstance(outcome, Taken)]
    created = sum(each.created for each in taken)
    problems.sort(key=lambda problem: problem.line)
    return Success(
        data=ImportedFeedback(
            read=len(specs),
            created=created,
            known=len(taken) - created,
            problems=[ImportProblem.of(problem) for problem in problems[:MAX_PROBLEMS]],
            problem_count=len(problems),
            ignored=list(read.ignored),
            dry_run=dry_run,
        )
    )


@router.get("/feedback/{feedback_id}", summary="Read feedback")
async def get_feedback(
    feedback_id: str, learning: Learning, caller: Caller, transcript: WithTranscript = False
) -> Success[FeedbackDetail]:
    """One piece of feedback: where it stands, what is learned from it, what that changed and what it cost."""
    (feedback,) = await learning.shown.feedback(caller, [await learning.intake.get(caller, feedback_id)])
    shown = await learning.shown.of(caller, feedback_id)
    lessons = [await _detail(learning, caller, each, transcript) for each in shown]
    said = [dict(each) for each in (await learning.lessons.matching(caller, feedback_id)).entries]
    return Success(data=FeedbackDetail.told(feedback, lessons, said if transcript else None))


@router.post("/feedback/{feedback_id}/retry", summary="Learn from feedback again", responses=errors(409))
async def retry_feedback(feedback_id: str, learning: Learning, caller: Caller) -> Success[FeedbackSchema]:
    """Continue feedback that failed, needs a person, waits for a model, had no result, or was undone."""
    return Success(data=FeedbackSchema.of(await learning.intake.retry(caller, feedback_id)))


@router.get("/lessons/{lesson_id}", summary="Read a lesson")
async def get_lesson(
    lesson_id: str, learning: Learning, caller: Caller, transcript: WithTranscript = False
) -> Success[LessonDetail]:
    """What one agent is to learn from one piece of feedback."""
    return Success(data=await _detail(learning, caller, await learning.shown.get(caller, lesson_id), transcript))


@router.get("/lessons/{lesson_id}/transcript", summary="Read what was said while deciding")
async def get_transcript(lesson_id: str, learning: Learning, caller: Caller) -> Success[list[dict[str, Any]]]:
    """What the model and its tools said, in order, without secrets; nothing where they told of something that you may
    not see.
    """
    return Success(data=await _transcript(learning, caller, await learning.shown.get(caller, lesson_id)))


@router.post("/lessons/{lesson_id}/undo", summary="Take a lesson back", responses=errors(409))
async def undo_lesson(lesson_id: str, learning: Learning, caller: Caller, why: Reason) -> Success[LessonSchema]:
    """Take back all that a lesson changed. What was changed again since is a conflict."""
    (undone,) = await learning.shown.shown(caller, [await learning.undo(caller, lesson_id, why=why)])
    return Success(data=LessonSchema.of(undone))


async def _detail(learning: LearningRooms, caller: Principal, lesson: Lesson, transcript: bool) -> LessonDetail:
    said = await _transcript(learning, caller, lesson) if transcript else None
    return LessonDetail.told(lesson, await learning.diffs.of_lesson(caller, lesson), said)


async def _transcript(learning: LearningRooms, caller: Principal, lesson: Lesson) -> list[dict[str, Any]]:
    return json.loads(await learning.shown.transcript(caller, lesson))
