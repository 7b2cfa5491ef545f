"""The tables of learning: feedback and its sources, lessons, proposals, memories and decision rules."""

from datetime import datetime
from typing import Any, Final

from sqlalchemy import JSON, BigInteger, Boolean, ForeignKey, Index, Integer, String, Text, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column

from skillyard.db.base import ID_LENGTH, KEY, Base, UtcTime
from skillyard.jobs.rows import JobRow

OWN_ID: Final = 32
"""Ids of this room are a word and 12 hexadecimal digits."""
SHA256: Final = 64


class PlacedRow:
    """A row that lives in a namespace."""

    namespace_id: Mapped[str | None] = mapped_column(String(ID_LENGTH))
    """None: on the common ground of the tenant."""
    namespace: Mapped[str | None] = mapped_column(String(64))
    """Its name, which never changes."""
    private: Mapped[bool] = mapped_column(Boolean, default=False, server_default=false())
    """Whether only its members may read it."""


class FeedbackRow(PlacedRow, JobRow):
    """What somebody said about an agent's work, and the job of learning from it.

    What was said never changes. `state` is that of the job; it is `waiting` while no model is set.
    """

    __tablename__ = "feedback"
    __table_args__ = (
        UniqueConstraint("tenant_id", "event_id"),
        Index("ix_feedback_state", "state", "due_at"),
        Index("ix_feedback_tenant", "tenant_id", "created_at"),
    )

    tenant_id: Mapped[str] = mapped_column(ForeignKey("tenants.id"))
    owner_id: Mapped[str] = mapped_column(ForeignKey("people.id"))
    """Who brought it in, and in whose name it is worked on."""
    scope: Mapped[str] = mapped_column(String(16))
    """What they could do when they brought it in: learning from it can do no more."""
    event_id: Mapped[str] = mapped_column(String(256))
    """The sender's own id of it, else the hash of what it says: the same comes in once."""
    content_hash: Mapped[str] = mapped_column(String(SHA256))
    source: Mapped[str] = mapped_column(String(128))
    """`api`, `cli`, `mcp`, `web`, or the name of a polled source."""
    content: Mapped[str] = mapped_column(Text)
    task: Mapped[str] = mapped_column(Text)
    description: Mapped[str] = mapped_column(Text)
    events: Mapped[list[Any]] = mapped_column(JSON)
    agents: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    """Those that it names: each `{id, name?, role?, goal?}`; empty for any."""
    said_by: Mapped[str] = mapped_column(Text)
    said_at: Mapped[datetime] = mapped_column(UtcTime)
    stage: Mapped[str] = mapped_column(String(24))
    """Where it stands, as people are told."""
    reason: Mapped[str] = mapped_column(Text)
    taken_by: Mapped[str | None] = mapped_column(String(64))
    """The agent that took it to learn from it by itself, until `taken_until`."""
    holder_id: Mapped[str | None] = mapped_column(String(ID_LENGTH))
    """The person whose agent that is."""
    holder_token: Mapped[str | None] = mapped_column(String(ID_LENGTH))
    """The token by which it was taken, if any."""
    taken_until: Mapped[datetime | None] = mapped_column(UtcTime)
    transcript: Mapped[str | None] = mapped_column(String(SHA256))
    """The blob with what was said while it was matched to agents; each of its lessons begins with that too."""
    spent: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    """What matching it cost; it is part of what each of its lessons may cost."""


class LessonRow(Base):
    """What one agent is to learn from one piece of feedback, and what was decided."""

    __tablename__ = "lessons"
    __table_args__ = (
        UniqueConstraint("feedback_id", "agent_id"),
        Index("ix_lessons_tenant", "tenant_id", "created_at"),
    )

    id: Mapped[str] = mapped_column(String(OWN_ID), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(ForeignKey("tenants.id"))
    feedback_id: Mapped[str] = mapped_column(ForeignKey("feedback.id"))
    agent_id: Mapped[str] = mapped_column(String(128))
    meaning: Mapped[str] = mapped_column(Text)
    """What was meant, for this agent."""
    state: Mapped[str] = mapped_column(String(24))
    reason: Mapped[str] = mapped_column(Text)
    target: Mapped[str | None] = mapped_column(String(16))
    operation: Mapped[str | None] = mapped_column(String(16))
    decision: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    """The target's id, merge mode, relations: decided once, and kept."""
    effects: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    """Each `{kind, id, label, version?, history}`."""
    transcript: Mapped[str | None] = mapped_column(String(SHA256))
    """The blob with all that was said between the model and its tools, secrets taken out."""
    spent: Mapped[dict[str, Any]] = mapped_column(JSON)
    """`{calls, input_tokens, output_tokens, milliseconds}`."""
    created_at: Mapped[datetime] = mapped_column(UtcTime)
    updated_at: Mapped[datetime] = mapped_column(UtcTime)
    turn: Mapped[int] = mapped_column(Integer, default=0)
    """How often it was undone and learned again."""


class ProposalRow(Base):
    """A change that waits for someone's word. Target and base are settled when it is made."""

    __tablename__ = "proposals"
    __table_args__ = (
        Index("ix_proposals_state", "tenant_id", "state", "created_at"),
        Index("ix_proposals_lesson", "lesson_id"),
    )

    id: Mapped[str] = mapped_column(String(OWN_ID), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(ForeignKey("tenants.id"))
    lesson_id: Mapped[str | None] = mapped_column(ForeignKey("lessons.id"))
    target: Mapped[str] = mapped_column(String(16))
    operation: Mapped[str] = mapped_column(String(16))
    target_id: Mapped[str | None] = mapped_column(String(128))
    target_name: Mapped[str] = mapped_column(Text)
    audience: Mapped[str] = mapped_column(String(64))
    """Who may know of it."""
    base: Mapped[str | None] = mapped_column(String(80))
    """The digest or version that it was made against."""
    content: Mapped[dict[str, Any]] = mapped_column(JSON)
    """The whole of what would be there: a memory, a rule, or the digest of a bundle and who is attached."""
    summary: Mapped[str] = mapped_column(Text)
    reasons: Mapped[list[str]] = mapped_column(JSON)
    relations: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    warnings: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    state: Mapped[str] = mapped_column(String(16))
    proposed_by: Mapped[str | None] = mapped_column(String(ID_LENGTH))
    decided_by: Mapped[str | None] = mapped_column(String(ID_LENGTH))
    decided_at: Mapped[datetime | None] = mapped_column(UtcTime)
    decision_reason: Mapped[str] = mapped_column(Text)
    history_number: Mapped[int | None] = mapped_column(BigInteger)
    created_at: Mapped[datetime] = mapped_column(UtcTime)


class MemoryRow(PlacedRow, Base):
    """One thing that an agent, or every agent of a tenant, is to remember."""

    __tablename__ = "memories"
    __table_args__ = (Index("ix_memories_agent", "tenant_id", "agent_id", "created_at"),)

    id: Mapped[str] = mapped_column(String(OWN_ID), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(ForeignKey("tenants.id"))
    agent_id: Mapped[str | None] = mapped_column(String(128))
    """None: for all agents of the tenant."""
    text: Mapped[str] = mapped_column(Text)
    lesson_id: Mapped[str | None] = mapped_column(String(OWN_ID))
    provenance: Mapped[dict[str, Any]] = mapped_column(JSON)
    superseded_by: Mapped[str | None] = mapped_column(String(OWN_ID))
    helpful: Mapped[int] = mapped_column(Integer)
    harmful: Mapped[int] = mapped_column(Integer)
    expires_at: Mapped[datetime | None] = mapped_column(UtcTime)
    locked: Mapped[bool] = mapped_column(Boolean)
    created_at: Mapped[datetime] = mapped_column(UtcTime)
    updated_at: Mapped[datetime] = mapped_column(UtcTime)
    deleted_at: Mapped[datetime | None] = mapped_column(UtcTime)


class RuleRow(PlacedRow, Base):
    """A decision rule as it stands; each of its versions is kept beside it."""

    __tablename__ = "decision_rules"
    __table_args__ = (Index("ix_decision_rules_tenant", "tenant_id", "name"),)

    id: Mapped[str] = mapped_column(String(OWN_ID), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(ForeignKey("tenants.id"))
    agent_id: Mapped[str | None] = mapped_column(String(128))
    name: Mapped[str] = mapped_column(KEY)
    description: Mapped[str] = mapped_column(Text)
    version: Mapped[str] = mapped_column(String(32))
    table: Mapped[dict[str, Any]] = mapped_column(JSON)
    """The decision table in our own JSON model."""
    digest: Mapped[str] = mapped_column(String(80))
    locked: Mapped[bool] = mapped_column(Boolean)
    created_at: Mapped[datetime] = mapped_column(UtcTime)
    updated_at: Mapped[datetime] = mapped_column(UtcTime)
    deleted_at: Mapped[datetime | None] = mapped_column(UtcTime)


class RuleVersionRow(Base):
    """One version of a decision rule, never changed."""

    __tablename__ = "decision_rule_versions"

    rule_id: Mapped[str] = mapped_column(ForeignKey("decision_rules.id"), primary_key=True)
    version: Mapped[str] = mapped_column(String(32), primary_key=True)
    table: Mapped[dict[str, Any]] = mapped_column(JSON)
    digest: Mapped[str] = mapped_column(String(80))
    lesson_id: Mapped[str | None] = mapped_column(String(OWN_ID))
    created_by: Mapped[str | None] = mapped_column(String(ID_LENGTH))
    created_at: Mapped[datetime] = mapped_column(UtcTime)


class RuleCaseRow(Base):
    """A case that a rule decided, kept to be replayed against what would replace it."""

    __tablename__ = "decision_rule_cases"
    __table_args__ = (
        UniqueConstraint("rule_id", "inputs_hash"),
        Index("ix_decision_rule_cases_rule", "rule_id", "last_at"),
    )

    id: Mapped[str] = mapped_column(String(OWN_ID), primary_key=True)
    rule_id: Mapped[str] = mapped_column(ForeignKey("decision_rules.id"))
    inputs: Mapped[dict[str, Any]] = mapped_column(JSON)
    inputs_hash: Mapped[str] = mapped_column(String(SHA256))
    outputs: Mapped[Any] = mapped_column(JSON)
    version: Mapped[str] = mapped_column(String(32))
    times: Mapped[int] = mapped_column(Integer)
    pinned: Mapped[bool] = mapped_column(Boolean)
    """Kept by a person as an example that must hold."""
    last_at: Mapped[datetime] = mapped_column(UtcTime)


class FeedbackSourceRow(Base):
    """A table or an address that feedback is polled from, and how far that went."""

    __tablename__ = "feedback_sources"
    __table_args__ = (UniqueConstraint("tenant_id", "name"),)

    id: Mapped[str] = mapped_column(String(OWN_ID), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(ForeignKey("tenants.id"))
    owner_id: Mapped[str] = mapped_column(ForeignKey("people.id"))
    name: Mapped[str] = mapped_column(String(128))
    kind: Mapped[str] = mapped_column(String(16))
    """`url` or `table`."""
    place: Mapped[dict[str, Any]] = mapped_column(JSON)
    every_seconds: Mapped[int] = mapped_column(Integer)
    cursor: Mapped[dict[str, Any]] = mapped_column(JSON)
    worker: Mapped[str | None] = mapped_column(String(64))
    leased_until: Mapped[datetime | None] = mapped_column(UtcTime)
    due_at: Mapped[datetime] = mapped_column(UtcTime)
    failures: Mapped[int] = mapped_column(Integer)
    error: Mapped[str] = mapped_column(Text)
    enabled: Mapped[bool] = mapped_column(Boolean)
    created_at: Mapped[datetime] = mapped_column(UtcTime)


class DeadLetterRow(Base):
    """What came from a source and could not be read as feedback, kept with the reason."""

    __tablename__ = "feedback_dead_letters"
    __table_args__ = (
        UniqueConstraint("source_id", "item_hash"),
        Index("ix_feedback_dead_letters_source", "source_id", "created_at"),
    )

    id: Mapped[str] = mapped_column(String(OWN_ID), primary_key=True)
    source_id: Mapped[str] = mapped_column(ForeignKey("feedback_sources.id"))
    item: Mapped[Any] = mapped_column(JSON)
    item_hash: Mapped[str] = mapped_column(String(SHA256))
    reason: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(UtcTime)
