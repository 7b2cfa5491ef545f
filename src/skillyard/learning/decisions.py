"""Deciding on proposals: one decision wins, and what was approved is carried out once, whoever is cut off meanwhile."""

import logging
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.clock import Clock, utc_now
from skillyard.config.sections import Learning
from skillyard.db.database import Database
from skillyard.db.transaction import Transaction
from skillyard.errors import ConflictError, NotAllowedError, SkillyardError, UnavailableError
from skillyard.history.entries import Actor, Change, Why
from skillyard.history.service import History
from skillyard.identity.models import PersonRow
from skillyard.identity.owners import owner_of
from skillyard.identity.principals import Principal, Role, Scope
from skillyard.learning.commits import Commits
from skillyard.learning.drafts import Author, Draft, Effect
from skillyard.learning.feedback import feedback_of
from skillyard.learning.lessons import end_lesson, forget_decision
from skillyard.learning.models import FeedbackRow, LessonRow, MemoryRow, ProposalRow, RuleRow
from skillyard.learning.places import is_reviewed, place_of, require_at
from skillyard.learning.proposal import Proposal, proposal_of
from skillyard.learning.proposal_rows import cut_off_rows, proposal_row
from skillyard.learning.states import LessonState, ProposalState, Target

DECIDED: Final = "proposal.decided"
CUT_OFF_AFTER: Final = timedelta(seconds=60)
"""What is still being carried out then has nobody who does so: it is gone on with."""

_TOLD: Final = {ProposalState.APPROVING.value: "being approved"}

_log = logging.getLogger(__name__)


class Decisions:
    """The word that proposals wait for.

    The state of the proposal is the truth. Approving it claims it, so that nobody can reject it any more; then the
    change is made, which for one proposal happens once; then proposal, lesson and feedback are written down together.
    """

    def __init__(
        self, database: Database, history: History, commits: Commits, policy: Learning, *, clock: Clock = utc_now
    ) -> None:
        self._database = database
        self._history = history
        self._commits = commits
        self._other_reviewer = policy.other_reviewer
        self._clock = clock

    async def approve(self, principal: Principal, proposal_id: str, *, why: Why) -> Sequence[Effect]:
        """Make the proposed change. One whose target has changed since is stale, and is not made.

        What somebody approved who was then cut off is gone on with, in their name.
        """
        principal.require_scope(Scope.PUBLISH)
        async with self._database.write() as transaction:
            row = await proposal_row(transaction.session, principal, proposal_id)
            if row.state != ProposalState.APPROVING.value:
                await self._require_decider(transaction.session, principal, row)
                self._claim(row, principal, ProposalState.APPROVING, why)
            proposal = proposal_of(row)
        return await self._carry_out(proposal, principal, request_id=why.request_id)

    async def reject(self, principal: Principal, proposal_id: str, *, why: Why) -> Proposal:
        """Turn a proposed change down."""
        principal.require_scope(Scope.PUBLISH)
        async with self._database.write() as transaction:
            row = await proposal_row(transaction.session, principal, proposal_id)
            await self._require_decider(transaction.session, principal, row)
            self._claim(row, principal, ProposalState.REJECTED, why)
            await self._write_down(transaction, row, principal.actor, why, LessonState.REJECTED, why.reason)
            return proposal_of(row)

    async def resume(self) -> int:
        """Go on with what was approved and not carried out; how much that was."""
        async with self._database.read() as session:
            rows = await cut_off_rows(session, self._clock() - CUT_OFF_AFTER)
        for row in rows:
            try:
                await self._carry_out(proposal_of(row), None)
            except SkillyardError as error:
                _log.warning("The approved proposal %s could not be carried out: %s", row.id, error.message)
        return len(rows)

    async def _require_decider(self, session: AsyncSession, principal: Principal, row: ProposalRow) -> None:
        """Refuses a person who may not publish both where the change goes and where its feedback is. Only an
        administrator of the namespace may approve a change to what is locked. Administrators of the tenant may decide
        on what they see.
        """
        draft = proposal_of(row).draft
        places = [draft.place] if draft.place else []
        if row.lesson_id is not None:
            lesson = await session.get_one(LessonRow, row.lesson_id)
            places.append(place_of(await session.get_one(FeedbackRow, lesson.feedback_id)))
        if not principal.admin:
            locked = await _is_locked(session, draft)
            for place in places:
                require_at(principal, place, Role.PUBLISHER, Scope.PUBLISH, locked=locked and place == draft.place)
        if row.proposed_by == principal.person_id and not self._other_reviewer:
            for place in places:
                if await is_reviewed(session, place):
                    raise _own_proposal()

    def _claim(self, row: ProposalRow, principal: Principal, state: ProposalState, why: Why) -> None:
        if row.state != ProposalState.OPEN.value:
            raise ConflictError(
                f"The proposal {row.id} is {_TOLD.get(row.state, row.state)} already.",
                hint=f"Look at what came of it: skillyard learn proposals show {row.id}",
                details={"proposal": row.id, "state": row.state},
            )
        if self._other_reviewer and row.proposed_by == principal.person_id:
            raise _own_proposal()
        row.state, row.decided_by, row.decided_at = state.value, principal.person_id, self._clock()
        row.decision_reason = why.reason

    async def _carry_out(
        self, proposal: Proposal, principal: Principal | None, *, request_id: str = ""
    ) -> Sequence[Effect]:
        """Make a change that was approved, in the name of whoever did."""
        try:
            author = await self._author(proposal, principal, request_id)
            effects = await self._made(author, proposal)
        except (UnavailableError, ConflictError):
            raise  # the one is gone on with, the other was written down
        except SkillyardError:
            await self._release(proposal)
            raise
        reason = proposal.decision_reason
        await self._end(author, proposal, ProposalState.APPROVED, LessonState.COMMITTED, reason, effects)
        return effects

    async def _made(self, author: Author, proposal: Proposal) -> Sequence[Effect]:
        try:
            return await self._commits.apply(author, proposal.draft)
        except ConflictError as error:
            await self._end(author, proposal, ProposalState.STALE, LessonState.NEEDS_REVIEW, error.message)
            raise

    async def _author(self, proposal: Proposal, principal: Principal | None, request_id: str) -> Author:
        async with self._database.read() as session:
            if principal is None or principal.person_id != proposal.decided_by:
                principal = await owner_of(session, proposal.decided_by or "", scope=Scope.PUBLISH)
            said, agent_id, turn, given_by, meaning, place = "", None, 0, "", "", None
            if proposal.lesson_id is not None:
                lesson = await session.get_one(LessonRow, proposal.lesson_id)
                feedback = feedback_of(await session.get_one(FeedbackRow, lesson.feedback_id))
                said, agent_id, turn, place = feedback.said, lesson.agent_id, lesson.turn, feedback.place
                given_by, meaning = (await session.get_one(PersonRow, feedback.owner_id)).name, lesson.meaning
        return Author(
            principal=principal,
            lesson_id=proposal.lesson_id,
            turn=turn,
            proposal_id=proposal.id,
            agent_id=agent_id,
            feedback=said,
            given_by=given_by,
            meaning=meaning,
            place=place,
            why=Why(reason=proposal.decision_reason, feedback=said, request_id=request_id),
        )

    async def _end(
        self,
        author: Author,
        proposal: Proposal,
        state: ProposalState,
        lesson: LessonState,
        reason: str,
        effects: Sequence[Effect] | None = None,
    ) -> None:
        """Write down what came of an approval, unless somebody has who went on with it, too."""
        async with self._database.write(bookkeeping=True) as transaction:
            row = await transaction.session.get_one(ProposalRow, proposal.id)
            if row.state == ProposalState.APPROVING.value:
                row.state = state.value
                why = author.making(proposal.draft).why
                await self._write_down(transaction, row, author.principal.actor, why, lesson, reason, effects)

    async def _release(self, proposal: Proposal) -> None:
        """Let it be decided again: whoever approved it cannot have it carried out, and nothing was."""
        async with self._database.write(bookkeeping=True) as transaction:
            row = await transaction.session.get_one(ProposalRow, proposal.id)
            if row.state == ProposalState.APPROVING.value:
                row.state, row.decided_by, row.decided_at = ProposalState.OPEN.value, None, None
                row.decision_reason = ""

    async def _write_down(
        self,
        transaction: Transaction,
        row: ProposalRow,
        actor: Actor,
        why: Why,
        state: LessonState,
        reason: str,
        effects: Sequence[Effect] | None = None,
    ) -> None:
        """Note the decision, and what came of the lesson and of its feedback: all at once, or not at all."""
        change = Change(
            action=DECIDED,
            subject=proposal_of(row).subject,
            before={"state": ProposalState.OPEN.value},
            after={"state": row.state},
        )
        self._history.record(transaction, actor, change, why)
        if row.lesson_id is None:
            return
        lesson = await transaction.session.get_one(LessonRow, row.lesson_id)
        if row.state == ProposalState.STALE.value:
            forget_decision(lesson)
        await end_lesson(transaction, lesson, state, reason, effects, now=self._clock())


async def _is_locked(session: AsyncSession, draft: Draft) -> bool:
    rows = {Target.MEMORY: MemoryRow, Target.DMN_RULE: RuleRow}.get(draft.target)
    row = None if rows is None else await session.get(rows, draft.target_id or "")
    return row is not None and row.locked


def _own_proposal() -> NotAllowedError:
    return NotAllowedError(
        "The person who proposed a change may not decide on it.", hint="Ask someone else who may publish."
    )
