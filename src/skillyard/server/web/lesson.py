"""One piece of feedback: what each agent is to learn from it, why, what that changed and cost, and taking it back."""

import json
from typing import Any, Final

from fastapi import Response

from skillyard.app.yard import Yard
from skillyard.errors import NotFoundError
from skillyard.identity.principals import Principal, Scope
from skillyard.learning.lessons import Lesson
from skillyard.learning.places import may_change
from skillyard.learning.proposal import Proposal
from skillyard.learning.states import LessonState, Operation, Stage, Target
from skillyard.server.api.caller import Caller, TheYard
from skillyard.server.api.feedback import get_feedback
from skillyard.server.api.feedback_schemas import LessonSchema, ProposalSchema
from skillyard.server.api.learning_shapes import Cursor
from skillyard.server.web.draft_changes import change_of
from skillyard.server.web.forms import Posted
from skillyard.server.web.learning import LEARNING, UNDER_WAY
from skillyard.server.web.page import Page, PageRouter, go_to

FEEDBACK: Final = f"{LEARNING}/feedback/{{feedback_id}}"
LESSON: Final = f"{LEARNING}/lessons/{{lesson_id}}"
_STOPPED: Final = frozenset({Stage.NEEDS_REVIEW, Stage.FAILED, Stage.NO_COMMIT, Stage.WAITING_FOR_MODEL})
_MOST_ENTRIES: Final = 100
_MOST_SAID: Final = 200_000
"""Characters of a transcript on one page."""

router = PageRouter()


@router.page(FEEDBACK)
async def feedback(feedback_id: str, yard: TheYard, caller: Caller) -> Page:
    told = (await get_feedback(feedback_id, yard.learning, caller)).data
    place = (await yard.learning.intake.get(caller, feedback_id)).place
    lessons = await yard.learning.shown.of(caller, feedback_id)
    undone = any(lesson.state is LessonState.UNDONE for lesson in lessons)
    may_learn_again = undone and told.stage not in UNDER_WAY and caller.scope.covers(Scope.PUBLISH)
    return Page(
        "learning/lesson.html",
        {
            "feedback": told.model_dump(exclude={"lessons"}),
            "lessons": [await _told(yard, caller, lesson) for lesson in lessons],
            "model": yard.learning.models.name,
        },
        extra={
            "is_under_way": told.stage in UNDER_WAY,
            "may_retry": told.stage in _STOPPED or may_learn_again,
            "may_change": may_change(caller, place),
        },
    )


@router.post(f"{FEEDBACK}/retry", response_model=None)
async def retry(feedback_id: str, form: Posted, yard: TheYard, caller: Caller) -> Response:  # noqa: ARG001 -- checks it
    """Learn from it again, from where that stopped."""
    again = await yard.learning.intake.retry(caller, feedback_id)
    done = "given_to_wait" if again.stage is Stage.WAITING_FOR_MODEL else "tried_again"
    return go_to(f"{LEARNING}/feedback/{feedback_id}", done=done)


@router.page(f"{LESSON}/transcript")
async def transcript(lesson_id: str, yard: TheYard, caller: Caller, cursor: Cursor = 0) -> Page:
    """What the model and its tools said, in order, a page at a time."""
    lesson = await yard.learning.shown.get(caller, lesson_id)
    said: list[dict[str, Any]] = json.loads(await yard.learning.shown.transcript(caller, lesson))
    shown: list[dict[str, Any]] = []
    room = _MOST_SAID
    for entry in said[cursor : cursor + _MOST_ENTRIES]:
        room -= len(entry["text"])
        if shown and room < 0:
            break
        shown.append(entry)
    end = cursor + len(shown)
    return Page(
        "learning/transcript.html",
        {
            "lesson": LessonSchema.of(lesson),
            "entries": shown,
            "begins_at": cursor,
            "total": len(said),
            "next_cursor": str(end) if shown and end < len(said) else None,
        },
    )


@router.get(LESSON, response_model=None)
async def lesson(lesson_id: str, yard: TheYard, caller: Caller) -> Response:
    """To the feedback that a lesson is from."""
    found = await yard.learning.lessons.get(caller, lesson_id)
    return go_to(f"{LEARNING}/feedback/{found.feedback_id}")


@router.post(f"{LESSON}/undo", response_model=None)
async def undo(lesson_id: str, form: Posted, yard: TheYard, caller: Caller) -> Response:
    """Take back all that a lesson changed."""
    undone = await yard.learning.undo(caller, lesson_id, why=form.why)
    return go_to(f"{LEARNING}/feedback/{undone.feedback_id}", done="undone")


async def _told(yard: Yard, caller: Principal, lesson: Lesson) -> dict[str, Any]:
    proposal = await _proposal(yard, caller, lesson)
    draft = proposal.draft if proposal else lesson.draft
    seen = draft is not None and (proposal is not None or await _may_see(yard, caller, lesson))
    return {
        "lesson": LessonSchema.of(lesson),
        "proposal": ProposalSchema.of(proposal) if proposal else None,
        "change": await change_of(yard, caller, draft) if draft is not None and seen else None,
    }


async def _proposal(yard: Yard, caller: Principal, lesson: Lesson) -> Proposal | None:
    """What was proposed, if the caller may know of it."""
    try:
        return await yard.learning.commits.proposal(caller, lesson.proposal_id)
    except NotFoundError:
        return None


async def _may_see(yard: Yard, caller: Principal, lesson: Lesson) -> bool:
    """Whether the caller may see what was made; a skill that was made may be somebody's own."""
    if (lesson.target, lesson.operation) != (Target.SKILL, Operation.CREATE):
        return True
    made = next((effect.id for effect in lesson.effects if effect.kind == "skill"), None)
    try:
        return made is not None and bool(await yard.registry.shelf.get(caller, made))
    except NotFoundError:
        return False
