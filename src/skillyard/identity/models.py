"""The tables of who there is and what they may do."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, String, Text, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from skillyard.db.base import ID_LENGTH, Base, UtcTime


class TenantRow(Base):
    """An organisation: nothing in one is visible from another."""

    __tablename__ = "tenants"

    id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    name: Mapped[str] = mapped_column(String(64), unique=True)
    created_at: Mapped[datetime] = mapped_column(UtcTime)
    shows_world: Mapped[bool] = mapped_column(default=False)
    """Whether its people may show skills to the world; its administrators always may."""


class PersonRow(Base):
    __tablename__ = "people"
    __table_args__ = (UniqueConstraint("tenant_id", "name"), UniqueConstraint("external_id"))

    id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(ForeignKey("tenants.id"))
    name: Mapped[str] = mapped_column(String(64))
    admin: Mapped[bool]
    external_id: Mapped[str | None] = mapped_column(Text)
    """Issuer and subject of the person at an identity provider."""
    created_at: Mapped[datetime] = mapped_column(UtcTime)
    disabled_at: Mapped[datetime | None] = mapped_column(UtcTime)


class NamespaceRow(Base):
    """The first half of a skill's name: a person's, a team's, or the system's."""

    __tablename__ = "namespaces"
    __table_args__ = (UniqueConstraint("tenant_id", "name"),)

    id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(ForeignKey("tenants.id"))
    name: Mapped[str] = mapped_column(String(64))
    kind: Mapped[str] = mapped_column(String(16))
    policy: Mapped[dict[str, Any]] = mapped_column(JSON)
    created_at: Mapped[datetime] = mapped_column(UtcTime)


class MemberRow(Base):
    __tablename__ = "members"
    __table_args__ = (Index("ix_members_person_id", "person_id"),)

    namespace_id: Mapped[str] = mapped_column(ForeignKey("namespaces.id"), primary_key=True)
    person_id: Mapped[str] = mapped_column(ForeignKey("people.id"), primary_key=True)
    role: Mapped[str] = mapped_column(String(16))


class TokenRow(Base):
    """A key to the API. Only a hash of it is kept."""

    __tablename__ = "tokens"
    __table_args__ = (Index("ix_tokens_person_id", "person_id"), Index("ix_tokens_parent_id", "parent_id"))

    id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    person_id: Mapped[str] = mapped_column(ForeignKey("people.id"))
    label: Mapped[str] = mapped_column(Text)
    hash: Mapped[str] = mapped_column(String(64), unique=True)
    scope: Mapped[str] = mapped_column(String(16))
    created_at: Mapped[datetime] = mapped_column(UtcTime)
    expires_at: Mapped[datetime | None] = mapped_column(UtcTime)
    last_used_at: Mapped[datetime | None] = mapped_column(UtcTime)
    revoked_at: Mapped[datetime | None] = mapped_column(UtcTime)
    parent_id: Mapped[str | None] = mapped_column(ForeignKey("tokens.id"))
    """The token it was made with, if it was made with one."""


class SessionRow(Base):
    """A browser that is signed in. Only a hash of what its cookie holds is kept."""

    __tablename__ = "sessions"
    __table_args__ = (Index("ix_sessions_expires_at", "expires_at"),)

    id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    hash: Mapped[str] = mapped_column(String(64), unique=True)
    person_id: Mapped[str] = mapped_column(ForeignKey("people.id"))
    token_id: Mapped[str | None] = mapped_column(ForeignKey("tokens.id"))
    """The token it was begun with, and ends with."""
    operator_proof: Mapped[str | None] = mapped_column(String(64))
    """Ties the session to the first administrator's token, which is in no table."""
    scope: Mapped[str] = mapped_column(String(16))
    created_at: Mapped[datetime] = mapped_column(UtcTime)
    used_at: Mapped[datetime] = mapped_column(UtcTime)
    expires_at: Mapped[datetime] = mapped_column(UtcTime)
    revoked_at: Mapped[datetime | None] = mapped_column(UtcTime)


class AgentRow(Base):
    """One life of an agent. Deleting it keeps the row, so that undoing brings it back with all its skills."""

    __tablename__ = "agents"
    __table_args__ = (
        Index(
            "uq_agents_tenant_id_id",
            "tenant_id",
            "id",
            unique=True,
            sqlite_where=text("deleted_at IS NULL"),
            postgresql_where=text("deleted_at IS NULL"),
        ),
        Index(
            "uq_agents_tenant_id_name",
            "tenant_id",
            "name",
            unique=True,
            sqlite_where=text("deleted_at IS NULL"),
            postgresql_where=text("deleted_at IS NULL"),
        ),
    )

    key: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    """What its skills hang on: an agent made anew under the id of a deleted one starts with none."""
    tenant_id: Mapped[str] = mapped_column(ForeignKey("tenants.id"))
    id: Mapped[str] = mapped_column(String(128))
    name: Mapped[str] = mapped_column(String(128))
    role: Mapped[str] = mapped_column(Text)
    goal: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(UtcTime)
    deleted_at: Mapped[datetime | None] = mapped_column(UtcTime)
