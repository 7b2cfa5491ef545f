"""Queries about proposals, with the rights of who asks."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.db.paging import total_of
from skillyard.errors import NotFoundError
from skillyard.identity.principals import Principal
from skillyard.learning.drafts import Author, Draft
from skillyard.learning.models import ProposalRow
from skillyard.learning.proposal import draft_columns
from skillyard.learning.states import ProposalState

MAX_PAGE: Final = 200


async def proposal_row(session: AsyncSession, principal: Principal, proposal_id: str) -> ProposalRow:
    row = await session.get(ProposalRow, proposal_id)
    if row is None or row.tenant_id != principal.tenant_id or row.audience not in principal.audiences:
        raise NotFoundError(
            f"There is no proposal {proposal_id[:64]!r}.",
            hint="List them: skillyard learn proposals",
            details={"proposal": proposal_id[:64]},
        )
    return row


async def proposal_rows(
    session: AsyncSession,
    principal: Principal,
    *,
    state: ProposalState | None,
    lesson_id: str | None,
    limit: int,
    offset: int,
) -> tuple[Sequence[ProposalRow], int]:
    """Some of the proposals that someone may see, the newest first, and how many there are."""
    query = select(ProposalRow).where(
        ProposalRow.tenant_id == principal.tenant_id, ProposalRow.audience.in_(principal.audiences)
    )
    if state is not None:
        query = query.where(ProposalRow.state == state.value)
    if lesson_id is not None:
        query = query.where(ProposalRow.lesson_id == lesson_id)
    newest = query.order_by(ProposalRow.created_at.desc(), ProposalRow.id)
    limit = min(limit, MAX_PAGE)
    rows = (await session.scalars(newest.limit(limit).offset(offset))).all()
    return rows, await total_of(session, query, shown=len(rows), limit=limit, offset=offset)


async def cut_off_rows(session: AsyncSession, before: datetime) -> Sequence[ProposalRow]:
    """Those that were approved before some time, and are still being carried out."""
    query = select(ProposalRow).where(
        ProposalRow.state == ProposalState.APPROVING.value, ProposalRow.decided_at < before
    )
    return (await session.scalars(query.order_by(ProposalRow.decided_at))).all()


def open_proposal(proposal_id: str, author: Author, draft: Draft, *, now: datetime) -> ProposalRow:
    """The row of a draft that waits for someone's word from now on."""
    return ProposalRow(
        id=proposal_id,
        tenant_id=author.principal.tenant_id,
        lesson_id=author.lesson_id,
        state=ProposalState.OPEN.value,
        proposed_by=author.principal.person_id,
        decided_by=None,
        decided_at=None,
        decision_reason="",
        history_number=None,
        created_at=now,
        **draft_columns(draft),
    )
