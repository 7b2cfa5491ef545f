"""The addresses of skills and their files: `skill://<path>/<name>/<file>`."""

from collections.abc import Iterator
from typing import Final, NamedTuple
from urllib.parse import quote, unquote_to_bytes

from skillyard.agents.source import Found, SkillSource
from skillyard.skill.bundle import SKILL_FILE

SCHEME: Final = "skill://"
TEMPLATE: Final = "skill://{+skill}/{+path}"
_RENAMED: Final = "~"
"""Before the id of a skill that has another name: no name begins like that."""


class Place(NamedTuple):
    """What an address leads to: a skill, and a path in it, which is empty for the skill's own folder."""

    skill: Found
    path: str


def skill_uri(found: Found) -> str:
    """The address of a skill's folder; its last part is the name that the skill gives itself."""
    return f"{SCHEME}{skill_part(found)}"


def skill_part(found: Found) -> str:
    """The part of an address that says which skill it is."""
    *prefix, last = found.id.split("/")
    is_plain = last == found.name and not found.id.startswith(_RENAMED)
    parts = [*prefix, last] if is_plain else [f"{_RENAMED}{found.id}", found.name]
    return "/".join(map(_quoted, parts))


def file_uri(found: Found, path: str = SKILL_FILE) -> str:
    """The address of a file or folder in a skill."""
    return "/".join([skill_uri(found), *map(_quoted, path.split("/"))])


def places(source: SkillSource, uri: str) -> Iterator[Place]:
    """What an address may lead to: the skill with the shortest path first, which no other can stand in for.

    Whether there is a file of that path is not looked at.
    """
    parts = _parts(uri)
    if not parts:
        return
    if parts[0].startswith(_RENAMED):
        found = source.find(parts[0][len(_RENAMED) :])
        if found is not None and skill_uri(found) == SCHEME + "/".join(map(_quoted, parts[:2])):
            yield Place(found, "/".join(parts[2:]))
        return
    for length in range(1, min(len(parts), _DEEPEST) + 1):
        wanted = "/".join(parts[:length])
        found = source.find(wanted)
        # Sources also find by other names; an address means one skill.
        if found is not None and found.id == wanted and found.id.split("/")[-1] == found.name:
            yield Place(found, "/".join(parts[length:]))


def skill_ids_in(uri: str) -> set[str]:
    """The ids of skills that an address may lead to, whether they are there or not."""
    parts = _parts(uri)
    if parts and parts[0].startswith(_RENAMED):
        return {parts[0][len(_RENAMED) :]}
    return {"/".join(parts[:length]) for length in range(1, min(len(parts), _DEEPEST) + 1)}


_DEEPEST: Final = 2
"""A skill of a yard has a namespace and a name."""


def _parts(uri: str) -> list[str]:
    """The parts of an address, decoded; none when it cannot be one of a skill."""
    if not uri.startswith(SCHEME):
        return []
    parts: list[str] = []
    for part in uri[len(SCHEME) :].split("/"):
        text = unquote_to_bytes(part.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogateescape")
        if text in {"", ".", ".."} or "/" in text or "\0" in text:
            return []
        parts.append(text)
    return parts


def _quoted(part: str) -> str:
    # A file name need not be UTF-8.
    return quote(part.encode("utf-8", "surrogateescape"), safe="")
