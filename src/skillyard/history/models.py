"""The table of everything that ever changed."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from skillyard.db.base import ID_LENGTH, Base, UtcTime


class EntryRow(Base):
    """One change, or one attempt at it that was refused. Written once; only `undone_by` is ever set later."""

    __tablename__ = "history"
    __table_args__ = (
        Index("ix_history_subject", "subject_kind", "subject_id", "number"),
        Index("ix_history_tenant", "tenant_id", "number"),
    )

    number: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    tenant_id: Mapped[str] = mapped_column(String(ID_LENGTH))
    at: Mapped[datetime] = mapped_column(UtcTime)
    actor_id: Mapped[str | None] = mapped_column(String(ID_LENGTH))
    actor: Mapped[str] = mapped_column(Text)
    action: Mapped[str] = mapped_column(String(64))
    outcome: Mapped[str] = mapped_column(String(16))
    subject_kind: Mapped[str] = mapped_column(String(32))
    subject_id: Mapped[str] = mapped_column(String(128))
    subject: Mapped[str] = mapped_column(Text)
    audience: Mapped[str] = mapped_column(String(64))
    audience_before: Mapped[str | None] = mapped_column(String(64))
    reason: Mapped[str] = mapped_column(Text)
    feedback: Mapped[str] = mapped_column(Text)
    before: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    after: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    digest_before: Mapped[str | None] = mapped_column(String(80))
    digest_after: Mapped[str | None] = mapped_column(String(80))
    error: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    undoes: Mapped[int | None] = mapped_column(BigInteger)
    undone_by: Mapped[int | None] = mapped_column(BigInteger)
    request_id: Mapped[str] = mapped_column(String(64))
