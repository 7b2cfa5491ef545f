"""Loading the skills of an environment again and again, and telling what changed in between."""

import os
import time
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from skillyard.config.paths import config_dir
from skillyard.errors import SkillyardError
from skillyard.library.beside import Beside, Stamp, look_beside
from skillyard.library.folder import FolderLibrary
from skillyard.library.regular import read_regular
from skillyard.library.switches import SwitchesFile, SwitchSource, WithSwitches
from skillyard.skill.limits import MAX_SKILL_MD_BYTES

if TYPE_CHECKING:
    from skillyard.skill.library import Problem, SkillEntry

YOUNG_NS: Final = 2_000_000_000
"""A file changed this recently may change again without its times showing it."""
_GONE: Final[Stamp] = (0, 0, 0)
"""Of a file that another thread's look no longer found; the next look of this one will tell."""


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
    """How a skill file looked: its stamp, and its content while that cannot be trusted yet."""

    stamp: Stamp
    digest: str = ""


class SkillLoader:
    """The skills in a folder that are on. One that cannot be read is left out and told in `problems`."""

    def __init__(self, skills_dir: str | Path, *, switches: SwitchSource | None = None) -> None:
        self.skills_dir = Path(skills_dir)
        self._folder = FolderLibrary(self.skills_dir)
        self.library = WithSwitches(
            self._folder,
            SwitchesFile(config_dir()) if switches is None else switches,
            root=self.skills_dir,
        )
        self.problems: tuple[Problem, ...] = ()
        self._entries: list[SkillEntry] = []
        self._known: dict[str, SkillInfo] = {}
        self._marks: dict[str, _Mark] = {}
        self._beside: dict[str, Beside] = {}

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
        stamps = self._folder.stamps()
        before, marks, beside = self._known, self._marks, self._beside
        entries = list(catalog.entries)
        if entries != self._entries:
            self._entries = entries
            self._known = {
                entry.id: SkillInfo(entry.id, entry.name, entry.description, entry.location) for entry in entries
            }
        self._marks, self._beside = {}, {}
        updated: list[SkillInfo] = []
        for skill_id, info in self._known.items():
            self._marks[skill_id], edited = _look(info.path, stamps.get(info.path, _GONE), marks.get(skill_id))
            known = beside.get(skill_id)
            around = look_beside(info.path.rpartition("/")[0], known)
            self._beside[skill_id] = around
            edited = edited or (known is not None and around.differs(known))
            if skill_id in before and (edited or before[skill_id] != info):
                updated.append(info)
        return Changes(
            added=tuple(info for info in self._known.values() if info.id not in before),
            removed=tuple(info for info in before.values() if info.id not in self._known),
            updated=tuple(updated),
        )


def _look(path: str, stamp: Stamp, before: _Mark | None) -> tuple[_Mark, bool]:
    """How the file looks now, and whether it was edited since."""
    if before is not None and before.stamp == stamp and not before.digest:
        return before, False
    settled = stamp[0] < time.time_ns() - YOUNG_NS
    if before is None and settled:
        return _Mark(stamp), False
    digest = _digest(path)
    edited = before is not None and (before.digest != digest if before.digest else before.stamp != stamp)
    return _Mark(stamp, "" if settled else digest), edited


def _digest(path: str) -> str:
    try:
        return sha256(read_regular(os.path.realpath(path), MAX_SKILL_MD_BYTES)).hexdigest()
    except SkillyardError:
        return ""
