"""Which skills were really used, as the logs tell, and which never: held against the skills that are on disk."""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from skillyard.agents.session_logs.log_events import How, SkillUse
from skillyard.library.disk import read_folder
from skillyard.skill.document import parse
from skillyard.skill.library import SkillEntry

MAX_USES: Final = 50_000
"""That are told apart; of more, the rest is only counted as left out."""
MAX_UNKNOWN: Final = 5_000
"""Skills that are not in reach from here."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OnDisk:
    """What is in a skill's folder now."""

    digest: str
    version: str
    """As the skill states it; empty if it does not."""
    changed_at: datetime
    """When its newest file was changed."""


@dataclass(kw_only=True, slots=True)
class UsedSkill:
    """A skill that was used, with its uses in the order in which they were read."""

    id: str
    entry: SkillEntry | None
    """None for one that is not in reach from here."""
    location: str
    """Its `SKILL.md`, if it is known where that is."""
    uses: list[tuple[str, SkillUse]] = field(default_factory=list[tuple[str, SkillUse]])
    """Each with its agent."""

    @property
    def agents(self) -> list[str]:
        return sorted({agent for agent, _ in self.uses})

    @property
    def sessions(self) -> int:
        return len({(agent, use.session) for agent, use in self.uses})

    @property
    def last_used_at(self) -> datetime:
        return max(use.at for _, use in self.uses)

    @property
    def how(self) -> dict[str, int]:
        return dict(Counter(use.how.value for _, use in self.uses))

    def on_disk(self) -> OnDisk | None:
        """Its folder as it is now; None where it cannot be read."""
        return look(self.location) if self.location else None


class SkillTally:
    """Takes uses one by one, each once."""

    def __init__(self, entries: Sequence[SkillEntry], *, home: Path) -> None:
        self._entries = entries
        self._home = home
        self._by_path = {os.path.realpath(entry.location): entry for entry in entries}
        self._by_name: dict[str, SkillEntry] = {}
        for entry in reversed(entries):
            self._by_name[entry.name.casefold()] = entry
        for entry in entries:
            self._by_name[entry.id.casefold()] = entry
        self._used: dict[str, UsedSkill] = {}
        self._places: dict[tuple[str, str], str] = {}
        """Where each use was counted."""
        self.left_out = 0

    def add(self, agent: str, use: SkillUse) -> None:
        """Count a use; one that is told again may say more of where the skill is."""
        key = (agent, use.id)
        place = self._places.get(key)
        if use.how is How.MISSED:
            if place is not None:
                self._forget(place, key)
            return
        if place is not None:
            if not use.path or self._path(use.path) == self._path(self._used[place].location):
                return
            self._forget(place, key)
        elif len(self._places) >= MAX_USES:
            self.left_out += 1
            return
        used = self._skill(use)
        if used is None:
            return
        used.uses.append((agent, use))
        self._places[key] = _place(used.entry, used.location, used.id)

    def used(self) -> list[UsedSkill]:
        """The skills that were used, the most used first."""
        return sorted(self._used.values(), key=lambda used: (-len(used.uses), used.id, used.location))

    def never_used(self) -> list[SkillEntry]:
        """The skills in reach from here that no log tells of."""
        seen = {used.entry.location for used in self._used.values() if used.entry is not None}
        return [entry for entry in self._entries if entry.location not in seen]

    def _skill(self, use: SkillUse) -> UsedSkill | None:
        name = use.name.rpartition(":")[2].casefold()  # a plugin's skill is called `plugin:skill`
        path = self._path(use.path) if use.path else ""
        entry = self._by_path.get(path)
        if entry is None and not path:
            entry = self._by_name.get(name)
        if entry is None and use.how is How.TYPED and not path:
            return None  # some command of the agent's own
        location = entry.location if entry else path if path and Path(path).is_file() else ""
        if entry is None and not location and (near := self._by_name.get(name)) is not None:
            entry, location = near, near.location  # it was elsewhere then, and is no longer there
        place = _place(entry, location, name)
        if place not in self._used:
            if entry is None and len(self._used) >= len(self._entries) + MAX_UNKNOWN:
                self.left_out += 1
                return None
            self._used[place] = UsedSkill(id=entry.id if entry else name, entry=entry, location=location)
        return self._used[place]

    def _forget(self, place: str, key: tuple[str, str]) -> None:
        used = self._used[place]
        used.uses = [each for each in used.uses if (each[0], each[1].id) != key]
        del self._places[key]
        if not used.uses:
            del self._used[place]

    def _path(self, path: str) -> str:
        # What stands in a log may be no path at all.
        if path == "~" or path.startswith("~/"):
            path = f"{self._home}{path[1:]}"
        try:
            return os.path.realpath(path)
        except (OSError, ValueError):
            return ""


def look(location: str) -> OnDisk | None:
    """A skill's folder as it is now."""
    folder = Path(location).parent
    bundle = read_folder(folder).bundle
    if bundle is None:
        return None
    newest, version = 0.0, ""
    for file in bundle:
        try:
            newest = max(newest, (folder / file.path).stat().st_mtime)
        except OSError:
            return None
        if file.path.lower() == "skill.md":
            document = parse(file.data, folder=folder.name).document
            stated = document and (document.metadata.get("version") or document.fields.get("version"))
            version = str(stated) if stated else ""
    return OnDisk(digest=bundle.digest, version=version, changed_at=datetime.fromtimestamp(newest, UTC))


def _place(entry: SkillEntry | None, location: str, name: str) -> str:
    return entry.location if entry else location or f"?{name}"
