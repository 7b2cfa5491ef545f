"""Making changes, or proposing them: what a policy lets happen at once, and what waits for someone's word."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.clock import Clock, utc_now
from skillyard.config.sections import Learning
from skillyard.db.database import Database
from skillyard.errors import ConflictError, NotAllowedError, NotFoundError
from skillyard.history.entries import Change, Subject, Why
from skillyard.history.service import History
from skillyard.identity.principals import Principal, Scope, tenant_audience
from skillyard.learning.drafts import Applier, Author, CommitResult, Committed, Draft, Effect, Proposed
from skillyard.learning.ids import id_of, new_id
from skillyard.learning.models import ProposalRow
from skillyard.learning.proposal import Proposal, draft_columns, proposal_of
from skillyard.learning.states import Operation, ProposalState, Target

PROPOSED: Final = "proposal.created"
DECIDED: Final = "proposal.decided"
MAX_PAGE: Final = 200


class Commits:
    """Gives drafts to whoever applies them, or keeps them as proposals."""

    def __init__(
        self,
        database: Database,
        history: History,
        appliers: Sequence[Applier],
        policy: Learning,
        *,
        clock: Clock = utc_now,
    ) -> None:
        self._database = database
        self._history = history
        self._appliers = {applier.target: applier for applier in appliers}
        self._clock = clock
        self._other_reviewer = policy.other_reviewer
        self._reviewed: Mapping[Target, bool] = {
            Target.MEMORY: policy.memory == "review",
            Target.DMN_RULE: policy.rules == "review",
            Target.SKILL: policy.skills == "review",
        }

    async def commit(self, author: Author, draft: Draft) -> CommitResult:
        """Make the change, or propose it where the policy or the target's holder wants to be asked.

        For one lesson it happens once, whichever of the two it was.
        """
        if draft.operation is Operation.NOOP:
            return Committed(effects=())
        if draft.locked or self._reviewed[draft.target] or not author.principal.scope.covers(Scope.PUBLISH):
            return await self._propose(author, draft)
        return Committed(effects=tuple(await self._appliers[draft.target].apply(draft, author)))

    async def proposals(
        self,
        principal: Principal,
        *,
        state: ProposalState | None = None,
        lesson_id: str | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> tuple[list[Proposal], int]:
        """Proposals, the newest first, and how many there are."""
        principal.require_scope(Scope.READ)
        query = select(ProposalRow).where(
            ProposalRow.tenant_id == principal.tenant_id, ProposalRow.audience.in_(principal.audiences)
        )
        if state is not None:
            query = query.where(ProposalRow.state == state.value)
        if lesson_id is not None:
            query = query.where(ProposalRow.lesson_id == lesson_id)
        newest = query.order_by(ProposalRow.created_at.desc(), ProposalRow.id)
        async with self._database.read() as session:
            total = (await session.execute(query.with_only_columns(func.count()))).scalar_one()
            rows = await session.scalars(newest.limit(min(limit, MAX_PAGE)).offset(offset))
            return [proposal_of(row) for row in rows], total

    async def proposal(self, principal: Principal, proposal_id: str) -> Proposal:
        principal.require_scope(Scope.READ)
        async with self._database.read() as session:
            return proposal_of(await _row(session, principal, proposal_id))

    async def approve(
        self, principal: Principal, proposal_id: str, *, why: Why, feedback: str = ""
    ) -> Sequence[Effect]:
        """Make the proposed change. One whose target has changed since is stale, and is not made."""
        proposal = await self._decidable(principal, proposal_id)
        author = Author(
            principal=principal, lesson_id=proposal.lesson_id, feedback=feedback, why=replace(why, feedback=feedback)
        )
        try:
            effects = await self._appliers[proposal.draft.target].apply(proposal.draft, author)
        except ConflictError:
            await self._decide(principal, proposal, ProposalState.STALE, why)
            raise
        await self._decide(principal, proposal, ProposalState.APPROVED, why)
        return effects

    async def reject(self, principal: Principal, proposal_id: str, *, why: Why) -> Proposal:
        """Turn a proposed change down."""
        proposal = await self._decidable(principal, proposal_id)
        await self._decide(principal, proposal, ProposalState.REJECTED, why)
        return await self.proposal(principal, proposal_id)

    async def _propose(self, author: Author, draft: Draft) -> Proposed:
        lesson = author.lesson_id
        draft = replace(draft, audience=draft.audience or tenant_audience(author.principal.tenant_id))
        proposal_id = id_of("prop", lesson) if lesson else new_id("prop")
        async with self._database.write() as transaction:
            present = await transaction.session.get(ProposalRow, proposal_id)
            if present is None or present.state == ProposalState.STALE.value:
                row = ProposalRow(
                    id=proposal_id,
                    tenant_id=author.principal.tenant_id,
                    lesson_id=lesson,
                    state=ProposalState.OPEN.value,
                    proposed_by=author.principal.person_id,
                    decided_by=None,
                    decided_at=None,
                    decision_reason="",
                    history_number=None,
                    created_at=self._clock(),
                    **draft_columns(draft),
                )
                row = await transaction.session.merge(row)  # a stale one is worked out anew
                change = Change(action=PROPOSED, subject=_subject(proposal_of(row)), after={"summary": draft.summary})
                self._history.record(transaction, author.principal.actor, change, author.why)
        return Proposed(proposal_id=proposal_id, warnings=tuple(draft.warnings))

    async def _decidable(self, principal: Principal, proposal_id: str) -> Proposal:
        principal.require_scope(Scope.PUBLISH)
        proposal = await self.proposal(principal, proposal_id)
        if proposal.state is not ProposalState.OPEN:
            raise ConflictError(
                f"The proposal {proposal_id} is {proposal.state} already.",
                hint="Look at what came of it: skillyard learn proposals show ID",
                details={"proposal": proposal_id, "state": proposal.state.value},
            )
        if self._other_reviewer and proposal.proposed_by == principal.person_id:
            raise NotAllowedError(
                "Who proposed a change may not decide on it.", hint="Ask someone else who may publish."
            )
        return proposal

    async def _decide(self, principal: Principal, proposal: Proposal, state: ProposalState, why: Why) -> None:
        async with self._database.write() as transaction:
            row = await _row(transaction.session, principal, proposal.id)
            if row.state != ProposalState.OPEN.value:
                return  # someone else was quicker, with the same change
            row.state, row.decided_by, row.decided_at = state.value, principal.person_id, self._clock()
            row.decision_reason = why.reason
            change = Change(
                action=DECIDED,
                subject=_subject(proposal),
                before={"state": proposal.state.value},
                after={"state": state.value},
            )
            self._history.record(transaction, principal.actor, change, why)


async def _row(session: AsyncSession, principal: Principal, proposal_id: str) -> ProposalRow:
    row = await session.get(ProposalRow, proposal_id)
    if row is None or row.tenant_id != principal.tenant_id or row.audience not in principal.audiences:
        raise NotFoundError(
            f"There is no proposal {proposal_id[:64]!r}.",
            hint="List them: skillyard learn proposals",
            details={"proposal": proposal_id[:64]},
        )
    return row


def _subject(proposal: Proposal) -> Subject:
    return Subject(
        kind="proposal",
        id=proposal.id,
        label=proposal.draft.target_name or proposal.draft.summary[:80],
        audience=proposal.draft.audience,
    )
