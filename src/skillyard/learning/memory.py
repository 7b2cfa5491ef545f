"""Memories as values: one thing that an agent, or every agent of a tenant, is to remember."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from skillyard.errors import InputError
from skillyard.history.entries import Subject
from skillyard.learning.models import MemoryRow
from skillyard.learning.places import Place, place_of
from skillyard.redact import storable

MAX_TEXT: Final = 8_000
_LABEL: Final = 80


@dataclass(frozen=True, kw_only=True, slots=True)
class Memory:
    id: str
    tenant_id: str
    agent_id: str | None
    """None: for every agent of the tenant."""
    text: str
    lesson_id: str | None
    provenance: Mapping[str, Any]
    """Where it comes from: `by` whom; for a lesson also the `feedback`, its giver, and what the `lesson` took."""
    superseded_by: str | None
    helpful: int
    harmful: int
    expires_at: datetime | None
    locked: bool
    place: Place
    created_at: datetime
    updated_at: datetime

    @property
    def state(self) -> dict[str, Any]:
        """The memory as the history keeps it."""
        return {
            "text": self.text,
            "agent_id": self.agent_id,
            "superseded_by": self.superseded_by,
            "expires_at": self.expires_at and self.expires_at.isoformat(),
            "locked": self.locked,
        }

    @property
    def namespace(self) -> str | None:
        return self.place.namespace

    @property
    def visibility(self) -> str:
        return self.place.visibility

    @property
    def digest(self) -> None:
        """A memory is what it says, and has none."""

    @property
    def label(self) -> str:
        line = " ".join(self.text.split())
        return line if len(line) <= _LABEL else f"{line[: _LABEL - 1]}…"

    @property
    def subject(self) -> Subject:
        return Subject(kind="memory", id=self.id, label=self.label, audience=self.place.audience(self.tenant_id))

    def holds(self, now: datetime) -> bool:
        """Whether it is still to be remembered."""
        return self.superseded_by is None and (self.expires_at is None or self.expires_at > now)


def memory_of(row: MemoryRow) -> Memory:
    return Memory(
        id=row.id,
        tenant_id=row.tenant_id,
        agent_id=row.agent_id,
        text=row.text,
        lesson_id=row.lesson_id,
        provenance=row.provenance,
        superseded_by=row.superseded_by,
        helpful=row.helpful,
        harmful=row.harmful,
        expires_at=row.expires_at,
        locked=row.locked,
        place=place_of(row),
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def require_text(text: str) -> str:
    """The text of a memory as it is kept."""
    stripped = storable(text).strip()
    if not stripped or len(stripped) > MAX_TEXT:
        raise InputError(
            f"text: a memory has 1 to {MAX_TEXT:,} characters, not {len(stripped):,}.",
            hint="Say one thing, in a few sentences.",
            details={"field": "text", "value": len(stripped), "limit": MAX_TEXT},
        )
    return stripped
