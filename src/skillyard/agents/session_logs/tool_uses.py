"""What tells of a skill's use in the calls of any agent, and calls that are still open."""

import posixpath
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final, Generic, TypeVar

from skillyard.agents.session_logs.json_access import text
from skillyard.agents.session_logs.log_events import How, SkillUse
from skillyard.agents.session_logs.skill_paths import skill_files_read, skill_named_by

T = TypeVar("T")
_MOST: Final = 100
_SERVERS: Final = frozenset({"load_skill", "read_skill_document", "skill"})
_NAMED: Final = ("skill", "name", "skill_name", "skill_id", "id")


class OpenCalls(Generic[T]):
    """Calls that something more may be told of; of very many, the oldest are given up."""

    def __init__(self) -> None:
        self._calls: dict[str, T] = {}

    def __contains__(self, own_id: str) -> bool:
        return own_id in self._calls

    def put(self, own_id: str, call: T) -> None:
        if len(self._calls) >= _MOST:
            del self._calls[next(iter(self._calls))]
        self._calls[own_id] = call

    def pop(self, own_id: str) -> T | None:
        return self._calls.pop(own_id, None)


def read_use(own_id: str, path: str, session: str, at: datetime, folder: str) -> SkillUse:
    """A `SKILL.md` that was read, by a path that may be relative to a folder."""
    whole = path if path.startswith("~") else posixpath.join(folder, path)
    return SkillUse(id=own_id, name=skill_named_by(path), how=How.READ, session=session, at=at, path=whole)


def uses_in_command(own_id: str, command: str, session: str, at: datetime, folder: str) -> Iterator[SkillUse]:
    """The skills whose text a command showed."""
    for number, path in enumerate(skill_files_read(command)):
        yield read_use(f"{own_id}/{number}", path, session, at, folder)


def served_use(own_id: str, tool: str, given: Mapping[str, Any], session: str, at: datetime) -> SkillUse | None:
    """The skill that a tool of a skill server gave, if it is such a tool."""
    if "__" not in tool or tool.rpartition("__")[2] not in _SERVERS:
        return None
    name = next((text(given.get(key)) for key in _NAMED if text(given.get(key))), "")
    return SkillUse(id=own_id, name=name, how=How.SERVED, session=session, at=at) if name else None
