"""The tables of sandboxes, their cargos, the processes that hold them, and what was run."""

from datetime import datetime
from typing import Any, Final

from sqlalchemy import JSON, ForeignKey, Index, Integer, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from skillyard.db.base import Base, UtcTime

NAME_LENGTH: Final = 64
"""Of profiles, backends and the like."""
OWN_ID: Final = 32
"""Ids of this room are a word and 12 hexadecimal digits."""


class SandboxHostRow(Base):
    """A server process that may hold sandboxes; without a beat in time it counts as dead."""

    __tablename__ = "sandbox_hosts"

    id: Mapped[str] = mapped_column(String(OWN_ID), primary_key=True)
    started_at: Mapped[datetime] = mapped_column(UtcTime)
    alive_until: Mapped[datetime] = mapped_column(UtcTime)
    home: Mapped[str | None] = mapped_column(String(OWN_ID))


class CargoRow(Base):
    """A workspace. Marked as deleted first; the row goes when the files are gone."""

    __tablename__ = "cargos"
    __table_args__ = (
        Index("ix_cargos_owner", "owner_id", "created_at"),
        Index("ix_cargos_deleted_at", "deleted_at"),
    )

    id: Mapped[str] = mapped_column(String(OWN_ID), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(ForeignKey("tenants.id"))
    owner_id: Mapped[str] = mapped_column(ForeignKey("people.id"))
    managed_by: Mapped[str | None] = mapped_column(String(OWN_ID))
    """The sandbox that it was made with and goes with; None for one that was made for itself."""
    backend: Mapped[str] = mapped_column(String(NAME_LENGTH))
    size_limit_mb: Mapped[int] = mapped_column(Integer)
    created_at: Mapped[datetime] = mapped_column(UtcTime)
    accessed_at: Mapped[datetime] = mapped_column(UtcTime)
    deleted_at: Mapped[datetime | None] = mapped_column(UtcTime)
    maker: Mapped[str | None] = mapped_column(String(OWN_ID))
    """The process that is filling it with a copy; until it is whole it counts as deleted."""
    home: Mapped[str | None] = mapped_column(String(OWN_ID))
    """Where its files are; None while it has none."""


class SandboxRow(Base):
    """A sandbox. It stays when it is deleted: executions speak of it."""

    __tablename__ = "sandboxes"
    __table_args__ = (
        Index("ix_sandboxes_owner", "owner_id", "created_at"),
        Index("ix_sandboxes_cargo_id", "cargo_id"),
        Index("ix_sandboxes_holder", "holder"),
        Index("ix_sandboxes_expires_at", "expires_at"),
    )

    id: Mapped[str] = mapped_column(String(OWN_ID), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(ForeignKey("tenants.id"))
    owner_id: Mapped[str] = mapped_column(ForeignKey("people.id"))
    cargo_id: Mapped[str] = mapped_column(String(OWN_ID))
    profile: Mapped[str] = mapped_column(String(NAME_LENGTH))
    backend: Mapped[str] = mapped_column(String(NAME_LENGTH))
    capabilities: Mapped[list[str]] = mapped_column(JSON)
    isolation: Mapped[list[str]] = mapped_column(JSON)
    network: Mapped[list[str]] = mapped_column(JSON)
    limits: Mapped[dict[str, int]] = mapped_column(JSON)
    labels: Mapped[dict[str, str]] = mapped_column(JSON)
    created_at: Mapped[datetime] = mapped_column(UtcTime)
    expires_at: Mapped[datetime | None] = mapped_column(UtcTime)
    idle_ttl: Mapped[int] = mapped_column(Integer)
    """Seconds; 0 for one that may be idle for ever."""
    idle_expires_at: Mapped[datetime | None] = mapped_column(UtcTime)
    active_at: Mapped[datetime] = mapped_column(UtcTime)
    deleted_at: Mapped[datetime | None] = mapped_column(UtcTime)
    state: Mapped[str] = mapped_column(String(16))
    holder: Mapped[str | None] = mapped_column(String(OWN_ID))
    """The process that runs it, or began to."""
    session_id: Mapped[str | None] = mapped_column(String(OWN_ID))
    """This life of it: a new one with each start."""
    error: Mapped[str | None] = mapped_column(Text)
    """Why it could not be started."""
    skills_injected_at: Mapped[datetime | None] = mapped_column(UtcTime)
    hook_error: Mapped[str | None] = mapped_column(Text)
    """What went wrong in what is done with each start; the sandbox runs all the same."""


class ExecutionRow(Base):
    """One run. Written once and never changed."""

    __tablename__ = "executions"
    __table_args__ = (
        Index("ix_executions_sandbox", "sandbox_id", "created_at", "id"),
        Index("ix_executions_owner", "owner_id", "created_at"),
    )

    id: Mapped[str] = mapped_column(String(OWN_ID), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(ForeignKey("tenants.id"))
    owner_id: Mapped[str] = mapped_column(ForeignKey("people.id"))
    sandbox_id: Mapped[str] = mapped_column(ForeignKey("sandboxes.id"))
    session_id: Mapped[str | None] = mapped_column(String(OWN_ID))
    exec_type: Mapped[str] = mapped_column(String(16))
    code: Mapped[str] = mapped_column(Text)
    success: Mapped[bool]
    ending: Mapped[str] = mapped_column(String(16))
    exit_code: Mapped[int | None] = mapped_column(Integer)
    milliseconds: Mapped[int] = mapped_column(Integer)
    output: Mapped[str] = mapped_column(Text)
    error: Mapped[str | None] = mapped_column(Text)
    truncated: Mapped[bool]
    network: Mapped[list[str]] = mapped_column(JSON)
    skills: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    trace_id: Mapped[str | None] = mapped_column(String(OWN_ID))
    learn: Mapped[bool]
    created_at: Mapped[datetime] = mapped_column(UtcTime)


class ExecutionNoteRow(Base):
    """What is said beside a run: it may change, and counts as no evidence."""

    __tablename__ = "execution_notes"
    __table_args__ = (Index("ix_execution_notes_learn_status", "learn_status"),)

    execution_id: Mapped[str] = mapped_column(ForeignKey("executions.id"), primary_key=True)
    description: Mapped[str | None] = mapped_column(Text)
    tags: Mapped[str | None] = mapped_column(Text)
    tag_list: Mapped[str] = mapped_column(Text)
    """The tags between commas, so that each can be found whole."""
    notes: Mapped[str | None] = mapped_column(Text)
    learn_status: Mapped[str | None] = mapped_column(String(16))
    learn_error: Mapped[str | None] = mapped_column(Text)
    learn_processed_at: Mapped[datetime | None] = mapped_column(UtcTime)
    updated_at: Mapped[datetime] = mapped_column(UtcTime)


class TraceRow(Base):
    """The steps of a run of the browser, kept as a blob."""

    __tablename__ = "traces"
    __table_args__ = (Index("ix_traces_sha256", "sha256"),)

    id: Mapped[str] = mapped_column(String(OWN_ID), primary_key=True)
    sandbox_id: Mapped[str] = mapped_column(ForeignKey("sandboxes.id"))
    sha256: Mapped[str] = mapped_column(String(64))
    size: Mapped[int] = mapped_column(Integer)
    created_at: Mapped[datetime] = mapped_column(UtcTime)
