"""Proposals: what waits for someone's word, what it would change, and the word."""

from typing import Annotated, Final

from fastapi import Query, Response

from skillyard.app.yard import Yard
from skillyard.errors import SkillyardError
from skillyard.identity.principals import Principal
from skillyard.learning.states import ProposalState
from skillyard.server.api.caller import Caller, TheYard
from skillyard.server.api.feedback_schemas import ProposalSchema
from skillyard.server.api.learning_shapes import Cursor
from skillyard.server.api.proposals import list_proposals
from skillyard.server.web.choices import one_of
from skillyard.server.web.draft_changes import change_of
from skillyard.server.web.forms import Posted
from skillyard.server.web.learning import LEARNING
from skillyard.server.web.page import Page, PageRouter, go_to

PROPOSALS: Final = f"{LEARNING}/proposals"
_PER_PAGE: Final = 30
_ANY: Final = "any"

router = PageRouter()


@router.page(PROPOSALS)
async def proposals(
    yard: TheYard, caller: Caller, state: Annotated[str, Query(max_length=16)] = "", cursor: Cursor = 0
) -> Page:
    """Those that wait, unless others are asked for; the newest first."""
    chosen = None if state == _ANY else one_of(ProposalState, state) or ProposalState.OPEN
    found = await list_proposals(yard.learning, caller, chosen, cursor, _PER_PAGE)
    return Page(
        "learning/proposals.html",
        {
            "chosen": {"state": chosen or _ANY},
            "proposals": found.data,
            "total": found.total,
            "next_cursor": found.next_cursor,
        },
        extra={"states": [*ProposalState, _ANY]},
    )


@router.page(f"{PROPOSALS}/{{proposal_id}}")
async def proposal(proposal_id: str, yard: TheYard, caller: Caller) -> Page:
    return await _page(yard, caller, proposal_id)


@router.post(f"{PROPOSALS}/{{proposal_id}}", response_model=None)
async def decide(proposal_id: str, form: Posted, yard: TheYard, caller: Caller) -> Response:
    """Make the change, or turn it down. One whose target has changed since is a conflict, and says so."""
    approve = form.text("do") == "approve"
    try:
        if approve:
            await yard.learning.approve(caller, proposal_id, why=form.why)
        else:
            await yard.learning.reject(caller, proposal_id, why=form.why)
    except SkillyardError as error:
        return await _page(yard, caller, proposal_id, problem=error)
    found = await yard.learning.commits.proposal(caller, proposal_id)
    done = "approved" if approve else "rejected"
    if found.lesson_id is None:
        return go_to(f"{PROPOSALS}/{proposal_id}", done=done)
    lesson = await yard.learning.lessons.get(caller, found.lesson_id)
    return go_to(f"{LEARNING}/feedback/{lesson.feedback_id}", done=done)


async def _page(yard: Yard, caller: Principal, proposal_id: str, *, problem: SkillyardError | None = None) -> Page:
    found = await yard.learning.commits.proposal(caller, proposal_id)
    return Page(
        "learning/proposal.html",
        {"proposal": ProposalSchema.of(found), "change": await change_of(yard, caller, found.draft)},
        extra={"problem": problem.as_public_dict() if problem else None},
        status=problem.http_status if problem else 200,
    )
