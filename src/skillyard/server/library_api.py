"""The folder library over HTTP, read-only."""

from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, Query, Request, Response

from skillyard.app.reading import find_entry, read_skill
from skillyard.errors import NotFoundError
from skillyard.library.searching import SkillSearch
from skillyard.server.api.shapes import BEARER, errors
from skillyard.server.auth import not_kept, operator_only
from skillyard.server.models import SkillDetail, SkillSummary, Success, SuccessList
from skillyard.server.raw_files import file_response
from skillyard.skill.library import Library

router = APIRouter(
    prefix="/api/v1/library",
    tags=["library"],
    responses=errors(),
    dependencies=[BEARER, Depends(operator_only), Depends(not_kept)],
)


def _library(request: Request) -> Library:
    return request.app.state.library


def _search(request: Request) -> SkillSearch:
    return request.app.state.search


Source = Annotated[Library, Depends(_library)]
Search = Annotated[SkillSearch, Depends(_search)]


@router.get("/skills")
def list_skills(
    library: Source,
    search: Search,
    q: Annotated[str, Query(max_length=2000, description="Find skills for this; empty lists all.")] = "",
    limit: Annotated[int, Query(ge=1, le=1000, description="At most so many.")] = 100,
) -> SuccessList[SkillSummary]:
    """The skills in reach, ordered by id, or by how well they fit the query."""
    if q.strip():
        found = search.search(q, limit=limit)
        skills = [SkillSummary(**match.entry._asdict(), score=match.score) for match in found.best]
        return SuccessList(data=skills, total=found.total)
    entries = library.catalog().entries
    return SuccessList(data=[SkillSummary(**entry._asdict()) for entry in entries[:limit]], total=len(entries))


@router.get("/skills/{skill_id}")
def get_skill(skill_id: str, library: Source) -> Success[SkillDetail]:
    """One skill: its document, its files and the findings about it."""
    view: dict[str, Any] = read_skill(library, skill_id).as_dict()
    return Success(data=SkillDetail(**view))


@router.get("/skills/{skill_id}/files/{path:path}", response_class=Response)
def get_file(skill_id: str, path: str, library: Source) -> Response:
    """The bytes of one file, never as something a browser would run."""
    entry = find_entry(library, skill_id)
    file = library.bundle(entry).get(path)
    if file is None:
        raise NotFoundError(
            f"The skill {entry.id!r} has no file {path!r}.",
            hint=f"/api/v1/library/skills/{quote(entry.id)} lists its files.",
            details={"skill": entry.id, "path": path},
        )
    return file_response(file.data, path)
