"""The way of feedback: matched to agents, decided for each, committed or proposed, and written down."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from sqlalchemy import or_, update

from skillyard.clock import Clock, utc_now
from skillyard.config.sections import Learning
from skillyard.db.database import Database
from skillyard.db.transaction import UNSEEN, Transaction
from skillyard.errors import BudgetError, NotFoundError, SkillyardError
from skillyard.identity.agents import Agent, Agents
from skillyard.identity.owners import owner_of
from skillyard.identity.principals import Principal, Scope
from skillyard.jobs.attempts import CUT_OFF, UNEXPECTED
from skillyard.jobs.rows import JobRow, JobState
from skillyard.jobs.service import Jobs
from skillyard.jobs.work import Job
from skillyard.learning.committing import Committing, Pupil
from skillyard.learning.concluding import conclude
from skillyard.learning.deciding import process_feedback_with_react
from skillyard.learning.feedback import Feedback, feedback_of
from skillyard.learning.intake import FEEDBACK, NO_MODEL, WAITING
from skillyard.learning.kept_texts import kept
from skillyard.learning.lessons import Lessons, Tried, set_stage
from skillyard.learning.matching import match_feedback_to_agents
from skillyard.learning.models import FeedbackRow, LessonRow
from skillyard.learning.react_tools import Desk
from skillyard.learning.states import LessonState, Stage
from skillyard.llm.budget import Budget, Spent
from skillyard.llm.models import ModelSource
from skillyard.llm.transcripts import AGAIN, Transcript

NOBODY: Final = "It holds nothing that an agent should learn."


@dataclass(frozen=True, kw_only=True)
class Deciders:
    """What deciding a lesson needs, less the lesson."""

    models: ModelSource
    desk: Callable[[Pupil, Budget, Transcript], Desk]
    policy: Learning

    def budget(self, *, spent: Spent | None = None, earlier: Spent) -> Budget:
        """What one attempt at a lesson may cost; what was `spent` before is part of it."""
        policy = self.policy
        return Budget(
            calls=policy.max_calls,
            tokens=policy.max_tokens,
            seconds=float(policy.max_seconds),
            spent=spent,
            earlier=earlier,
        )

    def transcript(self, tried: Tried, *, again: bool) -> Transcript:
        """A transcript that begins with what was said before."""
        transcript = Transcript(secrets=self.models.secrets, entries=tried.entries, mask=kept)
        if again:
            transcript.add(AGAIN, "")
        return transcript


class LearningWork:
    """The job behind each piece of feedback. Every step may be repeated; what is settled in one stays settled."""

    rows: type[JobRow] = FeedbackRow

    def __init__(
        self,
        database: Database,
        agents: Agents,
        lessons: Lessons,
        committing: Committing,
        deciders: Deciders,
        *,
        clock: Clock = utc_now,
    ) -> None:
        self._database = database
        self._agents = agents
        self._lessons = lessons
        self._committing = committing
        self._deciders = deciders
        self._clock = clock

    async def run(self, job: Job) -> None:
        async with self._database.read() as session:
            row = await session.get_one(FeedbackRow, job.id)
            principal = await owner_of(session, row.owner_id, scope=Scope(row.scope))
        feedback = replace(feedback_of(row), given_by=principal.name)
        if not self._deciders.models.configured:
            async with self._database.write(bookkeeping=True) as transaction:
                waiting = {"stage": Stage.WAITING_FOR_MODEL.value, "reason": NO_MODEL, "finished_at": None}
                await job.finish(transaction, state=WAITING, attempts=0, **waiting)
            return
        await self._deciders.models.load()
        lesson_ids: list[str] = await job.step("match", lambda: self._match(principal, feedback))
        for lesson_id in lesson_ids:
            await job.step(
                f"lesson-{lesson_id}", lambda lesson_id=lesson_id: self._learn(principal, feedback, lesson_id)
            )
        async with self._database.write(bookkeeping=True) as transaction:
            await job.finish(transaction)
            if lesson_ids:
                await set_stage(transaction, job.id)
            else:
                await _set(transaction, job.id, Stage.NO_COMMIT, NOBODY)

    async def give_up(self, transaction: Transaction, job_id: str, reason: str) -> None:
        """What could not be done is for a person to look at; it is never dropped. Where learning itself is at fault, it
        has failed.
        """
        broken = reason.startswith((UNEXPECTED, CUT_OFF))
        state, stage = (LessonState.FAILED, Stage.FAILED) if broken else (LessonState.NEEDS_REVIEW, Stage.NEEDS_REVIEW)
        query = update(LessonRow).where(LessonRow.feedback_id == job_id, LessonRow.state == LessonState.DECIDING.value)
        values = {"state": state.value, "reason": reason, "updated_at": self._clock()}
        await transaction.session.execute(query.values(**values), execution_options=UNSEEN)
        await _set(transaction, job_id, stage, reason)

    async def _match(self, principal: Principal, feedback: Feedback) -> list[str]:
        """Whom it concerns is asked once, and kept as lessons."""
        known = await self._lessons.of(principal, feedback.id)
        if known:
            return [lesson.id for lesson in known]
        await self._note(feedback.id, Stage.MATCHING)
        agents = await self._meant(principal, feedback)
        before = await self._lessons.matching(principal, feedback.id)
        budget = self._deciders.budget(earlier=before.spent)
        transcript = self._deciders.transcript(before, again=bool(before.entries))
        try:
            meanings = await match_feedback_to_agents(
                self._deciders.models.chat, feedback, agents, budget=budget, transcript=transcript
            )
        finally:  # an attempt that came to nothing was paid for as well
            await self._lessons.keep_matching(feedback.id, transcript, budget)
        return await self._lessons.begin(principal, feedback.id, meanings)

    async def _meant(self, principal: Principal, feedback: Feedback) -> Sequence[Agent]:
        """The agents that it can be for: those that it names, else all."""
        everyone = await self._agents.all(principal)
        named = {agent["id"] for agent in feedback.agents}
        missing = named - {agent.id for agent in everyone}
        if missing:
            raise NotFoundError(
                f"The feedback names the agent {min(missing)!r}, which there is not.",
                hint="Let an administrator make it: skillyard registry agents create; then try the feedback again.",
            )
        if not everyone:
            raise NotFoundError(
                "There is no agent that could learn from it.",
                hint="Make one: skillyard registry agents create NAME; then try the feedback again.",
            )
        return [agent for agent in everyone if not named or agent.id in named]

    async def _learn(self, principal: Principal, feedback: Feedback, lesson_id: str) -> str:
        lesson = await self._lessons.get(principal, lesson_id)
        if not lesson.is_open:
            return lesson.state.value
        await self._note(feedback.id, Stage.DECIDING)
        pupil = Pupil(principal=principal, feedback=feedback, lesson=lesson)
        resumed = await self._committing.resume(pupil)
        if resumed is not None:
            return await conclude(self._lessons, lesson_id, resumed)
        matched = await self._lessons.matching(principal, feedback.id)
        tried = await self._lessons.tried(lesson, matched)
        budget = self._deciders.budget(spent=matched.attempt, earlier=tried.spent - matched.attempt)
        transcript = self._deciders.transcript(tried, again=lesson.transcript is not None)
        try:
            agent = await self._agents.get(principal, lesson.agent_id)
            result = await process_feedback_with_react(self._deciders.desk(pupil, budget, transcript), agent)
        except BudgetError as error:
            state, reason = LessonState.NEEDS_REVIEW, error.message
            await self._lessons.conclude(lesson_id, state, reason=reason, transcript=transcript, spent=budget.spent)
            return state.value
        except SkillyardError:
            await self._lessons.keep_transcript(lesson_id, transcript, budget.spent)
            raise
        return await conclude(self._lessons, lesson_id, result, transcript=transcript, spent=budget.spent)

    async def _note(self, feedback_id: str, stage: Stage) -> None:
        async with self._database.write(bookkeeping=True) as transaction:
            await _set(transaction, feedback_id, stage, "")


async def wake_waiting(database: Database, jobs: Jobs) -> int:
    """Queue what waited for a model, less what an agent has taken; how much that was."""
    free = or_(FeedbackRow.taken_until.is_(None), FeedbackRow.taken_until < utc_now())
    async with database.write(bookkeeping=True) as transaction:
        query = update(FeedbackRow).where(FeedbackRow.state == WAITING, free)
        values = {"state": JobState.QUEUED.value, "stage": Stage.QUEUED.value, "reason": ""}
        rows = await transaction.session.scalars(
            query.values(**values).returning(FeedbackRow.id), execution_options=UNSEEN
        )
        ids = list(rows)
    for each in ids:
        jobs.wake(FEEDBACK, each)
    return len(ids)


async def _set(transaction: Transaction, feedback_id: str, stage: Stage, reason: str) -> None:
    query = update(FeedbackRow).where(FeedbackRow.id == feedback_id).values(stage=stage.value, reason=reason)
    await transaction.session.execute(query, execution_options=UNSEEN)
