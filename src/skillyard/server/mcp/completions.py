"""What a client may write next in an address: which skill, and which of its files."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from mcp_types import CompleteRequestParams, CompleteResult, Completion, ResourceTemplateReference

from skillyard.agents.source import MAX_PAGE, Found, SkillSource
from skillyard.server.mcp.manifests import files_of
from skillyard.server.mcp.uris import SCHEME, TEMPLATE, places, skill_part

MOST: Final = 100


def completed(source: SkillSource, params: CompleteRequestParams) -> CompleteResult:
    """The values that fit what is written; none for what cannot be known."""
    argument = params.argument
    given = (params.context.arguments if params.context else None) or {}
    values: list[str] = []
    if isinstance(params.ref, ResourceTemplateReference) and params.ref.uri == TEMPLATE:
        values = _fitting(argument.value, _candidates(source, argument.name, given))
    return CompleteResult(completion=Completion(values=values[:MOST], total=len(values), has_more=len(values) > MOST))


def _candidates(source: SkillSource, argument: str, given: Mapping[str, str]) -> Iterable[str]:
    if argument == "skill":
        return map(skill_part, _all(source))
    place = next(places(source, f"{SCHEME}{given.get('skill', '')}"), None) if argument == "path" else None
    return files_of(source, place.skill) if place is not None and not place.path else ()


def _all(source: SkillSource) -> Iterator[Found]:
    cursor = ""
    while True:
        page = source.page(cursor, MAX_PAGE)
        yield from page.skills
        cursor = page.next_cursor
        if not cursor:
            return


def _fitting(written: str, candidates: Iterable[str]) -> list[str]:
    """Those that begin like that, then those that hold it, each by name."""
    folded = written.casefold()
    holding = sorted(value for value in candidates if folded in value.casefold())
    return sorted(holding, key=lambda value: not value.casefold().startswith(folded))
