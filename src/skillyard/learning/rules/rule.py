"""Decision rules as values: a table with a name, whose versions are counted."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Final

from skillyard.errors import InputError
from skillyard.history.entries import Subject
from skillyard.learning.models import RuleRow
from skillyard.learning.places import Place, place_of
from skillyard.learning.rules.table import DecisionTable, parse_table
from skillyard.skill.names import hidden_characters
from skillyard.skill.versions import Part, Version

FIRST: Final = "1.0.0"
MAX_NAME: Final = 128
MAX_DESCRIPTION: Final = 4_000


@dataclass(frozen=True, kw_only=True)
class DecisionRule:
    """A rule as it stands."""

    id: str
    tenant_id: str
    agent_id: str | None
    """None: for every agent of the tenant."""
    name: str
    description: str
    version: str
    document: Mapping[str, Any]
    """Its table as JSON."""
    digest: str
    locked: bool
    place: Place
    created_at: datetime
    updated_at: datetime

    @cached_property
    def table(self) -> DecisionTable:
        """Reading a large one takes a moment, so not on the event loop."""
        return parse_table(self.document)

    @property
    def state(self) -> dict[str, Any]:
        """The rule as the history keeps it."""
        return {
            "name": self.name,
            "description": self.description,
            "agent_id": self.agent_id,
            "version": self.version,
            "locked": self.locked,
            "table": dict(self.document),
        }

    @property
    def subject(self) -> Subject:
        return Subject(kind="rule", id=self.id, label=self.name, audience=self.place.audience(self.tenant_id))

    def next_version(self, step: Part) -> str:
        return str(Version.parse(self.version).bump(step))


def rule_of(row: RuleRow) -> DecisionRule:
    return DecisionRule(
        id=row.id,
        tenant_id=row.tenant_id,
        agent_id=row.agent_id,
        name=row.name,
        description=row.description,
        version=row.version,
        document=row.table,
        digest=row.digest,
        locked=row.locked,
        place=place_of(row),
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def require_words(name: str, description: str) -> None:
    """Refuses names and descriptions that nobody could read."""
    if not name.strip() or len(name) > MAX_NAME or hidden_characters(name):
        raise InputError(
            f"{name[:MAX_NAME]!r} cannot be the name of a rule.",
            hint=f"Use 1 to {MAX_NAME} visible characters.",
            details={"field": "name", "value": name[:MAX_NAME], "limit": MAX_NAME},
        )
    if len(description) > MAX_DESCRIPTION:
        raise InputError(
            f"The description has {len(description):,} characters; at most {MAX_DESCRIPTION:,} are allowed.",
            hint="Shorten it.",
            details={"field": "description", "value": len(description), "limit": MAX_DESCRIPTION},
        )
