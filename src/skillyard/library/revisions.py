"""Telling one state of a skill from the next, whichever of its files changed."""

import os
import time
from collections.abc import Iterable
from hashlib import sha256
from itertools import count
from typing import TYPE_CHECKING, Final, NamedTuple

from skillyard.errors import SkillyardError
from skillyard.library.beside import Beside, Stamp, look_beside
from skillyard.library.regular import read_regular
from skillyard.skill.library import SkillEntry
from skillyard.skill.limits import MAX_SKILL_MD_BYTES

if TYPE_CHECKING:
    from skillyard.library.folder import Stamps

YOUNG_NS: Final = 2_000_000_000
"""A file changed this recently may change again without its times showing it."""
_GONE: Final[Stamp] = (0, 0, 0)
"""Of a file that is no longer there; the next listing will tell."""


class _Mark(NamedTuple):
    """How a skill file looked: its stamp, and its content while that cannot be trusted yet."""

    stamp: Stamp
    digest: str = ""


class _State(NamedTuple):
    entry: SkillEntry
    mark: _Mark
    beside: Beside | int
    """The stamps of the other files or, after the first look, the time after which a change of them counts."""
    revision: int


class _Opened(NamedTuple):
    """The first look. Most folders are read once, so nothing is computed before a second look."""

    entries: list[SkillEntry]
    stamps: "Stamps"
    moment: int


class Revisions:
    """A number for each skill that is another one after any of its files changed; no two states share one."""

    def __init__(self) -> None:
        self._states: dict[str, _State] = {}
        self._opened: _Opened | None = None
        self._numbers = count(1)

    def look(self, entries: Iterable[SkillEntry], stamps: "Stamps | None" = None) -> dict[str, int]:
        """The numbers by id, for the skills as they are now. `stamps` are those of the skill files, if just taken."""
        listed = list(entries)
        settled = time.time_ns() - YOUNG_NS
        is_first = not self._states and not self._opened
        if is_first and stamps is not None and stamps.newest < settled:
            self._opened = _Opened(listed, stamps, settled)
            return dict(zip([entry.id for entry in listed], self._numbers, strict=False))
        before = self._before()
        looks = _looks(listed, stamps)
        now = {
            entry.id: self._look(entry, stamp, before.get(entry.id)) for entry, stamp in zip(listed, looks, strict=True)
        }
        self._states = now
        return {skill_id: state.revision for skill_id, state in now.items()}

    def _before(self) -> dict[str, _State]:
        opened, self._opened = self._opened, None
        if opened is None:
            return self._states
        looks = _looks(opened.entries, opened.stamps)
        return {
            entry.id: _State(entry, _Mark(stamp), opened.moment, number)
            for number, (entry, stamp) in enumerate(zip(opened.entries, looks, strict=True), 1)
        }

    def _look(self, entry: SkillEntry, stamp: Stamp, before: _State | None) -> _State:
        mark, edited = _look(entry.location, stamp, before.mark if before else None)
        beside = look_beside(entry.location.rpartition("/")[0], _known(before))
        if before is None:
            return _State(entry, mark, beside, next(self._numbers))
        if isinstance(before.beside, int):
            differs = beside.changed_since(before.beside)
        else:
            differs = beside.differs(before.beside)
        is_same = not edited and before.entry == entry and not differs
        return _State(entry, mark, beside, before.revision if is_same else next(self._numbers))


def _looks(entries: list[SkillEntry], stamps: "Stamps | None") -> list[Stamp]:
    if stamps is None:
        return [_stamp(entry.location) for entry in entries]
    taken = stamps.by_location()
    return [taken.get(entry.location, _GONE) for entry in entries]


def _known(before: _State | None) -> Beside | None:
    return before.beside if before is not None and isinstance(before.beside, Beside) else None


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


def file_state(path: str) -> tuple[int | str, ...]:
    """What is another one after a file changed: how it looks or, while that may not show a change, what is in it."""
    stamp = _stamp(path)
    return stamp if stamp[0] < time.time_ns() - YOUNG_NS else (_digest(path),)


def _stamp(path: str) -> Stamp:
    try:
        status = os.stat(path)  # noqa: PTH116 -- thousands of paths, all strings
    except (OSError, ValueError):
        return _GONE
    return status.st_ctime_ns, status.st_size, status.st_ino


def _digest(path: str) -> str:
    try:
        return sha256(read_regular(os.path.realpath(path), MAX_SKILL_MD_BYTES)).hexdigest()
    except SkillyardError:
        return ""
