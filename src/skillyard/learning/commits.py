"""Making changes, or proposing them: what a policy lets happen at once, and what waits for someone's word."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from skillyard.clock import Clock, utc_now
from skillyard.config.sections import Learning
from skillyard.db.database import Database
from skillyard.errors import SkillyardError, UnavailableError
from skillyard.history.entries import Change
from skillyard.history.service import History
from skillyard.identity.principals import Principal, Role, Scope
from skillyard.learning.drafts import Applier, Author, CommitResult, Committed, Draft, Effect, Proposed, half_done
from skillyard.learning.ids import id_of, new_id
from skillyard.learning.models import ProposalRow
from skillyard.learning.places import COMMON, is_reviewed, role_at
from skillyard.learning.proposal import Proposal, proposal_of
from skillyard.learning.proposal_rows import open_proposal, proposal_row, proposal_rows
from skillyard.learning.states import Operation, ProposalState, Target

PROPOSED: Final = "proposal.created"


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
        self._reviewed: Mapping[Target, bool] = {
            Target.MEMORY: policy.memory == "review",
            Target.DMN_RULE: policy.rules == "review",
            Target.SKILL: policy.skills == "review",
        }

    async def asking(self, author: Author, draft: Draft) -> Draft:
        """The draft with the decision whether someone is asked first, by the policies, the target's lock and the
        author's rights. The decision is stored with the draft and does not change.
        """
        asked = self._reviewed[draft.target] or not author.principal.scope.covers(Scope.PUBLISH)
        if draft.place is not None and not asked:
            asked = not role_at(author.principal, draft.place).covers(Role.EDITOR)
            async with self._database.read() as session:
                asked = asked or await is_reviewed(session, draft.place)
        return replace(draft, locked=True) if asked and draft.operation is not Operation.NOOP else draft

    async def commit(self, author: Author, draft: Draft) -> CommitResult:
        """Make the change, or propose it where someone is to be asked first."""
        return await self.do(author, await self.asking(author, draft))

    async def do(self, author: Author, draft: Draft) -> Committed | Proposed:
        """Do what was settled. For one lesson it happens once, whether it is made or proposed."""
        is_empty = draft.operation is Operation.NOOP and not draft.attaches
        if draft.locked and not is_empty:
            return await self._propose(author, draft)
        return Committed(effects=await self.apply(author, draft))

    async def apply(self, author: Author, draft: Draft) -> tuple[Effect, ...]:
        """Make the change, whoever was asked."""
        effects: tuple[Effect, ...] = ()
        if draft.operation is not Operation.NOOP:
            effects = tuple(await self._appliers[draft.target].apply(draft, author.making(draft)))
        return (*effects, *await self._attach(author, draft))

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
        async with self._database.read() as session:
            rows, total = await proposal_rows(
                session, principal, state=state, lesson_id=lesson_id, limit=limit, offset=offset
            )
            return [proposal_of(row) for row in rows], total

    async def proposal(self, principal: Principal, proposal_id: str) -> Proposal:
        principal.require_scope(Scope.READ)
        async with self._database.read() as session:
            return proposal_of(await proposal_row(session, principal, proposal_id))

    async def _attach(self, author: Author, draft: Draft) -> Sequence[Effect]:
        """Give the agent what it is given with a change. That is made by now, so an error is not the end of it."""
        if not draft.attaches:
            return ()
        attaching = replace(draft, content={"attach": draft.attaches, "agent_id": author.agent_id}, base=None)
        attaching = replace(attaching, target=Target.SKILL, operation=Operation.UPDATE, place=None)
        try:
            return await self._appliers[Target.SKILL].apply(attaching, author.making(attaching))
        except UnavailableError:
            raise
        except SkillyardError as error:
            raise half_done("It is learned, less the skills that the agent was to be given", error) from error

    async def _propose(self, author: Author, draft: Draft) -> Proposed:
        draft = replace(draft, audience=_audience(author, draft))
        proposal_id = id_of("prop", author.key) if author.key else new_id("prop")
        async with self._database.write() as transaction:
            present = await transaction.session.get(ProposalRow, proposal_id)
            if present is None or present.state == ProposalState.STALE.value:
                row = open_proposal(proposal_id, author, draft, now=self._clock())
                row = await transaction.session.merge(row)  # a stale one is worked out anew
                change = Change(action=PROPOSED, subject=proposal_of(row).subject, after={"summary": draft.summary})
                self._history.record(transaction, author.principal.actor, change, author.making(draft).why)
        return Proposed(proposal_id=proposal_id, warnings=tuple(draft.warnings))


def _audience(author: Author, draft: Draft) -> str:
    """Who may know of a proposal: those who may know of its target, or of the private feedback that it is from."""
    tenant_id = author.principal.tenant_id
    audience = draft.audience or (draft.place or COMMON).audience(tenant_id)
    is_open = audience == COMMON.audience(tenant_id)
    return author.place.audience(tenant_id) if author.place is not None and is_open else audience
