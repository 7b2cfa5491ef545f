"""The files of skills: written and deleted in the working copy, read in any state."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from skillyard.server.api.caller import Caller, Reason, TheYard
from skillyard.server.api.file_schemas import (
    FileDeleted,
    FileWritten,
    SkillFileContent,
    SkillFileCreate,
    SkillFileSchema,
)
from skillyard.server.api.preconditions import Base
from skillyard.server.api.shapes import BEARER, Listed, errors
from skillyard.server.api.skill_schemas import etag_of_skill
from skillyard.server.models import Success
from skillyard.server.raw_files import file_response

router = APIRouter(prefix="/api/v1", tags=["files"], responses=errors(), dependencies=[BEARER])


@router.post("/skills/{skill_id}/files", status_code=201, summary="Write a file", responses=errors(409, 413))
async def add_file(
    skill_id: str,
    body: SkillFileCreate,
    yard: TheYard,
    caller: Caller,
    why: Reason,
    base: Base,
    response: Response,
) -> Success[FileWritten]:
    """Add a file to the working copy, or replace the one at that path. Any bytes are kept as they are."""
    file = body.as_file()
    skill = await yard.registry.workbench.put_file(caller, skill_id, file, base=base, why=why)
    written = next(one for one in skill.files if one.path == file.path)
    response.headers["ETag"] = etag_of_skill(skill)
    return Success(data=FileWritten(file=SkillFileSchema.of(written), digest=skill.digest))


@router.get("/skills/{skill_id}/files", summary="List files")
async def list_files(skill_id: str, yard: TheYard, caller: Caller) -> Listed[SkillFileSchema]:
    """The files of the working copy, by path."""
    skill = await yard.registry.shelf.get(caller, skill_id)
    return Listed(data=[SkillFileSchema.of(file) for file in skill.files])


@router.get(
    "/skills/{skill_id}/files/{path:path}",
    summary="Read the bytes of a file",
    response_class=Response,
    responses={200: {"content": {"text/plain": {}, "application/octet-stream": {}}, "description": "The bytes."}},
)
async def get_file_bytes(
    skill_id: str,
    path: str,
    yard: TheYard,
    caller: Caller,
    version: Annotated[
        str, Query(max_length=200, description="A version, a tag, a digest, or `draft`: the working copy.")
    ] = "draft",
) -> Response:
    """One file as it is: text as plain text, anything else as a download, nothing that a browser would run."""
    state = await yard.registry.states.named(caller, skill_id, version)
    file, data = await yard.registry.states.file(state, path)
    return file_response(data, path, {"ETag": f'"{file.sha256}"'})


@router.get("/skills/files/{file_id}", summary="Read a file by its id")
async def get_file(file_id: str, yard: TheYard, caller: Caller) -> Success[SkillFileContent]:
    """A file of a working copy with its bytes, as text or in base64."""
    skill, file = await yard.registry.shelf.file_with_id(caller, file_id)
    return Success(data=SkillFileContent.of_content(skill, file, await yard.registry.shelf.content(file)))


@router.delete("/skills/files/{file_id}", summary="Delete a file", responses=errors(409))
async def delete_file(
    file_id: str, yard: TheYard, caller: Caller, why: Reason, base: Base, response: Response
) -> Success[FileDeleted]:
    """Take a file out of the working copy; SKILL.md, which makes the skill, cannot be."""
    skill, file = await yard.registry.shelf.file_with_id(caller, file_id)
    skill = await yard.registry.workbench.delete_file(caller, skill.id, file.path, base=base, why=why)
    response.headers["ETag"] = etag_of_skill(skill)
    return Success(data=FileDeleted(id=file.id, path=file.path, skill_id=skill.id, digest=skill.digest))
