"""Candidates: know-how that may become a skill, and what is said of it."""

from typing import Annotated

from fastapi import APIRouter, Query

from skillyard.releases.store import MAX_PAGE
from skillyard.releases.values import Status
from skillyard.server.api.shapes import BEARER
from skillyard.server.yard.caller import Caller, failures
from skillyard.server.yard.skills_caller import Learned
from skillyard.server.yard.skills_schemas import (
    SkillCandidateCreateRequest,
    SkillCandidateListResponse,
    SkillCandidateResponse,
    SkillDeleteRequest,
    SkillDeleteResponse,
    SkillEvaluationListResponse,
    SkillEvaluationRequest,
    SkillEvaluationResponse,
    SkillPromotionRequest,
    SkillReleaseResponse,
)

router = APIRouter(prefix="/v1/skills", tags=["learned skills"], responses=failures(), dependencies=[BEARER])


@router.post("/candidates", status_code=201, summary="Create a candidate")
async def create_candidate(
    body: SkillCandidateCreateRequest, learned: Learned, caller: Caller
) -> SkillCandidateResponse:
    """Make a candidate of executions of yours; it is rendered to a skill at once."""
    return SkillCandidateResponse.of(await learned.candidates.create(caller, body.spec))


@router.get("/candidates", summary="List candidates")
async def list_candidates(
    learned: Learned,
    caller: Caller,
    status: Status | None = None,
    skill_key: Annotated[str | None, Query(max_length=1000)] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 100,
    offset: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
) -> SkillCandidateListResponse:
    """Yours, the newest first."""
    page = await learned.candidates.page(caller, status=status, skill_key=skill_key, limit=limit, offset=offset)
    return SkillCandidateListResponse(items=[SkillCandidateResponse.of(one) for one in page.items], total=page.total)


@router.get("/candidates/{candidate_id}", summary="Read a candidate")
async def get_candidate(candidate_id: str, learned: Learned, caller: Caller) -> SkillCandidateResponse:
    return SkillCandidateResponse.of(await learned.candidates.get(caller, candidate_id))


@router.delete("/candidates/{candidate_id}", summary="Delete a candidate", responses=failures(409))
async def delete_candidate(
    candidate_id: str, learned: Learned, caller: Caller, body: SkillDeleteRequest | None = None
) -> SkillDeleteResponse:
    """Take it away, unless a release of it is in use."""
    reason = body.reason if body else None
    return SkillDeleteResponse.of(await learned.candidates.delete(caller, candidate_id, reason=reason))


@router.post("/candidates/{candidate_id}/evaluate", summary="Tell a verdict on a candidate")
async def evaluate_candidate(
    candidate_id: str, body: SkillEvaluationRequest, learned: Learned, caller: Caller
) -> SkillEvaluationResponse:
    """Take a verdict from elsewhere. It permits a release, and is marked as external everywhere."""
    evaluation = await learned.evaluations.evaluate(
        caller,
        candidate_id,
        passed=body.passed,
        score=body.score,
        benchmark_id=body.benchmark_id,
        report=body.report,
    )
    return SkillEvaluationResponse.of(evaluation)


@router.get("/candidates/{candidate_id}/evaluations", summary="List the evaluations of a candidate")
async def list_evaluations(candidate_id: str, learned: Learned, caller: Caller) -> SkillEvaluationListResponse:
    """The newest first."""
    items = [SkillEvaluationResponse.of(one) for one in await learned.evaluations.all(caller, candidate_id)]
    return SkillEvaluationListResponse(items=items, total=len(items))


@router.post("/candidates/{candidate_id}/promote", summary="Release a candidate", responses=failures(409))
async def promote_candidate(
    candidate_id: str, learned: Learned, caller: Caller, body: SkillPromotionRequest | None = None
) -> SkillReleaseResponse:
    """Put it to use: as a canary for some, or stable for all. Its latest evaluation must have passed."""
    promotion = (body or SkillPromotionRequest()).promotion
    return SkillReleaseResponse.of(await learned.releases.promote(caller, candidate_id, promotion))
