"""Releases: candidates that are in use, or were."""

from typing import Annotated

from fastapi import APIRouter, Query

from skillyard.releases.health import health_document
from skillyard.releases.store import MAX_PAGE
from skillyard.releases.values import Stage
from skillyard.server.api.shapes import BEARER
from skillyard.server.yard.caller import Caller, failures
from skillyard.server.yard.skills_caller import Learned
from skillyard.server.yard.skills_insight_schemas import SkillReleaseDiffResponse, SkillReleaseHealthResponse
from skillyard.server.yard.skills_schemas import (
    SkillDeleteRequest,
    SkillDeleteResponse,
    SkillReleaseListResponse,
    SkillReleaseResponse,
)

router = APIRouter(prefix="/v1/skills/releases", tags=["learned skills"], responses=failures(), dependencies=[BEARER])


@router.get("", summary="List releases")
async def list_releases(
    learned: Learned,
    caller: Caller,
    skill_key: Annotated[str | None, Query(max_length=1000)] = None,
    active_only: Annotated[
        bool, Query(description="Only what is in use; of a skill with a canary and a stable release, the newer.")
    ] = False,
    stage: Stage | None = None,
    every_stage: Annotated[
        bool, Query(description="With `active_only`: a canary does not hide what is stable.")
    ] = False,
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 100,
    offset: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
) -> SkillReleaseListResponse:
    """Yours, the newest first."""
    page = await learned.releases.page(
        caller,
        skill_key=skill_key,
        stage=stage,
        active_only=active_only,
        every_stage=every_stage,
        limit=limit,
        offset=offset,
    )
    return SkillReleaseListResponse(items=[SkillReleaseResponse.of(one) for one in page.items], total=page.total)


@router.get("/{release_id}", summary="Read a release")
async def get_release(release_id: str, learned: Learned, caller: Caller) -> SkillReleaseResponse:
    return SkillReleaseResponse.of(await learned.releases.get(caller, release_id))


@router.get("/{release_id}/health", summary="How a release does")
async def get_health(release_id: str, learned: Learned, caller: Caller) -> SkillReleaseHealthResponse:
    """What its runs say, beside those of the release that it is held against."""
    health = await learned.health.of(caller, release_id)
    return SkillReleaseHealthResponse.model_validate(health_document(health, learned.policy))


@router.get("/{release_id}/diff/{other_id}", summary="What differs between two releases")
async def diff_releases(release_id: str, other_id: str, learned: Learned, caller: Caller) -> SkillReleaseDiffResponse:
    """From the first to the second: their steps and their variables."""
    old, new = await learned.releases.get(caller, release_id), await learned.releases.get(caller, other_id)
    return SkillReleaseDiffResponse.of(old, new, await learned.runs.diff(caller, old, new))


@router.delete("/{release_id}", summary="Delete a release")
async def delete_release(
    release_id: str, learned: Learned, caller: Caller, body: SkillDeleteRequest | None = None
) -> SkillDeleteResponse:
    """Take it away; if it is in use, it is so no more."""
    reason = body.reason if body else None
    return SkillDeleteResponse.of(await learned.releases.delete(caller, release_id, reason=reason))


@router.post("/{release_id}/rollback", summary="Take a release back", responses=failures(409))
async def rollback_release(
    release_id: str, learned: Learned, caller: Caller, body: SkillDeleteRequest | None = None
) -> SkillReleaseResponse:
    """Release anew what was good last, and answer with that; without any, with the release that is in use no more."""
    reason = body.reason if body else None
    return SkillReleaseResponse.of(await learned.releases.rollback(caller, release_id, reason=reason))


@router.post("/{release_id}/kill", summary="Switch a release off")
async def kill_release(
    release_id: str, learned: Learned, caller: Caller, body: SkillDeleteRequest | None = None
) -> SkillReleaseResponse:
    """Take it out of use at once, with nothing in its place."""
    reason = body.reason if body else None
    return SkillReleaseResponse.of(await learned.releases.kill(caller, release_id, reason=reason))


@router.post("/{release_id}/retire", summary="Retire a release")
async def retire_release(
    release_id: str, learned: Learned, caller: Caller, body: SkillDeleteRequest | None = None
) -> SkillReleaseResponse:
    """Put it out of use, as one that served its time."""
    reason = body.reason if body else None
    return SkillReleaseResponse.of(await learned.releases.retire(caller, release_id, reason=reason))
