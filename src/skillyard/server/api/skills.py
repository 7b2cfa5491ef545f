"""Skills: listed, made, read, changed and deleted."""

import asyncio
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Query, Response

from skillyard.errors import InputError
from skillyard.registry.drafts import document_of
from skillyard.registry.shelf import MAX_PAGE
from skillyard.registry.skills import Skill, Visibility
from skillyard.server.api.caller import Caller, Reason, TheYard
from skillyard.server.api.preconditions import Base
from skillyard.server.api.shapes import BEARER, Listed, errors
from skillyard.server.api.skill_schemas import (
    Deleted,
    FormattedText,
    SkillCreate,
    SkillSchema,
    SkillSummarySchema,
    SkillUpdate,
    etag_of_skill,
)
from skillyard.server.api.visibility import wanted
from skillyard.server.models import Success
from skillyard.skill.formatter import ShownSkill, SkillFormatter

router = APIRouter(prefix="/api/v1", tags=["skills"], responses=errors(), dependencies=[BEARER])
"""Included before the other routers of skills: a skill may be called `files` or `versions`."""

_MAX_TAGS: Final = 20


@router.get("/skills", summary="List skills")
async def list_skills(
    yard: TheYard,
    caller: Caller,
    include_public: Annotated[bool, Query(description="Also what others show to everyone, and system skills.")] = True,
    tags: Annotated[list[str], Query(description="All of these; `tags=a&tags=b` or `tags=a,b`.")] = [],  # noqa: B006
    q: Annotated[str, Query(max_length=2000, description="Words that the name or description holds.")] = "",
    namespace: Annotated[str | None, Query(description="Only the skills of this person or team.")] = None,
    view: Annotated[Literal["full", "summary"], Query(description="`summary` leaves out content and files.")] = "full",
    cursor: Annotated[str | None, Query(description="The `next_cursor` of the page before.")] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE, description="At most so many.")] = 50,
) -> Listed[SkillSchema] | Listed[SkillSummarySchema]:
    """The skills that you may see, in the order of their names, a page at a time.

    A page has fewer than `limit` where its skills have more than 8 MiB of text together; `next_cursor` goes on.
    """
    page = await yard.registry.shelf.page(
        caller,
        include_public=include_public,
        tags=_wanted_tags(tags),
        q=q,
        namespace=namespace,
        cursor=cursor,
        limit=limit,
    )
    if view == "summary":
        return Listed(data=[SkillSummarySchema.of(skill) for skill in page.skills], next_cursor=page.next)
    return Listed(data=[SkillSchema.of(skill) for skill in page.skills], next_cursor=page.next)


@router.post("/skills", status_code=201, summary="Create a skill", responses=errors(409, 413))
async def create_skill(
    body: SkillCreate, yard: TheYard, caller: Caller, why: Reason, response: Response
) -> Success[SkillSchema]:
    """Make a skill of fields, a Markdown body and further files; its SKILL.md is written from them."""
    visibility = wanted(body.is_public, body.visibility, None) or Visibility.PRIVATE
    skill = await yard.registry.workbench.create_written(
        caller,
        body.fields,
        body.content,
        body.bundle_files or (),
        namespace=body.namespace,
        visibility=visibility,
        why=why,
    )
    return _answer(skill, response)


@router.get("/skills/by-name/{name}", summary="Read a skill by its name")
async def get_skill_by_name(name: str, yard: TheYard, caller: Caller, response: Response) -> Success[SkillSchema]:
    """The skill of that name, compared without case: your own, else your teams', the system's, anyone's public one."""
    return _answer(await yard.registry.shelf.named(caller, name), response)


@router.get("/skills/by-name/{namespace}/{name:path}", summary="Read a skill by its full name")
async def get_skill_by_full_name(
    namespace: str, name: str, yard: TheYard, caller: Caller, response: Response
) -> Success[SkillSchema]:
    """The skill of that name in one namespace, compared without case."""
    return _answer(await yard.registry.shelf.named(caller, name, namespace), response)


@router.get("/skills/{skill_id}", summary="Read a skill")
async def get_skill(skill_id: str, yard: TheYard, caller: Caller, response: Response) -> Success[SkillSchema]:
    """A skill as it stands: its working copy, whether published or not. Its ETag is what an edit sends as If-Match."""
    return _answer(await yard.registry.shelf.get(caller, skill_id), response)


@router.put("/skills/{skill_id}", summary="Change a skill", responses=errors(409, 413))
async def update_skill(
    skill_id: str,
    body: SkillUpdate,
    yard: TheYard,
    caller: Caller,
    why: Reason,
    base: Base,
    response: Response,
) -> Success[SkillSchema]:
    """Set some fields, the body, all other files, or who may see it; what is not given stays.

    All of it happens or nothing does. New content and a new visibility are two entries of the history, each of which
    can be undone by itself. A request that changes nothing is answered with the skill and recorded nowhere.
    """
    present = await yard.registry.shelf.get(caller, skill_id) if body.is_public else None
    skill = await yard.registry.workbench.edit(
        caller,
        skill_id,
        fields=body.fields,
        body=body.content,
        files=body.bundle_files,
        visibility=wanted(body.is_public, body.visibility, present and present.visibility),
        base=base,
        why=why,
    )
    return _answer(skill, response)


@router.delete("/skills/{skill_id}", summary="Delete a skill", responses=errors(409))
async def delete_skill(skill_id: str, yard: TheYard, caller: Caller, why: Reason, base: Base) -> Success[Deleted]:
    """Take a skill away. Its versions stay reserved, and undoing the entry in the history brings it back."""
    await yard.registry.workbench.delete(caller, skill_id, base=base, why=why)
    return Success(data=Deleted(id=skill_id))


@router.put("/skills/{skill_id}/lock", summary="Lock a skill against learning")
async def lock_skill(
    skill_id: str, yard: TheYard, caller: Caller, why: Reason, response: Response
) -> Success[SkillSchema]:
    """Hold a skill: what is learned from feedback is only proposed for it, and waits for someone's word."""
    return _answer(await yard.registry.workbench.lock(caller, skill_id, locked=True, why=why), response)


@router.delete("/skills/{skill_id}/lock", summary="Unlock a skill")
async def unlock_skill(
    skill_id: str, yard: TheYard, caller: Caller, why: Reason, response: Response
) -> Success[SkillSchema]:
    """Let what is learned change a skill again, as far as the settings have it."""
    return _answer(await yard.registry.workbench.lock(caller, skill_id, locked=False, why=why), response)


@router.get("/skills/{skill_id}/format", summary="Read a skill as text")
async def format_skill(
    skill_id: str,
    yard: TheYard,
    caller: Caller,
    kind: Annotated[
        Literal["content", "structure"], Query(description="The whole skill as Markdown, or its files as a tree.")
    ] = "content",
    files: Annotated[bool, Query(description="With the contents of its files, not only their names.")] = True,
) -> Success[FormattedText]:
    """A skill written down for people."""
    skill = await yard.registry.shelf.get(caller, skill_id)
    bundle = await yard.registry.shelf.bundle(skill)

    def text() -> str:
        shown = ShownSkill(document=document_of(bundle, folder=skill.name), bundle=bundle)
        if kind == "structure":
            return SkillFormatter.format_skill_structure(shown)
        return SkillFormatter.format_skill_content(shown, include_file_contents=files)

    return Success(data=FormattedText(kind=kind, text=await asyncio.to_thread(text)))


def _wanted_tags(given: list[str]) -> list[str]:
    tags = [tag.strip() for one in given for tag in one.split(",") if tag.strip()]
    if len(tags) > _MAX_TAGS:
        raise InputError(
            f"{len(tags)} tags are asked for; at most {_MAX_TAGS} can be.",
            hint="Ask for fewer tags.",
            details={"field": "tags", "value": len(tags), "limit": _MAX_TAGS},
        )
    return tags


def _answer(skill: Skill, response: Response) -> Success[SkillSchema]:
    response.headers["ETag"] = etag_of_skill(skill)
    return Success(data=SkillSchema.of(skill))
