"""Loading the skills of an environment again and again, and telling what changed in between."""

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from skillyard.config.paths import config_dir
from skillyard.errors import SkillyardError
from skillyard.library.folder import FolderLibrary
from skillyard.library.regular import read_regular
from skillyard.library.switches import SwitchesFile, SwitchSource, WithSwitches
from skillyard.skill.bundle import left_out_part
from skillyard.skill.limits import MAX_SKILL_MD_BYTES, SKILL_FILE_NAMES

if TYPE_CHECKING:
    from skillyard.skill.library import Problem, SkillEntry

YOUNG_NS: Final = 2_000_000_000
"""A file changed this recently may change again without its times showing it."""
MAX_FILES: Final = 1_000
"""The files of one skill that a look takes in."""


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
    beside: int = 0
    """The hash of the paths, times and sizes of the other files of the skill."""


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
        """Look again, and tell what is different; a change of any file of a skill is one too."""
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
            known = marks.get(info.id)
            mark, edited = _look(info.path, known)
            beside = _beside(os.path.dirname(info.path))  # noqa: PTH120 -- thousands of paths, all strings
            self._marks[info.id] = mark._replace(beside=beside)
            edited = edited or (known is not None and known.beside != beside)
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


def _beside(folder: str) -> int:
    """What the disk says of the files of a skill other than its `SKILL.md`, as one number."""
    found: list[tuple[str, int, int, int]] = []
    waiting = [folder]
    while waiting and len(found) < MAX_FILES:
        try:
            with os.scandir(waiting.pop()) as scan:
                entries = list(scan)
        except OSError:
            continue
        for entry in entries:
            if left_out_part(entry.name) or entry.name in SKILL_FILE_NAMES:
                continue
            if entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
            else:
                with suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    found.append((entry.path, status.st_ctime_ns, status.st_size, status.st_ino))
    return hash(tuple(sorted(found)))


def _digest(path: str) -> str:
    try:
        return sha256(read_regular(os.path.realpath(path), MAX_SKILL_MD_BYTES)).hexdigest()
    except SkillyardError:
        return ""
