"""The versions of skills: published, read, compared, reviewed, yanked, tagged."""

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query, Response

from skillyard.errors import InputError
from skillyard.server.api.caller import Caller, Reason, RiskyReason, TheYard
from skillyard.server.api.preconditions import Base
from skillyard.server.api.shapes import BEARER, Listed, errors
from skillyard.server.api.version_schemas import (
    PublishedVersion,
    SkillDiff,
    TagSchema,
    TagSet,
    VersionCreate,
    VersionDetail,
    VersionSchema,
    Yank,
)
from skillyard.server.models import Success

router = APIRouter(prefix="/api/v1", tags=["versions"], responses=errors(), dependencies=[BEARER])

State = Annotated[str, Query(max_length=200, description="A version, a tag, a version's digest, or `draft`.")]


@router.get("/skills/{skill_id}/versions", summary="List versions")
async def list_versions(skill_id: str, yard: TheYard, caller: Caller) -> Listed[VersionSchema]:
    """The versions of a skill, the highest first; those that wait for a review are shown to members only."""
    versions = await yard.registry.versions.all(caller, skill_id)
    return Listed(data=[VersionSchema.of(version) for version in versions])


@router.post(
    "/skills/{skill_id}/versions",
    status_code=201,
    summary="Publish",
    responses={**errors(409), 200: {"model": Success[PublishedVersion], "description": "It was published before."}},
)
async def publish(
    skill_id: str,
    body: VersionCreate,
    yard: TheYard,
    caller: Caller,
    why: RiskyReason,
    base: Base,
    response: Response,
) -> Success[PublishedVersion]:
    """Make an immutable version of the working copy; publishing the same again changes nothing and answers 200."""
    if base is not None and body.base is not None and base != body.base:
        raise InputError(
            "If-Match and 'base' name two different states.", hint="Send one of them.", details={"field": "base"}
        )
    done = await yard.registry.publishing.publish(
        caller, skill_id, version=body.version, base=base or body.base, notes=body.notes, why=why
    )
    response.status_code = 201 if done.created else 200
    return Success(data=PublishedVersion.made(done))


@router.get("/skills/{skill_id}/versions/{version}", summary="Read a version")
async def get_version(skill_id: str, version: str, yard: TheYard, caller: Caller) -> Success[VersionDetail]:
    """A version by its number or by a tag, with its files; `latest` is what is shipped when none is named."""
    found = await yard.registry.versions.get(caller, skill_id, version)
    return Success(data=VersionDetail.with_files(found, await yard.registry.bundles.files(found.digest)))


@router.post("/skills/{skill_id}/versions/{version}/yank", summary="Yank a version")
async def yank(
    skill_id: str, version: str, body: Yank, yard: TheYard, caller: Caller, why: Reason
) -> Success[VersionSchema]:
    """Ship a version no more, except to those who ask for it by its number."""
    why = replace(why, reason=body.reason)
    return Success(data=VersionSchema.of(await yard.registry.versions.yank(caller, skill_id, version, why=why)))


@router.post("/skills/{skill_id}/versions/{version}/restore", summary="Take a yank back")
async def restore(skill_id: str, version: str, yard: TheYard, caller: Caller, why: Reason) -> Success[VersionSchema]:
    """Ship a yanked version again."""
    return Success(data=VersionSchema.of(await yard.registry.versions.restore(caller, skill_id, version, why=why)))


@router.post("/skills/{skill_id}/versions/{version}/approve", summary="Approve a version", responses=errors(409))
async def approve(skill_id: str, version: str, yard: TheYard, caller: Caller, why: Reason) -> Success[VersionSchema]:
    """Let a version that waits for a review be shipped; not by the one who published it."""
    done = await yard.registry.versions.review(caller, skill_id, version, approve=True, why=why)
    return Success(data=VersionSchema.of(done))


@router.post("/skills/{skill_id}/versions/{version}/reject", summary="Reject a version", responses=errors(409))
async def reject(skill_id: str, version: str, yard: TheYard, caller: Caller, why: Reason) -> Success[VersionSchema]:
    """Turn a version down that waits for a review; not by the one who published it."""
    done = await yard.registry.versions.review(caller, skill_id, version, approve=False, why=why)
    return Success(data=VersionSchema.of(done))


@router.put("/skills/{skill_id}/tags/{tag}", summary="Set a tag", responses=errors(409))
async def set_tag(
    skill_id: str, tag: str, body: TagSet, yard: TheYard, caller: Caller, why: Reason
) -> Success[TagSchema]:
    """Let a name stand for one published version, instead of the one it stood for."""
    await yard.registry.versions.tag(caller, skill_id, tag, body.version, why=why)
    return Success(data=TagSchema(tag=tag, version=body.version))


@router.delete("/skills/{skill_id}/tags/{tag}", summary="Delete a tag")
async def delete_tag(skill_id: str, tag: str, yard: TheYard, caller: Caller, why: Reason) -> Success[TagSchema]:
    """Take a name away; the version stays."""
    await yard.registry.versions.tag(caller, skill_id, tag, None, why=why)
    return Success(data=TagSchema(tag=tag, version=None))


@router.get("/skills/{skill_id}/diff", summary="Compare two states")
async def diff(
    skill_id: str,
    yard: TheYard,
    caller: Caller,
    old: Annotated[State | None, Query(alias="from")] = None,
    new: Annotated[State, Query(alias="to")] = "draft",
) -> Success[SkillDiff]:
    """What differs, file by file: by default from the latest version to the working copy."""
    return Success(data=SkillDiff.of(await yard.registry.states.diff(caller, skill_id, old=old, new=new)))
