"""The skills of a sandbox that somebody asks for while it is there."""

import asyncio
from typing import Annotated, Self

from fastapi import APIRouter, UploadFile
from pydantic import BaseModel, Field

from skillyard.app.injection import load_into_sandbox, put_into_sandbox
from skillyard.delivery.sandbox_loader import LoadStatus
from skillyard.delivery.sandbox_place import SKILLS_FOLDER
from skillyard.identity.principals import Scope
from skillyard.registry.shipping import MAX_REFS
from skillyard.server.api.caller import TheYard
from skillyard.server.api.shapes import BEARER
from skillyard.server.yard.caller import Body, Caller, failures
from skillyard.skill.archive import read_archive
from skillyard.skill.bundle import Bundle
from skillyard.skill.folder_names import folder_name

router = APIRouter(
    prefix="/v1/sandboxes/{sandbox_id}/skills",
    tags=["sandboxes"],
    responses=failures(409, 502, 504),
    dependencies=[BEARER],
)


class LoadSkillsRequest(Body):
    skills: list[Annotated[str, Field(min_length=1, max_length=400)]] = Field(
        min_length=1, max_length=MAX_REFS, description="Skills of the registry, by name or id.", examples=[["acme/pdf"]]
    )


class LoadedSkillResponse(BaseModel):
    """What became of one skill."""

    skill: str = Field(description="As it was asked for.")
    loaded: bool = Field(description="Whether it is there, with all that it requires.")
    path: str | None = Field(description="Its folder, relative to the workspace.")
    version: str | None = Field(description="None for a working copy.")
    digest: str | None
    reason: str = Field(description="Why it is not there, or what is worth knowing.")

    @classmethod
    def of(cls, skill: str, status: LoadStatus) -> Self:
        return cls(
            skill=skill,
            loaded=status.loaded,
            path=f"{SKILLS_FOLDER}/{status.folder}" if status.loaded else None,
            version=status.version or None,
            digest=status.digest or None,
            reason=status.reason,
        )


class LoadedSkillsResponse(BaseModel):
    items: list[LoadedSkillResponse]


@router.post("", summary="Put skills into a sandbox")
async def load_skills(sandbox_id: str, body: LoadSkillsRequest, yard: TheYard, caller: Caller) -> LoadedSkillsResponse:
    """Put skills that you may see into it, with all that they require: the latest version of each, unless the
    sandbox was made with another one.
    """
    loaded = await load_into_sandbox(
        yard.sandboxes, yard.registry, yard.injection, caller, sandbox_id, list(dict.fromkeys(body.skills))
    )
    return LoadedSkillsResponse(items=[LoadedSkillResponse.of(skill, status) for skill, status in loaded.items()])


@router.post("/upload", summary="Send a skill into a sandbox")
async def upload_skill(sandbox_id: str, yard: TheYard, caller: Caller, file: UploadFile) -> LoadedSkillResponse:
    """Put a skill that is not in the registry into it, from an archive such as `skillyard pack` makes."""
    caller.require_scope(Scope.WRITE)
    await yard.sandboxes.sandboxes.get(caller, sandbox_id)
    data, name = await file.read(), file.filename or ""

    def read() -> tuple[Bundle, str]:
        found = read_archive(data, filename=name)
        return found.require(), folder_name(found.folder)

    bundle, folder = await asyncio.to_thread(read)
    status = await put_into_sandbox(yard.sandboxes, yard.injection, caller, sandbox_id, bundle, folder)
    return LoadedSkillResponse.of(folder, status)
