"""What a change is, as every room records it and every reader sees it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

MAX_ENTRIES: Final = 200
"""Entries that are told at once."""


class Outcome(StrEnum):
    DONE = "done"
    REFUSED = "refused"
    """An attempt that carried content and was turned down: nothing changed, but what was sent is kept."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Actor:
    """Who changes something."""

    tenant_id: str
    name: str
    id: str | None = None
    """None: the yard itself."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Why:
    """What the one who changes something says about it."""

    reason: str = ""
    feedback: str = ""
    """The words of the person whose feedback led to the change."""
    request_id: str = ""
    allow_risky: bool = False
    """Whether serious findings of the scan are accepted, for that reason."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """What a change is about."""

    kind: str
    id: str
    label: str
    audience: str
    """Who may know of the change: one of the keys that a principal holds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """A change that a room is about to record."""

    action: str
    subject: Subject
    before: Mapping[str, Any] | None = None
    after: Mapping[str, Any] | None = None
    digest_before: str | None = None
    digest_after: str | None = None
    audience_before: str | None = None
    """Who could know of the subject until now, where that changes with it."""
    undoes: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One line of the history."""

    number: int
    tenant_id: str
    at: datetime
    actor: Actor
    why: Why
    change: Change
    outcome: Outcome
    error: Mapping[str, Any] | None = None
    undone_by: int | None = None

    @property
    def done(self) -> bool:
        return self.outcome is Outcome.DONE


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """Some entries, and where to go on."""

    entries: tuple[Entry, ...]
    next: int | None
    """Ask for those before this number; None at the end."""
