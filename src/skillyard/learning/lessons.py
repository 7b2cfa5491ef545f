"""Lessons: what one agent is to learn from one piece of feedback, decided once and kept."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.blobs.claims import put_and_claim
from skillyard.blobs.store import Blobs
from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.db.transaction import Transaction
from skillyard.errors import NotFoundError
from skillyard.identity.principals import Principal, Scope
from skillyard.learning.drafts import Draft, Effect
from skillyard.learning.ids import id_of
from skillyard.learning.models import FeedbackRow, LessonRow, ProposalRow
from skillyard.learning.proposal import draft_columns, draft_from
from skillyard.learning.states import LessonState, Operation, ProposalState, Stage, Target
from skillyard.llm.budget import Spent
from skillyard.llm.transcripts import Transcript

_OF_STAGE: Final = (
    # The first of these that one of the lessons has is where the feedback stands.
    (LessonState.NEEDS_REVIEW, Stage.NEEDS_REVIEW),
    (LessonState.FAILED, Stage.FAILED),
    (LessonState.PROPOSED, Stage.PROPOSED),
    (LessonState.COMMITTED, Stage.COMMITTED),
    (LessonState.UNDONE, Stage.COMMITTED),
    (LessonState.REJECTED, Stage.REJECTED),
    (LessonState.NO_COMMIT, Stage.NO_COMMIT),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Lesson:
    id: str
    tenant_id: str
    feedback_id: str
    agent_id: str
    meaning: str
    state: LessonState
    reason: str
    target: str | None
    operation: str | None
    decision: Mapping[str, Any] | None
    effects: tuple[Effect, ...]
    transcript: str | None
    spent: Mapping[str, Any]
    created_at: datetime
    updated_at: datetime

    @property
    def is_open(self) -> bool:
        return self.state is LessonState.DECIDING

    @property
    def draft(self) -> Draft | None:
        """What was settled to be done, if anything was."""
        return None if self.decision is None else draft_from(self.decision)


class Lessons:
    """The lessons of a tenant."""

    def __init__(self, database: Database, blobs: Blobs, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._blobs = blobs
        self._clock = clock

    async def of(self, principal: Principal, feedback_id: str) -> list[Lesson]:
        """What is, or was, learned from a piece of feedback."""
        principal.require_scope(Scope.READ)
        query = select(LessonRow).where(
            LessonRow.feedback_id == feedback_id, LessonRow.tenant_id == principal.tenant_id
        )
        async with self._database.read() as session:
            rows = await session.scalars(query.order_by(LessonRow.agent_id))
            return [lesson_of(row) for row in rows]

    async def get(self, principal: Principal, lesson_id: str) -> Lesson:
        principal.require_scope(Scope.READ)
        async with self._database.read() as session:
            return lesson_of(await _row(session, principal.tenant_id, lesson_id))

    async def transcript(self, lesson: Lesson) -> bytes:
        """All that was said while it was decided, as JSON."""
        return b"[]" if lesson.transcript is None else await self._blobs.get(lesson.transcript)

    async def begin(self, principal: Principal, feedback_id: str, meanings: Mapping[str, str]) -> list[str]:
        """Note for which agents something is to be learned, and what; those that are there already stay."""
        now = self._clock()
        ids = [id_of("les", feedback_id, agent) for agent in meanings]
        async with self._database.write(bookkeeping=True) as transaction:
            for lesson_id, (agent_id, meaning) in zip(ids, meanings.items(), strict=True):
                if await transaction.session.get(LessonRow, lesson_id) is None:
                    transaction.session.add(
                        LessonRow(
                            id=lesson_id,
                            tenant_id=principal.tenant_id,
                            feedback_id=feedback_id,
                            agent_id=agent_id,
                            meaning=meaning,
                            state=LessonState.DECIDING.value,
                            reason="",
                            effects=[],
                            spent={},
                            created_at=now,
                            updated_at=now,
                        )
                    )
        return ids

    async def settle(self, lesson_id: str, draft: Draft) -> Draft:
        """Keep what is to be done before it is done: whoever goes on after a crash does that, and nothing else."""
        async with self._database.write(bookkeeping=True) as transaction:
            row = await transaction.session.get_one(LessonRow, lesson_id)
            if row.decision is None:
                row.decision = {**draft_columns(draft), "locked": draft.locked}
                row.target, row.operation = draft.target.value, draft.operation.value
                row.updated_at = self._clock()
            return draft_from(row.decision)

    async def unsettle(self, lesson_id: str) -> None:
        """Forget what was to be done: it could not be, and something else may be."""
        async with self._database.write(bookkeeping=True) as transaction:
            row = await transaction.session.get_one(LessonRow, lesson_id)
            row.decision = row.target = row.operation = None

    async def conclude(
        self,
        lesson_id: str,
        state: LessonState,
        *,
        reason: str = "",
        effects: Sequence[Effect] | None = None,
        transcript: Transcript | None = None,
        spent: Spent | None = None,
    ) -> None:
        """Write down what came of a lesson, and of its feedback as far as that stands now."""

        async def note(transaction: Transaction, hashes: list[str]) -> None:
            row = await transaction.session.get_one(LessonRow, lesson_id)
            row.state, row.reason, row.updated_at = state.value, reason, self._clock()
            if effects is not None:
                row.effects = [effect.as_dict() for effect in effects]
            if hashes:
                row.transcript = hashes[0]
            if spent is not None:
                row.spent = spent.as_dict()
            await transaction.session.flush()
            await set_stage(transaction, row.feedback_id)

        if transcript is None:
            async with self._database.write(bookkeeping=True) as transaction:
                await note(transaction, [])
        else:
            await put_and_claim(self._database, self._blobs, [transcript.as_json()], note)

    async def keep_transcript(self, lesson_id: str, transcript: Transcript, spent: Spent) -> None:
        """Keep what was said in an attempt that came to nothing."""
        await self.conclude(lesson_id, LessonState.DECIDING, transcript=transcript, spent=spent)


async def set_stage(transaction: Transaction, feedback_id: str) -> None:
    """Let feedback stand where its lessons do, when all of them stand somewhere."""
    session = transaction.session
    query = select(LessonRow.state, LessonRow.reason).where(LessonRow.feedback_id == feedback_id)
    states = {LessonState(state): reason for state, reason in await session.execute(query)}
    feedback = await session.get_one(FeedbackRow, feedback_id)
    if LessonState.DECIDING in states:
        feedback.stage = Stage.DECIDING.value
        return
    for state, stage in _OF_STAGE:
        if state in states:
            feedback.stage, feedback.reason = stage.value, states[state]
            return


async def named_by_lessons(session: AsyncSession, hashes: Collection[str]) -> set[str]:
    """Those of the blobs that are transcripts: what the sweep of orphans must leave."""
    query = select(LessonRow.transcript).where(LessonRow.transcript.in_(list(hashes))).distinct()
    return {each for each in await session.scalars(query) if each is not None}


async def bundles_of_proposals(session: AsyncSession, digests: Collection[str]) -> set[str]:
    """Those of the bundles that wait for someone's word."""
    query = select(ProposalRow.content).where(
        ProposalRow.target == Target.SKILL.value, ProposalRow.state == ProposalState.OPEN.value
    )
    waiting = {str(content.get("digest")) for content in await session.scalars(query)}
    return waiting & set(digests)


def lesson_of(row: LessonRow) -> Lesson:
    return Lesson(
        id=row.id,
        tenant_id=row.tenant_id,
        feedback_id=row.feedback_id,
        agent_id=row.agent_id,
        meaning=row.meaning,
        state=LessonState(row.state),
        reason=row.reason,
        target=row.target,
        operation=row.operation,
        decision=row.decision,
        effects=tuple(effect_from(each) for each in row.effects),
        transcript=row.transcript,
        spent=row.spent,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def effect_from(kept: Mapping[str, Any]) -> Effect:
    return Effect(
        kind=kept["kind"],
        operation=Operation(kept["operation"]),
        id=kept["id"],
        label=kept["label"],
        version=kept["version"],
        history=kept["history"],
    )


async def _row(session: AsyncSession, tenant_id: str, lesson_id: str) -> LessonRow:
    row = await session.get(LessonRow, lesson_id)
    if row is None or row.tenant_id != tenant_id:
        raise NotFoundError(
            f"There is no lesson {lesson_id[:64]!r}.",
            hint="Feedback tells its lessons: skillyard learn show FEEDBACK",
            details={"lesson": lesson_id[:64]},
        )
    return row
