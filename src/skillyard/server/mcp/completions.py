"""What a client may write next: the ids of skills, and the paths of their files."""

from collections.abc import Iterable, Mapping
from typing import Final

from mcp_types import CompleteRequestParams, CompleteResult, Completion, ResourceTemplateReference

from skillyard.agents.source import SkillSource
from skillyard.server.mcp.manifests import files_of
from skillyard.server.mcp.uris import TEMPLATE

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
        return source.snapshot()
    found = source.find(given.get("skill", "")) if argument == "path" else None
    return files_of(source, found) if found is not None else ()


def _fitting(written: str, candidates: Iterable[str]) -> list[str]:
    """Those that begin like that, then those that hold it, each by name."""
    folded = written.casefold()
    holding = sorted(value for value in candidates if folded in value.casefold())
    return sorted(holding, key=lambda value: not value.casefold().startswith(folded))
