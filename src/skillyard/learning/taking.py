"""Learning without a model of one's own: a connected agent takes feedback, decides, and commits by the same tools."""

import json
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from pydantic import validate_call
from sqlalchemy import ColumnElement, or_, select, update

from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.db.transaction import UNSEEN, Transaction
from skillyard.errors import ConflictError, InputError, NotFoundError, UsageError
from skillyard.identity.agents import Agent, Agents
from skillyard.identity.models import PersonRow
from skillyard.identity.principals import Principal, Role, Scope
from skillyard.jobs.rows import JobState
from skillyard.jobs.service import Jobs
from skillyard.learning.committing import Committing, Pupil
from skillyard.learning.concluding import NO_COMMIT, conclude
from skillyard.learning.deciding import tools_of
from skillyard.learning.feedback import Feedback, feedback_of
from skillyard.learning.intake import FEEDBACK, WAITING, feedback_row
from skillyard.learning.lessons import Lesson, Lessons, set_stage
from skillyard.learning.models import FeedbackRow
from skillyard.learning.pipeline import NOBODY
from skillyard.learning.places import place_of, require_at, visible, writable
from skillyard.learning.react_tools import Desk, safely
from skillyard.learning.skill_wish import ARTIFACT, SHAPE
from skillyard.learning.states import Operation, Stage

MAX_WORKER: Final = 64
MAX_SECONDS: Final = 3600
_DESKS: Final = 256
"""Lessons whose judgements are remembered between two calls; of others they are made again."""
_TAKEABLE: Final = (JobState.QUEUED.value, WAITING)
_WRITING: Final = (Operation.CREATE.value, Operation.UPDATE.value)


@dataclass(frozen=True, kw_only=True, slots=True)
class Assignment:
    """Feedback that somebody took."""

    feedback: Feedback
    agents: Sequence[Agent]
    """Those that it can be for."""
    lessons: Sequence[Lesson]
    """What was begun with it before."""
    until: datetime
    """It is given to others then, unless something is done with it; each call renews that."""


class Taking:
    """Feedback in the hands of connected agents. Whoever takes it acts with their own rights, and no more than those
    who brought it in.
    """

    def __init__(
        self,
        database: Database,
        agents: Agents,
        lessons: Lessons,
        committing: Committing,
        jobs: Jobs,
        desk: Callable[[Pupil], Desk],
        *,
        clock: Clock = utc_now,
    ) -> None:
        self._database = database
        self._agents = agents
        self._lessons = lessons
        self._committing = committing
        self._jobs = jobs
        self._desk = desk
        self._clock = clock
        self._desks: OrderedDict[str, Desk] = OrderedDict()

    async def take_next(self, principal: Principal, worker: str, seconds: int = 900) -> Assignment | None:
        """Take the oldest piece of feedback that nobody works on; None where there is none."""
        principal.require_scope(Scope.WRITE)
        _require_worker(worker, seconds)
        now = self._clock()
        until = now + timedelta(seconds=seconds)
        row = FeedbackRow
        free = [writable(principal, row), visible(principal, row), row.state.in_(_TAKEABLE), _is_free(now)]
        oldest = select(row.id).where(*free).order_by(row.created_at, row.id).limit(1).scalar_subquery()
        values = {"state": WAITING, "stage": Stage.MATCHING.value, "reason": "", "due_at": None}
        taken = (
            update(row)
            .where(row.id == oldest, *free)
            .values(taken_by=worker, **_holder(principal), taken_until=until, **values)
        )
        async with self._database.write(bookkeeping=True) as transaction:
            feedback_id = await transaction.session.scalar(taken.returning(row.id), execution_options=UNSEEN)
            if feedback_id is None:
                return None
            feedback = feedback_of(await transaction.session.get_one(row, feedback_id))
        named = {agent["id"] for agent in feedback.agents}
        agents = [agent for agent in await self._agents.all(principal) if not named or agent.id in named]
        lessons = await self._lessons.of(principal, feedback.id)
        return Assignment(feedback=feedback, agents=agents, lessons=lessons, until=until)

    async def give(
        self, principal: Principal, feedback_id: str, matches: Mapping[str, str], *, worker: str
    ) -> list[Lesson]:
        """Say which agents should learn from it, and what each should. It is said once: what was begun stays.

        With no agent at all it holds nothing to learn, and is done.
        """
        await self._renew(principal, feedback_id, worker)
        begun = await self._lessons.of(principal, feedback_id)
        if begun:
            return begun
        known = {agent.id for agent in await self._agents.all(principal)}
        for agent_id, meaning in matches.items():
            if agent_id not in known or not meaning.strip():
                raise InputError(
                    f"matches: {agent_id[:128]!r} is no agent, or nothing is said for it.",
                    hint='Give {"agent id": "what it should learn"}, with ids that the feedback came with.',
                    details={"field": "matches", "value": agent_id[:128]},
                )
        if not matches:
            await self._end(principal, feedback_id, worker, stage=Stage.NO_COMMIT, reason=NOBODY)
            return []
        await self._lessons.begin(principal, feedback_id, matches)
        return await self._lessons.of(principal, feedback_id)

    async def call(
        self, principal: Principal, lesson_id: str, tool: str, arguments: Mapping[str, Any], *, worker: str
    ) -> str:
        """Use one of the tools of a lesson; the answer is the same that a model would get.

        What a skill says, a connected agent writes itself: `commit_to_skill` takes a `skill_artifact` too.
        """
        lesson = await self._lessons.get(principal, lesson_id)
        feedback, scope = await self._renew(principal, lesson.feedback_id, worker)
        pupil = Pupil(principal=_at_most(principal, scope), feedback=feedback, lesson=lesson)
        if not lesson.is_open:
            return _told("refused", f"This lesson is {lesson.state.value} already.")
        resumed = await self._committing.resume(pupil)
        if resumed is not None:
            state = await conclude(self._lessons, lesson_id, resumed)
            return _told(state.value, "It was decided before, and is done now.")
        desk = self._at(pupil)
        found = {each.__name__: each for each in tools_of(desk)}
        if tool not in found:
            raise NotFoundError(f"There is no tool {tool[:64]!r}.", hint=f"Use one of {', '.join(found)}.")
        desk.transcript.add("assistant", "", calls=[{"name": tool, "arguments": dict(arguments)}])
        is_skill = tool == Desk.commit_to_skill.__name__
        if is_skill and arguments.get("operation") in _WRITING and arguments.get(ARTIFACT) is None:
            answer = _told("refused", f"{ARTIFACT} is missing: write the skill yourself, as {SHAPE}.")
        else:
            work = validate_call(desk.commit_written_skill if is_skill else found[tool])
            answer = await safely(lambda: work(**arguments))
        desk.transcript.add("tool", answer, name=tool)
        if desk.result is not None:
            more: Any = {"transcript": desk.transcript, "spent": desk.budget.spent}
            await conclude(self._lessons, lesson_id, desk.result, **more)
            self._desks.pop(lesson_id, None)
        return answer

    async def finish(self, principal: Principal, feedback_id: str, *, worker: str, reason: str = "") -> Feedback:
        """Be done with it. Lessons without a commit end as such, for the reason that is given."""
        feedback, scope = await self._renew(principal, feedback_id, worker)
        lessons = await self._lessons.of(principal, feedback_id)
        if not lessons:
            raise UsageError(
                "Nobody has said yet whom this feedback is for.",
                hint="Give the agents first; none, if it is for nobody.",
            )
        for lesson in lessons:
            if lesson.is_open:
                desk = self._at(Pupil(principal=_at_most(principal, scope), feedback=feedback, lesson=lesson))
                result = await self._committing.resume(desk.pupil) or await desk.end()
                more: Any = {"transcript": desk.transcript, "spent": desk.budget.spent}
                await conclude(self._lessons, lesson.id, result, reason=reason or NO_COMMIT, **more)
                self._desks.pop(lesson.id, None)
        return await self._end(principal, feedback_id, worker)

    async def give_back(self, principal: Principal, feedback_id: str, *, worker: str) -> None:
        """Let others work on it."""
        await self._renew(principal, feedback_id, worker)
        await self._queue_again(FeedbackRow.id == feedback_id)

    async def queue_expired(self) -> int:
        """Queue again what was taken and not finished in its time; how much that was."""
        return await self._queue_again(FeedbackRow.taken_until < self._clock())

    def _at(self, pupil: Pupil) -> Desk:
        """The tools of a lesson, with what was found out by them before."""
        lesson_id = pupil.lesson.id
        if lesson_id not in self._desks:
            self._desks[lesson_id] = self._desk(pupil)
        self._desks.move_to_end(lesson_id)
        if len(self._desks) > _DESKS:
            self._desks.popitem(last=False)
        desk = self._desks[lesson_id]
        desk.pupil = pupil
        return desk

    async def _renew(self, principal: Principal, feedback_id: str, worker: str) -> tuple[Feedback, Scope]:
        """Have it for as long again; refused where somebody else has it by now."""
        principal.require_scope(Scope.WRITE)
        now = self._clock()
        async with self._database.write(bookkeeping=True) as transaction:
            row = await _taken(transaction, principal, feedback_id, worker, now)
            assert row.taken_until is not None  # noqa: S101 -- as looked at
            row.taken_until = max(row.taken_until, now + timedelta(seconds=MAX_SECONDS // 4))
            giver = await transaction.session.get_one(PersonRow, row.owner_id)
            return replace(feedback_of(row), given_by=giver.name), Scope(row.scope)

    async def _end(
        self, principal: Principal, feedback_id: str, worker: str, *, stage: Stage | None = None, reason: str = ""
    ) -> Feedback:
        now = self._clock()
        async with self._database.write(bookkeeping=True) as transaction:
            row = await _taken(transaction, principal, feedback_id, worker, now)
            row.state, row.finished_at, row.error = JobState.DONE.value, now, None
            row.taken_by = row.taken_until = row.holder_id = row.holder_token = None
            if stage is None:
                await set_stage(transaction, feedback_id)
            else:
                row.stage, row.reason = stage.value, reason
            return feedback_of(row)

    async def _queue_again(self, which: ColumnElement[bool]) -> int:
        row = FeedbackRow
        values = {"state": JobState.QUEUED.value, "stage": Stage.QUEUED.value, "taken_by": None, "taken_until": None}
        values |= {"holder_id": None, "holder_token": None}
        statement = update(row).where(row.state == WAITING, row.taken_by.is_not(None), which).values(**values)
        async with self._database.write(bookkeeping=True) as transaction:
            found = await transaction.session.scalars(statement.returning(row.id), execution_options=UNSEEN)
            ids = list(found)
        for each in ids:
            self._jobs.wake(FEEDBACK, each)
        return len(ids)


async def _taken(
    transaction: Transaction, principal: Principal, feedback_id: str, worker: str, now: datetime
) -> FeedbackRow:
    row = await feedback_row(transaction.session, principal, feedback_id)
    require_at(principal, place_of(row), Role.EDITOR, Scope.WRITE)
    is_theirs = {"holder_id": row.holder_id, "holder_token": row.holder_token} == _holder(principal)
    if not is_theirs or row.taken_by != worker or row.taken_until is None or row.taken_until < now:
        raise ConflictError(
            f"The feedback {feedback_id} is not in the hands of {worker[:MAX_WORKER]!r}.",
            hint="Feedback is held for a time by the person and token that took it. Take the next one.",
            details={"feedback": feedback_id, "taken_by": feedback_of(row).seen_by(principal.person_id).taken_by},
        )
    return row


def _holder(principal: Principal) -> dict[str, str | None]:
    return {"holder_id": principal.person_id, "holder_token": principal.token_id}


def _is_free(now: datetime) -> ColumnElement[bool]:
    return or_(FeedbackRow.taken_until.is_(None), FeedbackRow.taken_until < now)


def _require_worker(worker: str, seconds: int) -> None:
    if not 1 <= len(worker) <= MAX_WORKER or not worker.isprintable():
        raise InputError(
            f"{worker[:MAX_WORKER]!r} cannot be the name of a worker.",
            hint=f"Use 1 to {MAX_WORKER} visible characters.",
            details={"field": "worker", "limit": MAX_WORKER},
        )
    if not 1 <= seconds <= MAX_SECONDS:
        raise InputError(
            f"seconds: {seconds:,} is not between 1 and {MAX_SECONDS:,}.",
            hint="Take it for as long as deciding takes.",
            details={"field": "seconds", "value": seconds, "limit": MAX_SECONDS},
        )


def _at_most(principal: Principal, scope: Scope) -> Principal:
    """The same person with no more rights than those who brought the feedback in."""
    return replace(principal, scope=scope if principal.scope.covers(scope) else principal.scope)


def _told(status: str, reason: str) -> str:
    return json.dumps({"status": status, "reason": reason}, ensure_ascii=False)
