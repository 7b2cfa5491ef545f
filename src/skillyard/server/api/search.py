"""Searching the skills that the caller may see."""

from typing import Annotated, Final

from fastapi import APIRouter, Query, Request

from skillyard.registry.search_documents import Narrowed, Stage
from skillyard.registry.skills import Visibility
from skillyard.search.index import MAX_HITS
from skillyard.server.api.caller import Caller, TheYard
from skillyard.server.api.search_schemas import FoundSkillSchema, FoundSkillsSchema
from skillyard.server.api.shapes import BEARER, errors
from skillyard.server.auth import not_kept

router = APIRouter(prefix="/api/v1", tags=["search"], responses=errors(503), dependencies=[BEARER])

_MAX_TAGS: Final = 20


@router.get("/search", summary="Find skills by what they do")
async def search_skills(
    request: Request,
    yard: TheYard,
    caller: Caller,
    q: Annotated[str, Query(description="What the skill should do: some words, or a whole task, in any language.")],
    namespace: Annotated[str | None, Query(description="Only the skills of this person or team.")] = None,
    tag: Annotated[list[str], Query(max_length=_MAX_TAGS, description="All of these: `tag=a&tag=b`.")] = [],  # noqa: B006
    visibility: Annotated[Visibility | None, Query(description="Only what is shown like this.")] = None,
    stage: Annotated[Stage | None, Query(description="Only skills whose versions have come so far.")] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_HITS, description="At most so many.")] = 10,
) -> FoundSkillsSchema:
    """The skills that fit a query, best first; none when nothing is relevant.

    Names, descriptions, tags and texts of the working copies are searched, of what you may see and of nothing else.
    """
    narrowed = Narrowed(namespace=namespace, tags=tuple(tag), visibility=visibility, stage=stage)
    found = await yard.search.search(caller, q, narrowed=narrowed, limit=limit)
    if not found.is_fresh:
        await not_kept(request)
    return FoundSkillsSchema(
        data=[FoundSkillSchema.of_found(one) for one in found.best], total=found.total, is_more=found.is_more
    )
