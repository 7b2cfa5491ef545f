"""What is in a folder of a skill: its files, and the folders below it."""

from collections.abc import Iterable
from dataclasses import dataclass

from skillyard.agents.source import SkillFile, SkillSource
from skillyard.errors import InputError
from skillyard.server.mcp.errors import no_resource
from skillyard.server.mcp.manifests import files_of
from skillyard.server.mcp.media_types import FOLDER, media_type
from skillyard.server.mcp.uris import Place, file_uri, places


@dataclass(frozen=True, kw_only=True, slots=True)
class Child:
    """A file or folder that is directly in another."""

    uri: str
    name: str
    mime_type: str
    size: int | None = None


def children_at(source: SkillSource, uri: str) -> list[Child]:
    """Every direct child of the folder at an address, by name; a slash at the end changes nothing."""
    is_file = False
    for place in places(source, uri.removesuffix("/")):
        files = files_of(source, place.skill)
        found = _children(place, files.items())
        if found or not place.path:
            return found
        is_file = is_file or place.path in files
    if is_file:
        raise InputError(
            f"{uri!r} is a file, and no folder.", hint="Read it with resources/read.", details={"uri": uri}
        )
    raise no_resource(uri)


def _children(place: Place, files: Iterable[tuple[str, SkillFile]]) -> list[Child]:
    prefix = f"{place.path}/" if place.path else ""
    children: dict[str, Child] = {}
    for path, file in files:
        if not path.startswith(prefix):
            continue
        name, _, below = path[len(prefix) :].partition("/")
        uri = file_uri(place.skill, f"{prefix}{name}")
        children[name] = (
            Child(uri=uri, name=name, mime_type=FOLDER)
            if below
            else Child(uri=uri, name=name, mime_type=media_type(name), size=file.size)
        )
    return [children[name] for name in sorted(children)]
