"""Loading the skills of an environment again and again, and telling what changed in between."""

import os
import time
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from skillyard.config.paths import config_dir
from skillyard.errors import SkillyardError
from skillyard.library.folder import FolderLibrary
from skillyard.library.regular import read_regular
from skillyard.library.switches import SwitchesFile, SwitchSource, WithSwitches
from skillyard.skill.limits import MAX_SKILL_MD_BYTES

if TYPE_CHECKING:
    from skillyard.skill.library import Problem, SkillEntry

YOUNG_NS: Final = 2_000_000_000
"""A file changed this recently may change again without its times showing it."""


class SkillInfo(NamedTuple):
    """What an environment tells of a skill."""

    id: str
    """The name of its folder."""
    name: str
    description: str
    path: str
    """The absolute path of its `skill.md` or `SKILL.md`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Changes:
    """What is different since the last look."""

    added: tuple[SkillInfo, ...] = ()
    removed: tuple[SkillInfo, ...] = ()
    updated: tuple[SkillInfo, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.updated)


class _Mark(NamedTuple):
    """How a skill file looked: its times and size, and its content while the times cannot be trusted yet."""

    stat: tuple[int, int, int, int]
    digest: str = ""


class SkillLoader:
    """The skills in a folder that are on. One that cannot be read is left out and told in `problems`."""

    def __init__(self, skills_dir: str | Path, *, switches: SwitchSource | None = None) -> None:
        self.skills_dir = Path(skills_dir)
        self.library = WithSwitches(
            FolderLibrary(self.skills_dir),
            SwitchesFile(config_dir()) if switches is None else switches,
            root=self.skills_dir,
        )
        self.problems: tuple[Problem, ...] = ()
        self._entries: list[SkillEntry] = []
        self._known: dict[str, SkillInfo] = {}
        self._marks: dict[str, _Mark] = {}

    def load_all(self) -> list[SkillInfo]:
        """All skills, by id. Quick when little changed since the last call."""
        self.refresh()
        return list(self.known)

    @property
    def known(self) -> tuple[SkillInfo, ...]:
        """The skills as they were at the last look."""
        return tuple(self._known.values())

    def refresh(self) -> Changes:
        """Look again, and tell what is different; a change of the instructions alone is one too."""
        catalog = self.library.catalog()
        self.problems = tuple(catalog.problems)
        before, marks = self._known, self._marks
        entries = list(catalog.entries)
        if entries != self._entries:
            self._entries = entries
            self._known = {
                entry.id: SkillInfo(entry.id, entry.name, entry.description, entry.location) for entry in entries
            }
        self._marks = {}
        updated: list[SkillInfo] = []
        for info in self._known.values():
            self._marks[info.id], edited = _look(info.path, marks.get(info.id))
            if info.id in before and (edited or before[info.id] != info):
                updated.append(info)
        return Changes(
            added=tuple(info for info in self._known.values() if info.id not in before),
            removed=tuple(info for info in before.values() if info.id not in self._known),
            updated=tuple(updated),
        )


def _look(path: str, before: _Mark | None) -> tuple[_Mark, bool]:
    """How the file looks now, and whether it was edited since."""
    try:
        status = os.stat(path)  # noqa: PTH116 -- thousands of paths, all strings
    except OSError:
        return _Mark((0, 0, 0, 0)), before is not None
    stat = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
    if before is not None and before.stat == stat and not before.digest:
        return before, False
    settled = max(status.st_mtime_ns, status.st_ctime_ns) < time.time_ns() - YOUNG_NS
    if before is None and settled:
        return _Mark(stat), False
    digest = _digest(path)
    edited = before is not None and (before.digest != digest if before.digest else before.stat != stat)
    return _Mark(stat, "" if settled else digest), edited


def _digest(path: str) -> str:
    try:
        return sha256(read_regular(os.path.realpath(path), MAX_SKILL_MD_BYTES)).hexdigest()
    except SkillyardError:
        return ""
