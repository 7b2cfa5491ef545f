"""The table of which agent has which skill."""

from datetime import datetime
from typing import Final

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from skillyard.db.base import ID_LENGTH, Base, UtcTime

EVERY_AGENT: Final = ""
"""Stands in the place of an agent's key where a skill is attached to the whole tenant."""


class AttachmentRow(Base):
    """A skill that an agent, or every agent of a tenant, is to have."""

    __tablename__ = "attachments"
    __table_args__ = (Index("ix_attachments_skill_id", "skill_id"),)

    tenant_id: Mapped[str] = mapped_column(ForeignKey("tenants.id"), primary_key=True)
    agent_key: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    skill_id: Mapped[str] = mapped_column(ForeignKey("skills.id"), primary_key=True)
    wanted: Mapped[str] = mapped_column(String(256))
    """A version, a tag or a range of versions; empty for the latest."""
    created_at: Mapped[datetime] = mapped_column(UtcTime)
