"""Uses of skills as values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import Final

MAX_DAYS: Final = 3_650
"""How far back one can ask."""


MAX_OUTCOMES: Final = 1_000
"""Outcomes of one person that are counted for a skill on one day."""
MAX_VISITOR_OUTCOMES: Final = 3
"""The same of a visitor, whose skill it is not: fewer than it takes to have a skill listed as often failing."""


class UsageKind(StrEnum):
    """What became of a skill."""

    SHOWN = "shown"
    """An agent had it in its list."""
    LOADED = "loaded"
    """Its text was read."""
    ACTIVATED = "activated"
    """It was put to use."""
    SUCCEEDED = "succeeded"
    FAILED = "failed"

    @property
    def is_outcome(self) -> bool:
        return self in {UsageKind.SUCCEEDED, UsageKind.FAILED}


@dataclass(frozen=True, kw_only=True, slots=True)
class UsageEvent:
    """One use of a skill; who reports it may see the skill.

    Its outcome is a `visitor`'s if they neither have a role in its namespace nor administer the tenant.
    """

    id: str
    tenant_id: str
    skill_id: str
    event: UsageKind
    at: datetime
    version: str = ""
    """Empty for the working copy, or where it is not known."""
    agent: str = ""
    session: str = ""
    detail: str = ""
    visitor: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class UsageDay:
    """How often something happened to a skill on one day."""

    day: date
    skill_id: str
    version: str
    agent: str
    event: UsageKind
    count: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Totals:
    """How often each thing happened to a skill in some time."""

    counts: Mapping[UsageKind, int] = field(default_factory=dict[UsageKind, int])

    def of(self, kind: UsageKind) -> int:
        return self.counts.get(kind, 0)

    @property
    def used(self) -> int:
        """Uses that are more than being in a list."""
        return sum(count for kind, count in self.counts.items() if kind is not UsageKind.SHOWN)

    @property
    def outcomes(self) -> int:
        """Uses whose end was reported."""
        return self.of(UsageKind.SUCCEEDED) + self.of(UsageKind.FAILED)

    @property
    def failure_rate(self) -> float:
        return self.of(UsageKind.FAILED) / self.outcomes if self.outcomes else 0.0
