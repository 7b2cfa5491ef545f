"""Lessons: what one agent is to learn from one piece of feedback, decided once and kept."""

import json
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
from skillyard.errors import ConflictError, NotFoundError
from skillyard.identity.principals import Principal, Scope
from skillyard.learning.drafts import Draft, Effect
from skillyard.learning.ids import id_of, proposal_of_lesson
from skillyard.learning.models import FeedbackRow, LessonRow, ProposalRow
from skillyard.learning.places import is_visible, visible
from skillyard.learning.proposal import draft_columns, draft_from
from skillyard.learning.states import LessonState, Operation, ProposalState, Stage, Target
from skillyard.llm.budget import Budget, Spent
from skillyard.llm.transcripts import Transcript

_ATTEMPT: Final = "attempt"
"""The key of what the last of several attempts cost."""
_ATTACHES: Final = "attaches"
"""Of a decision that is not made yet: all that is known of it."""
_OF_STAGE: Final = (
    # The first of these that one of the lessons has is where the feedback stands.
    (LessonState.NEEDS_REVIEW, Stage.NEEDS_REVIEW),
    (LessonState.FAILED, Stage.FAILED),
    (LessonState.PROPOSED, Stage.PROPOSED),
    (LessonState.COMMITTED, Stage.COMMITTED),
    (LessonState.UNDONE, Stage.UNDONE),
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
    turn: int
    """How often it was undone and learned again."""

    @property
    def proposal_id(self) -> str:
        """The id of what it proposes, if it proposes something."""
        return proposal_of_lesson(self.id, self.turn)

    @property
    def is_open(self) -> bool:
        return self.state is LessonState.DECIDING

    @property
    def draft(self) -> Draft | None:
        """What was settled to be done, if anything was."""
        decision = self.decision
        return draft_from(decision) if decision is not None and _is_settled(decision) else None

    @property
    def attaches(self) -> tuple[str, ...]:
        """The skills that its agent is to be given with whatever it comes to."""
        return _attached_with(self.decision)


@dataclass(frozen=True, kw_only=True, slots=True)
class Tried:
    """What was said in all attempts so far, and what they cost."""

    entries: tuple[Mapping[str, Any], ...]
    spent: Spent


@dataclass(frozen=True, kw_only=True, slots=True)
class Matching(Tried):
    """The same of finding out whom feedback is for."""

    attempt: Spent
    """What the last attempt at it cost."""


class Lessons:
    """The lessons of a tenant."""

    def __init__(self, database: Database, blobs: Blobs, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._blobs = blobs
        self._clock = clock

    async def of(self, principal: Principal, *feedback_ids: str) -> list[Lesson]:
        """What is, or was, learned from a piece of feedback, or from some."""
        principal.require_scope(Scope.READ)
        query = select(LessonRow).join(FeedbackRow, FeedbackRow.id == LessonRow.feedback_id)
        query = query.where(LessonRow.feedback_id.in_(feedback_ids), visible(principal, FeedbackRow))
        async with self._database.read() as session:
            rows = await session.scalars(query.order_by(LessonRow.agent_id))
            return [lesson_of(row) for row in rows]

    async def get(self, principal: Principal, lesson_id: str) -> Lesson:
        principal.require_scope(Scope.READ)
        async with self._database.read() as session:
            return lesson_of(await _row(session, principal, lesson_id))

    async def transcript(self, lesson: Lesson) -> bytes:
        """All that was said while it was decided, as JSON."""
        return b"[]" if lesson.transcript is None else await self._blobs.get(lesson.transcript)

    async def keep_matching(self, feedback_id: str, transcript: Transcript, budget: Budget) -> None:
        """Keep what was said while it was found out whom feedback is for, and what that cost."""

        async def note(transaction: Transaction, hashes: list[str]) -> None:
            row = await transaction.session.get_one(FeedbackRow, feedback_id)
            row.transcript = hashes[0]
            row.spent = {**budget.spent.as_dict(), _ATTEMPT: budget.attempt.as_dict()}

        await put_and_claim(self._database, self._blobs, [transcript.as_json()], note)

    async def matching(self, principal: Principal, feedback_id: str) -> Matching:
        """What it took to find out whom feedback is for; nothing, where a connected agent did."""
        principal.require_scope(Scope.READ)
        async with self._database.read() as session:
            row = await session.get_one(FeedbackRow, feedback_id)
        return Matching(
            entries=await self._said(row.transcript),
            spent=Spent.read(row.spent),
            attempt=Spent.read(row.spent.get(_ATTEMPT, row.spent)),
        )

    async def tried(self, lesson: Lesson, matched: Matching) -> Tried:
        """What was said and spent on a lesson before, which begins with what it took to match it."""
        if lesson.transcript is None:
            return matched
        return Tried(entries=await self._said(lesson.transcript), spent=Spent.read(lesson.spent))

    async def _said(self, transcript: str | None) -> tuple[Mapping[str, Any], ...]:
        return () if transcript is None else tuple(json.loads(await self._blobs.get(transcript)))

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

    async def settle(self, lesson_id: str, draft: Draft, *, admin: bool) -> Draft:
        """Keep what is to be done before it is done, with the skills that the agent is to be given: whoever goes on
        after a crash does that, and nothing else.
        """
        async with self._database.write(bookkeeping=True) as transaction:
            row = await transaction.session.get_one(LessonRow, lesson_id)
            if not _is_settled(row.decision):
                wanted = [each for each in _attached_with(row.decision) if each not in draft.content.get("attach", ())]
                draft = draft.attaching(wanted, row.agent_id, admin=admin)
                row.decision = _decision(draft)
                row.target, row.operation = draft.target.value, draft.operation.value
                row.updated_at = self._clock()
            return draft_from(row.decision or {})

    async def attach(self, lesson_id: str, skills: Sequence[str], *, admin: bool) -> tuple[str, ...]:
        """Keep that an agent is to be given skills, with whatever its lesson comes to; all that it is to be given.

        What waits for someone's word already waits with these; what somebody has decided on stays as it was.
        """
        async with self._database.write(bookkeeping=True) as transaction:
            row = await transaction.session.get_one(LessonRow, lesson_id)
            wanted = tuple(dict.fromkeys((*_attached_with(row.decision), *skills)))
            if row.decision is None or not _is_settled(row.decision):
                row.decision = {_ATTACHES: list(wanted)}
                return wanted
            draft = draft_from(row.decision)
            more = [skill for skill in wanted if skill not in draft.content.get("attach", ())]
            draft = draft.attaching(more, row.agent_id, admin=admin)
            proposal = await transaction.session.get(ProposalRow, proposal_of_lesson(lesson_id, row.turn))
            if proposal is not None:
                if proposal.state != ProposalState.OPEN.value:
                    raise ConflictError(f"The proposal {proposal.id} is {proposal.state} already.")
                proposal.content, proposal.warnings = draft_columns(draft)["content"], list(map(dict, draft.warnings))
            row.decision = _decision(draft)
            return wanted

    async def unsettle(self, lesson_id: str) -> None:
        """Forget what was to be done: it could not be, and something else may be."""
        async with self._database.write(bookkeeping=True) as transaction:
            row = await transaction.session.get_one(LessonRow, lesson_id)
            forget_decision(row)

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
            if hashes:
                row.transcript = hashes[0]
            if spent is not None:
                row.spent = spent.as_dict()
            if state is not LessonState.PROPOSED or row.state == LessonState.DECIDING.value:
                await end_lesson(transaction, row, state, reason, effects, now=self._clock())
            # else somebody was quick, and has decided on the proposal by now

        if transcript is None:
            async with self._database.write(bookkeeping=True) as transaction:
                await note(transaction, [])
        else:
            await put_and_claim(self._database, self._blobs, [transcript.as_json()], note)

    async def keep_transcript(self, lesson_id: str, transcript: Transcript, spent: Spent) -> None:
        """Keep what was said in an attempt that came to nothing."""
        await self.conclude(lesson_id, LessonState.DECIDING, transcript=transcript, spent=spent)


async def end_lesson(
    transaction: Transaction,
    row: LessonRow,
    state: LessonState,
    reason: str,
    effects: Sequence[Effect] | None = None,
    *,
    now: datetime,
) -> None:
    """Write down within a transaction what came of a lesson, and of its feedback as far as that stands now."""
    row.state, row.reason, row.updated_at = state.value, reason, now
    if effects is not None:
        row.effects = [effect.as_dict() for effect in effects]
    await transaction.session.flush()
    await set_stage(transaction, row.feedback_id)


def begin_again(row: LessonRow, *, now: datetime) -> None:
    """Let a stopped lesson be decided again. For an undone one nothing stays settled, and its effects happen again."""
    if row.state == LessonState.UNDONE.value:
        row.turn += 1
        row.decision, row.target, row.operation, row.effects = None, None, None, []
    row.state, row.reason, row.updated_at = LessonState.DECIDING.value, "", now


def forget_decision(row: LessonRow) -> None:
    """Let something else be decided. What the agent is to be given stays: that was asked for on its own."""
    wanted = _attached_with(row.decision)
    row.decision = {_ATTACHES: list(wanted)} if wanted else None
    row.target = row.operation = None


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
    found: set[str] = set()
    for column in (LessonRow.transcript, FeedbackRow.transcript):
        query = select(column).where(column.in_(list(hashes))).distinct()
        found |= {each for each in await session.scalars(query) if each is not None}
    return found


async def bundles_of_drafts(session: AsyncSession, digests: Collection[str]) -> set[str]:
    """Those of the bundles that wait for someone's word, are being published, or may be tried again."""
    waiting_states = [ProposalState.OPEN.value, ProposalState.APPROVING.value]
    proposed = select(ProposalRow.content).where(
        ProposalRow.target == Target.SKILL.value, ProposalRow.state.in_(waiting_states)
    )
    unfinished = [LessonState.DECIDING.value, LessonState.NEEDS_REVIEW.value, LessonState.FAILED.value]
    settled = select(LessonRow.decision).where(LessonRow.target == Target.SKILL.value, LessonRow.state.in_(unfinished))
    contents = [*await session.scalars(proposed)]
    contents += [each["content"] for each in await session.scalars(settled) if each]
    return {str(content.get("digest")) for content in contents} & set(digests)


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
        turn=row.turn,
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


def _is_settled(decision: Mapping[str, Any] | None) -> bool:
    return decision is not None and "target" in decision


def _decision(draft: Draft) -> dict[str, Any]:
    return {**draft_columns(draft), "locked": draft.locked}


def _attached_with(decision: Mapping[str, Any] | None) -> tuple[str, ...]:
    if decision is None:
        return ()
    if not _is_settled(decision):
        return tuple(decision[_ATTACHES])
    draft = draft_from(decision)
    return (*draft.content.get("attach", ()), *draft.attaches)


async def _row(session: AsyncSession, principal: Principal, lesson_id: str) -> LessonRow:
    row = await session.get(LessonRow, lesson_id)
    feedback = None if row is None else await session.get(FeedbackRow, row.feedback_id)
    if row is None or feedback is None or not is_visible(principal, feedback):
        raise NotFoundError(
            f"There is no lesson {lesson_id[:64]!r}.",
            hint="Feedback tells its lessons: skillyard learn show FEEDBACK",
            details={"lesson": lesson_id[:64]},
        )
    return row
