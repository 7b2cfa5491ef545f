"""The skills of a source as folders, for agents that know nothing but files."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from skillyard.agents.source import MAX_PAGE, Found, SkillSource
from skillyard.errors import FileMissingError, InvalidPathError
from skillyard.skill.folder_names import folder_name
from skillyard.skill.paths import printable

APART: Final = "--"
"""Between namespace and name, where a name alone would mean two skills: no valid name holds it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SkillPath:
    """What a path names: everything (no skill), a skill (nothing inside), or something in a skill."""

    folder: str = ""
    skill: Found | None = None
    inside: str = ""
    """Relative to the folder of the skill."""


class SkillFolders:
    """A folder for each skill, called like the skill; with its namespace where another has the same name.

    `only` names the skills that are there, all of them if it is None.
    """

    def __init__(self, source: SkillSource, *, only: Sequence[str] | None = None) -> None:
        self._source = source
        self._only = None if only is None else tuple(only)
        self._lock = threading.Lock()
        self._known: tuple[str, Mapping[str, Found]] | None = None

    def all(self) -> Mapping[str, Found]:
        """Every skill by its folder. Looked up again only when the source says that something changed."""
        # The stamp first: a change that comes between makes the answer younger than its stamp, never older.
        stamp = self._source.stamp()
        with self._lock:
            if self._known is None or self._known[0] != stamp:
                self._known = stamp, self._named(self._skills())
            return self._known[1]

    def at(self, path: str, known: Mapping[str, Found] | None = None) -> SkillPath:
        """What is at an absolute path. `known`, where many paths are asked for, saves asking for each skill."""
        parts = _parts(path)
        if not parts:
            return SkillPath()
        for length in (1, 2):  # `/pdf/…`, and `/team/pdf/…` as catalogs name it
            found = self._skill(parts[:length], known) if len(parts) >= length else None
            if found is not None:
                return SkillPath(folder="/".join(parts[:length]), skill=found, inside="/".join(parts[length:]))
        raise missing(path)

    def _skill(self, parts: Sequence[str], known: Mapping[str, Found] | None) -> Found | None:
        folder = "/".join(parts)
        if known is not None and folder in known:
            return known[folder]
        found = self._source.find(folder)
        if found is None and len(parts) == 1:
            found = self._source.find(folder.replace(APART, "/", 1)) if APART in folder else None
            found = found or (self.all() if known is None else known).get(folder)
        return found if found is not None and self._is_shown(found) else None

    def _is_shown(self, skill: Found) -> bool:
        return self._only is None or any(skill.id == each.id for each in self.all().values())

    def _skills(self) -> Iterator[Found]:
        if self._only is not None:
            picked = [found for found in map(self._source.find, self._only) if found is not None]
            yield from {each.id: each for each in picked}.values()
            return
        cursor = ""
        while True:
            page = self._source.page(cursor, MAX_PAGE)
            yield from page.skills
            cursor = page.next_cursor
            if not cursor:
                return

    def _named(self, skills: Iterator[Found]) -> dict[str, Found]:
        by_name: dict[str, list[Found]] = {}
        for skill in skills:
            by_name.setdefault(folder_of(skill), []).append(skill)
        named: dict[str, Found] = {}
        for name, group in by_name.items():
            first = self._source.find(name) if len(group) > 1 else group[0]
            for skill in group:
                plain = first is not None and skill.id == first.id
                named[name if plain else skill.id.replace("/", APART)] = skill
        return dict(sorted(named.items()))


def missing(path: str) -> FileMissingError:
    return FileMissingError(
        f"There is no {printable(path)!r} among the skills.", hint="List the folder above it to see what there is."
    )


def folder_of(skill: Found) -> str:
    """What the folder of a skill is called if no other has that name."""
    return folder_name(skill.id.rpartition("/")[2])


def _parts(path: str) -> list[str]:
    parts = [part for part in path.split("/") if part not in {"", "."}]
    if ".." in parts or "\0" in path or "\\" in path:
        raise InvalidPathError(
            f"{printable(path)!r} is no path of a skill.",
            hint="Give the path as it was listed, without '..'.",
            details={"field": "path", "value": path[:200]},
        )
    return parts
