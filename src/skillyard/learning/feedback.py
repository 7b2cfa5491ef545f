"""Feedback as values: what somebody said about an agent's work."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, Self

from skillyard.errors import InputError, LimitError
from skillyard.learning.models import FeedbackRow
from skillyard.learning.places import Place, place_of
from skillyard.learning.states import Stage
from skillyard.llm.budget import Spent

OTHERS: Final = "another person's agent"
MAX_CONTENT: Final = 50_000
MAX_TASK: Final = 20_000
MAX_EVENTS: Final = 200
MAX_EVENTS_SIZE: Final = 256 * 1024
MAX_AGENTS: Final = 50
MAX_EVENT_ID: Final = 256


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedbackSpec:
    """Feedback as it comes in."""

    content: str
    task: str = ""
    """What the agent was to do."""
    description: str = ""
    events: Sequence[Any] = ()
    """What happened meanwhile."""
    agents: Sequence[Mapping[str, Any]] = ()
    """Those whose work it is about, each `{id, name?, role?, goal?}`; none: whoever it fits."""
    user: str = ""
    time: datetime | None = None
    event_id: str | None = None
    """The sender's own id: what comes again under it is the same."""
    namespace: str | None = None
    """Where it lives, and what is learned from it; None: in the namespace of the person who gives it."""
    private: bool = False
    """Whether only the members of the namespace may read it."""

    def __post_init__(self) -> None:
        if not self.content.strip():
            raise InputError(
                "content: there is no feedback in it.", hint="Say what was good or wrong.", details={"field": "content"}
            )
        for name, length, most in (
            ("content", len(self.content), MAX_CONTENT),
            ("task", len(self.task), MAX_TASK),
            ("description", len(self.description), MAX_CONTENT),
            ("user", len(self.user), MAX_EVENT_ID),
            ("event_id", len(self.event_id or ""), MAX_EVENT_ID),
            ("events", len(self.events), MAX_EVENTS),
            ("agents", len(self.agents), MAX_AGENTS),
        ):
            _require_at_most(name, length, most)
        _require_at_most("events", len(json.dumps(list(self.events), default=str)), MAX_EVENTS_SIZE)
        for agent in self.agents:
            if not isinstance(agent.get("id"), str) or not agent["id"]:
                raise InputError(
                    "agents: an agent has no id.", hint='Write [{"id": "support-1"}].', details={"field": "agents"}
                )

    @property
    def content_hash(self) -> str:
        """What it says, whoever sent it under which id."""
        said = [self.content, self.task, self.description, list(self.events), self.user]
        moment = self.time.isoformat() if self.time else None
        text = json.dumps([*said, moment, [agent["id"] for agent in self.agents]], default=str, ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, kw_only=True, slots=True)
class Feedback:
    """Feedback that was taken in, and where it stands."""

    id: str
    tenant_id: str
    owner_id: str
    event_id: str
    source: str
    content: str
    task: str
    description: str
    events: Sequence[Any] = field(default_factory=list[Any])
    agents: Sequence[Mapping[str, Any]] = ()
    user: str
    time: datetime
    stage: Stage
    reason: str
    attempts: int
    error: str | None
    """Why the last attempt failed, if it is tried again."""
    due_at: datetime | None
    taken_by: str | None
    holder_id: str | None = None
    """Whose agent took it."""
    given_by: str = ""
    """The person who brought it in, by name."""
    place: Place
    created_at: datetime
    finished_at: datetime | None
    transcript: str | None = None
    """The blob with what was said while it was matched to agents."""
    spent: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What that cost."""

    def seen_by(self, person_id: str) -> Self:
        """The same, as a person may see it: another person's agent is shown without its name."""
        hidden = self.taken_by is not None and self.holder_id != person_id
        return replace(self, taken_by=OTHERS) if hidden else self

    @property
    def namespace(self) -> str | None:
        return self.place.namespace

    @property
    def visibility(self) -> str:
        return self.place.visibility

    @property
    def said(self) -> str:
        """Who said what, as the history keeps it with each change."""
        return f"{self.user}: {self.content}"


def feedback_of(row: FeedbackRow) -> Feedback:
    return Feedback(
        id=row.id,
        tenant_id=row.tenant_id,
        owner_id=row.owner_id,
        event_id=row.event_id,
        source=row.source,
        content=row.content,
        task=row.task,
        description=row.description,
        events=row.events,
        agents=row.agents,
        user=row.said_by,
        time=row.said_at,
        stage=Stage(row.stage),
        reason=row.reason,
        attempts=row.attempts,
        error=row.error,
        due_at=row.due_at,
        place=place_of(row),
        taken_by=row.taken_by,
        holder_id=row.holder_id,
        created_at=row.created_at,
        finished_at=row.finished_at,
        transcript=row.transcript,
        spent=Spent.read(row.spent).as_dict() if row.spent else {},
    )


def _require_at_most(name: str, length: int, most: int) -> None:
    if length > most:
        raise LimitError(
            f"{name}: {length:,} are too many; at most {most:,} are taken.",
            hint="Shorten it, or send it in parts.",
            details={"field": name, "value": length, "limit": most},
        )
