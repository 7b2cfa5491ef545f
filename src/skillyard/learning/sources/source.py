"""Sources as values: where feedback is polled from, and how far that went."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from skillyard.errors import InputError
from skillyard.history.entries import Subject
from skillyard.identity.principals import admin_audience
from skillyard.learning.models import FeedbackSourceRow
from skillyard.skill.names import hidden_characters

MAX_NAME: Final = 128
MIN_SECONDS: Final = 5
MAX_SECONDS: Final = 7 * 24 * 3600


class SourceKind(StrEnum):
    URL = "url"
    TABLE = "table"


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedbackSource:
    id: str
    tenant_id: str
    owner_id: str
    """In whose name its feedback is taken in."""
    name: str
    kind: SourceKind
    place: Mapping[str, Any]
    every_seconds: int
    cursor: Mapping[str, Any]
    due_at: datetime
    failures: int
    """How often in a row it could not be read."""
    error: str
    enabled: bool
    created_at: datetime

    @property
    def state(self) -> dict[str, Any]:
        """The source as the history keeps it."""
        return {
            "name": self.name,
            "kind": self.kind.value,
            "place": dict(self.place),
            "every_seconds": self.every_seconds,
            "enabled": self.enabled,
        }

    @property
    def subject(self) -> Subject:
        return Subject(kind="feedback_source", id=self.id, label=self.name, audience=admin_audience(self.tenant_id))


def source_of(row: FeedbackSourceRow) -> FeedbackSource:
    return FeedbackSource(
        id=row.id,
        tenant_id=row.tenant_id,
        owner_id=row.owner_id,
        name=row.name,
        kind=SourceKind(row.kind),
        place=row.place,
        every_seconds=row.every_seconds,
        cursor=row.cursor,
        due_at=row.due_at,
        failures=row.failures,
        error=row.error,
        enabled=row.enabled,
        created_at=row.created_at,
    )


def require_name(name: str) -> None:
    if not name.strip() or len(name) > MAX_NAME or hidden_characters(name):
        raise InputError(
            f"{name[:MAX_NAME]!r} cannot be the name of a source.",
            hint=f"Use 1 to {MAX_NAME} visible characters.",
            details={"field": "name", "value": name[:MAX_NAME], "limit": MAX_NAME},
        )


def require_seconds(seconds: int) -> None:
    if not MIN_SECONDS <= seconds <= MAX_SECONDS:
        raise InputError(
            f"every_seconds: {seconds:,} is not between {MIN_SECONDS} and {MAX_SECONDS:,}.",
            hint="Choose how many seconds lie between two looks.",
            details={"field": "every_seconds", "value": seconds, "limit": MAX_SECONDS},
        )
