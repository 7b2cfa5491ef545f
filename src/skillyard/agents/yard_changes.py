"""Following what changes among the skills that a caller of a yard may see."""

import threading
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

from skillyard.errors import NotFoundError
from skillyard.remote.client import YardClient

_SKILL: Final = "skill"
_WITHOUT_SKILLS: Final = frozenset(
    {"agent", "candidate", "feedback_source", "memory", "proposal", "release", "rule", "session", "token"}
)
"""Kinds of things whose changes are no change to who sees which skill. Any other kind may be one."""
_FEW: Final = 50
"""So many skills are asked for one by one; when more changed, all are listed again."""


class YardChanges:
    """The states of all skills in sight, kept by the yard's change feed: what did not change is not asked for again."""

    def __init__(self, client: YardClient) -> None:
        self._client = client
        self._lock = threading.Lock()
        self._since: int | None = None
        self._number = 0
        self._touched: set[str] | None = None
        """The keys of skills that changed since the states were read; None: read them all."""
        self._states: dict[str, tuple[str, str]] = {}
        self._by_name: dict[str, str] = {}

    def stamp(self) -> str:
        """A token that is another one after any change to what is in sight."""
        with self._lock:
            self._follow()
            return str(self._number)

    @property
    def were_read(self) -> bool:
        """Whether the states were read before, so that reading them again costs little."""
        return self._touched is not None

    def states(self) -> Mapping[str, str]:
        """By full name, what tells one state of a skill from another."""
        with self._lock:
            self._follow()
            touched = self._touched
            if touched is None or len(touched) > _FEW:
                self._states = {skill["id"]: _state(skill) for skill in self._client.skills()}
            else:
                for key in touched:
                    self._read(key)
            if touched is None or touched:
                self._by_name = dict(sorted(self._states.values()))
                # Only now: a reading that breaks off is begun again.
                self._touched = set()
            return self._by_name

    def _read(self, key: str) -> None:
        try:
            self._states[key] = _state(self._client.skill(key))
        except NotFoundError:
            self._states.pop(key, None)

    def _follow(self) -> None:
        if self._since is None:
            newest = self._client.history(limit=1)
            since: int = newest[0]["number"] if newest else 0
        else:
            since = self._since
        while True:
            page = self._client.changes(since)
            for change in page["changes"]:
                self._take(change["subject"])
            is_last = page["next"] == since
            self._since = since = page["next"]
            if is_last:
                return

    def _take(self, subject: dict[str, Any]) -> None:
        if subject["kind"] in _WITHOUT_SKILLS:
            return
        self._number += 1
        if subject["kind"] != _SKILL:
            self._touched = None
        elif self._touched is not None:
            self._touched.add(subject["id"])


def _state(skill: dict[str, Any]) -> tuple[str, str]:
    """The full name of a skill, and what changes when other bytes are shipped or it is described otherwise."""
    shipped = f"version {skill['latest']}" if skill["latest"] else skill["digest"]
    told = sha256(skill["description"].encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return skill["full_name"], f"{shipped} {told}"
