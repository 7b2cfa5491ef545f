"""Proposals: changes that wait for someone's word."""

from dataclasses import replace

from fastapi import APIRouter, Depends

from skillyard.history.entries import Why
from skillyard.learning.states import ProposalState
from skillyard.server.api.caller import Caller, Reason
from skillyard.server.api.feedback_schemas import Approved, Decision, ProposalDetail, ProposalSchema
from skillyard.server.api.learning_shapes import Counted, Cursor, EffectSchema, Learning, Limit
from skillyard.server.api.shapes import BEARER, errors
from skillyard.server.auth import not_kept
from skillyard.server.models import Success

router = APIRouter(prefix="/api/v1", tags=["proposals"], responses=errors(), dependencies=[BEARER, Depends(not_kept)])


@router.get("/proposals", summary="List proposals")
async def list_proposals(
    learning: Learning,
    caller: Caller,
    state: ProposalState | None = None,
    cursor: Cursor = 0,
    limit: Limit = 50,
) -> Counted[ProposalSchema]:
    """The newest first."""
    found, total = await learning.commits.proposals(caller, state=state, limit=limit, offset=cursor)
    return Counted[ProposalSchema].page([ProposalSchema.of(each) for each in found], total, cursor)


@router.get("/proposals/{proposal_id}", summary="Read a proposal")
async def get_proposal(proposal_id: str, learning: Learning, caller: Caller) -> Success[ProposalDetail]:
    """What would change, why, and how it stands to what is known."""
    proposal = await learning.commits.proposal(caller, proposal_id)
    return Success(data=ProposalDetail.told(proposal, await learning.diffs.of(caller, proposal.draft)))


@router.post("/proposals/{proposal_id}/approve", summary="Approve a proposal", responses=errors(409, 413))
async def approve_proposal(
    proposal_id: str, learning: Learning, caller: Caller, why: Reason, body: Decision | None = None
) -> Success[Approved]:
    """Make the change. One whose target has changed since is stale: it is a conflict, and is not made."""
    effects = await learning.approve(caller, proposal_id, why=_why(why, body))
    return Success(data=Approved(effects=[EffectSchema.of(effect) for effect in effects]))


@router.post("/proposals/{proposal_id}/reject", summary="Reject a proposal", responses=errors(409))
async def reject_proposal(
    proposal_id: str, learning: Learning, caller: Caller, why: Reason, body: Decision | None = None
) -> Success[ProposalSchema]:
    """Turn the change down."""
    await learning.reject(caller, proposal_id, why=_why(why, body))
    return Success(data=ProposalSchema.of(await learning.commits.proposal(caller, proposal_id)))


def _why(why: Why, body: Decision | None) -> Why:
    return replace(why, reason=body.reason) if body and body.reason else why
