"""The Skills extension of MCP (SEP-2640): listing skills, getting one, and looking into folders."""

from typing import Any

from mcp_types import PaginatedRequestParams, RequestParams, Resource

from skillyard.agents.source import SkillSource
from skillyard.errors import InputError
from skillyard.server.mcp.directories import children_at
from skillyard.server.mcp.errors import no_resource
from skillyard.server.mcp.introduction import FRESH
from skillyard.server.mcp.manifests import Manifests, manifest_of
from skillyard.server.mcp.uris import places
from skillyard.skill.bundle import SKILL_FILE


class GetSkillParams(RequestParams):
    """Which skill: the address of its `SKILL.md`."""

    uri: str


class ReadDirectoryParams(PaginatedRequestParams):
    """Which folder."""

    uri: str


def list_skills(source: SkillSource, manifests: Manifests, cursor: str | None) -> dict[str, Any]:
    """A page of skills with everything a host needs to show, approve and verify them.

    Skills that no host would take are left out; a page may therefore be short, or empty and not the last.
    """
    page = source.page(cursor or "")
    answer = {**FRESH, "skills": manifests.listed(page.skills)}
    return {**answer, "nextCursor": page.next_cursor} if page.next_cursor else answer


def get_skill(source: SkillSource, uri: str) -> dict[str, Any]:
    """The entry of one skill, whether it was listed or not."""
    for place in places(source, uri):
        if place.path == SKILL_FILE:
            return {**FRESH, "skill": manifest_of(source, place.skill)}
    raise no_resource(uri)


def read_directory(source: SkillSource, uri: str, cursor: str | None) -> dict[str, Any]:
    """The direct children of a folder, all on one page: a skill has few enough files."""
    if cursor:
        raise InputError(
            "A folder is listed on one page, so there is no cursor into it.",
            hint="Ask without a cursor.",
            details={"field": "cursor"},
        )
    children = [
        Resource(uri=child.uri, name=child.name, mime_type=child.mime_type, size=child.size)
        for child in children_at(source, uri)
    ]
    return {
        **FRESH,
        "resources": [child.model_dump(mode="json", by_alias=True, exclude_none=True) for child in children],
    }
