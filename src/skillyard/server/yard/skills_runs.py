"""Running learned skills, and what came of it."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from skillyard.releases.store import MAX_PAGE
from skillyard.sandbox.executions import Said
from skillyard.server.api.shapes import BEARER
from skillyard.server.yard.caller import Caller, Rooms, failures
from skillyard.server.yard.skills_caller import Learned
from skillyard.server.yard.skills_run_schemas import (
    BrowserSkillRunRequest,
    BrowserSkillRunResponse,
    SkillRanResponse,
    SkillRunListResponse,
    SkillRunRequest,
    SkillRunResponse,
)
from skillyard.server.yard.skills_schemas import (
    SkillDeleteRequest,
    SkillReleaseListResponse,
    SkillReleaseResponse,
)

router = APIRouter(prefix="/v1", tags=["learned skills"], responses=failures(), dependencies=[BEARER])


@router.get("/skills/runs", summary="List runs")
async def list_runs(
    learned: Learned,
    caller: Caller,
    release_id: Annotated[str | None, Query(max_length=128)] = None,
    candidate_id: Annotated[str | None, Query(max_length=128)] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 100,
    offset: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
) -> SkillRunListResponse:
    """Yours, the newest first."""
    page = await learned.log.page(caller, release_id=release_id, candidate_id=candidate_id, limit=limit, offset=offset)
    return SkillRunListResponse(items=[SkillRunResponse.of(run) for run in page.items], total=page.total)


@router.get("/skills/runs/{run_id}", summary="Read a run")
async def get_run(run_id: str, learned: Learned, caller: Caller) -> SkillRunResponse:
    return SkillRunResponse.of(await learned.log.get(caller, run_id))


@router.get(
    "/skills/runs/{run_id}/screenshot",
    summary="See where a run ended",
    response_class=Response,
    responses={200: {"content": {"image/png": {}}}},
)
async def get_screenshot(run_id: str, learned: Learned, caller: Caller) -> Response:
    """The page as it was where the run ended."""
    return Response(await learned.log.screenshot(caller, run_id), media_type="image/png")


@router.post(
    "/sandboxes/{sandbox_id}/browser/skills/{skill_key:path}/run",
    summary="Run a learned skill in a sandbox",
    responses=failures(409, 502),
)
async def run_browser_skill(
    sandbox_id: str, skill_key: str, body: BrowserSkillRunRequest, learned: Learned, rooms: Rooms, caller: Caller
) -> BrowserSkillRunResponse:
    """Replay the release of it that this sandbox is given."""
    ran = await learned.runs.run(
        caller,
        skill_key,
        body.variables,
        secrets=body.secrets,
        sandbox_id=sandbox_id,
        seconds=body.timeout,
        stop_on_error=body.stop_on_error,
        said=Said(description=body.description, tags=body.tags),
    )
    trace_ref = None
    if body.include_trace and ran.replay.execution_ids:
        trace_ref = (await rooms.log.get(sandbox_id, ran.replay.execution_ids[-1])).trace_ref
    return BrowserSkillRunResponse.of(ran, trace_ref=trace_ref)


@router.post("/skills/{skill_key:path}/run", summary="Run a learned skill", responses=failures(409, 502))
async def run_skill(skill_key: str, body: SkillRunRequest, learned: Learned, caller: Caller) -> SkillRanResponse:
    """Replay the release of it that is in use, in a sandbox of yours or in a fresh one."""
    ran = await learned.runs.run(
        caller,
        skill_key,
        body.variables,
        secrets=body.secrets,
        sandbox_id=body.sandbox_id,
        release_id=body.release_id,
        seconds=body.timeout,
    )
    return SkillRanResponse.told(ran, await learned.log.get(caller, ran.run_id))


@router.post("/skills/{skill_key:path}/kill", summary="Switch a learned skill off")
async def kill_skill(
    skill_key: str, learned: Learned, caller: Caller, body: SkillDeleteRequest | None = None
) -> SkillReleaseListResponse:
    """Take all releases of it out of use at once, and answer with those."""
    killed = await learned.releases.kill_skill(caller, skill_key, reason=body.reason if body else None)
    return SkillReleaseListResponse(items=[SkillReleaseResponse.of(one) for one in killed], total=len(killed))
