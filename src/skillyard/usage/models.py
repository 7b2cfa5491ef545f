"""The tables of how skills are used."""

from datetime import date, datetime

from sqlalchemy import Date, Index, Integer, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from skillyard.db.base import ID_LENGTH, Base, UtcTime

VERSION_LENGTH = 128
AGENT_LENGTH = 128


class UsageEventRow(Base):
    """One use of a skill as it was reported; kept for a while."""

    __tablename__ = "usage_events"
    __table_args__ = (Index("ix_usage_events_skill", "skill_id", "at"), Index("ix_usage_events_at", "at"))

    reporter_id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    id: Mapped[str] = mapped_column(String(128), primary_key=True)
    """The reporter's own, so that an event sent twice counts once."""
    tenant_id: Mapped[str] = mapped_column(String(ID_LENGTH))
    skill_id: Mapped[str] = mapped_column(String(ID_LENGTH))
    version: Mapped[str] = mapped_column(String(VERSION_LENGTH))
    agent: Mapped[str] = mapped_column(String(AGENT_LENGTH))
    session: Mapped[str] = mapped_column(String(128))
    event: Mapped[str] = mapped_column(String(16))
    at: Mapped[datetime] = mapped_column(UtcTime)
    detail: Mapped[str] = mapped_column(Text)


class UsageDayRow(Base):
    """How often something happened on one day, in UTC; kept for good."""

    __tablename__ = "usage_days"
    __table_args__ = (Index("ix_usage_days_tenant", "tenant_id", "day"),)

    skill_id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    day: Mapped[date] = mapped_column(Date, primary_key=True)
    version: Mapped[str] = mapped_column(String(VERSION_LENGTH), primary_key=True)
    agent: Mapped[str] = mapped_column(String(AGENT_LENGTH), primary_key=True)
    event: Mapped[str] = mapped_column(String(16), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(String(ID_LENGTH))
    count: Mapped[int] = mapped_column(Integer)
