"""Telling one state of a skill from the next, whichever of its files changed."""

import os
import time
from collections.abc import Iterable, Mapping
from hashlib import sha256
from itertools import count
from typing import Final, NamedTuple

from skillyard.errors import SkillyardError
from skillyard.library.beside import Beside, Stamp, look_beside
from skillyard.library.regular import read_regular
from skillyard.skill.library import SkillEntry
from skillyard.skill.limits import MAX_SKILL_MD_BYTES

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
    beside: Beside
    revision: int


class Revisions:
    """A number for each skill that is another one after any of its files changed; no two states share one."""

    def __init__(self) -> None:
        self._states: dict[str, _State] = {}
        self._numbers = count(1)

    def look(self, entries: Iterable[SkillEntry], stamps: Mapping[str, Stamp] | None = None) -> dict[str, int]:
        """The numbers by id, as the skills are now. `stamps` are those of skill files, by location, if just taken."""
        before, now = self._states, dict[str, _State]()
        for entry in entries:
            stamp = _stamp(entry.location) if stamps is None else stamps.get(entry.location, _GONE)
            now[entry.id] = self._look(entry, stamp, before.get(entry.id))
        self._states = now
        return {skill_id: state.revision for skill_id, state in now.items()}

    def _look(self, entry: SkillEntry, stamp: Stamp, before: _State | None) -> _State:
        mark, edited = _look(entry.location, stamp, before.mark if before else None)
        beside = look_beside(entry.location.rpartition("/")[0], before.beside if before else None)
        if before is not None and not edited and before.entry == entry and not beside.differs(before.beside):
            revision = before.revision
        else:
            revision = next(self._numbers)
        return _State(entry, mark, beside, revision)


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
