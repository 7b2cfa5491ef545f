"""What is known about learned skills: what fits a question, how they are used, and what is missing."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query

from skillyard.releases.execution_pages import ExecutionQuery
from skillyard.releases.gaps import gaps_document
from skillyard.releases.insights import MAX_DAYS, overview_document
from skillyard.releases.retirement import retirements_document
from skillyard.releases.store import MAX_PAGE
from skillyard.sandbox.executions import ExecType
from skillyard.server.api.shapes import BEARER
from skillyard.server.yard.caller import Caller, failures
from skillyard.server.yard.skills_caller import Learned
from skillyard.server.yard.skills_insight_schemas import (
    FoundSkillResponse,
    FoundSkillsResponse,
    OwnExecutionResponse,
    OwnExecutionsResponse,
)

router = APIRouter(prefix="/v1/skills", tags=["learned skills"], responses=failures(), dependencies=[BEARER])


@router.get("/search", summary="Find learned skills")
async def search_skills(
    learned: Learned,
    caller: Caller,
    q: Annotated[str, Query(min_length=1, max_length=4000, description="What it is for, in any language.")],
    limit: Annotated[int, Query(ge=1, le=100)] = 10,
) -> FoundSkillsResponse:
    """Yours that fit, best first; nothing, where nothing fits."""
    found = (await learned.search.search(caller, q, limit=limit)).items
    return FoundSkillsResponse(items=[FoundSkillResponse.of(one) for one in found], total=len(found))


@router.get("/insights", summary="How learned skills are used")
async def get_insights(
    learned: Learned, caller: Caller, days: Annotated[int, Query(ge=1, le=MAX_DAYS)] = 30
) -> dict[str, Any]:
    """How often each of yours ran, how that ended, and how long it took."""
    return overview_document(await learned.insights.of(caller, days=days))


@router.get("/gaps", summary="What there is no skill for")
async def list_gaps(learned: Learned, caller: Caller) -> dict[str, Any]:
    """What was done again and again, by hand or in vain, without a skill for it."""
    return gaps_document(await learned.gaps.all(caller))


@router.get("/retirements", summary="Releases that may be retired")
async def list_retirements(learned: Learned, caller: Caller) -> dict[str, Any]:
    """Those in use that are not used, or fail, each with what speaks for it; nothing is done by itself."""
    return retirements_document(await learned.retirement.proposals(caller))


@router.get("/executions", summary="List executions of all sandboxes")
async def list_executions(
    learned: Learned,
    caller: Caller,
    exec_type: ExecType | None = None,
    success_only: bool = False,
    learn_status: Annotated[str | None, Query(max_length=16)] = None,
    sandbox_id: Annotated[str | None, Query(max_length=128)] = None,
    since: datetime | None = None,
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 100,
    offset: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
) -> OwnExecutionsResponse:
    """Yours, the newest first: what there is to learn from."""
    asked = ExecutionQuery(
        exec_type=exec_type,
        success_only=success_only,
        learn_status=learn_status,
        sandbox_id=sandbox_id,
        since=since,
    )
    page = await learned.executions.page(caller, asked, limit=limit, offset=offset)
    return OwnExecutionsResponse(entries=[OwnExecutionResponse.told(one) for one in page.items], total=page.total)
