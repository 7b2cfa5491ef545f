"""The tables of skills, their files, versions and references."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, ForeignKey, Index, Integer, String, Text, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from skillyard.db.base import ID_LENGTH, KEY, Base, UtcTime

DIGEST_LENGTH = 80
PATH_LENGTH = 1024


class BundleRow(Base):
    """A set of files that was stored once and never changes."""

    __tablename__ = "bundles"

    digest: Mapped[str] = mapped_column(String(DIGEST_LENGTH), primary_key=True)
    size: Mapped[int] = mapped_column(BigInteger)
    created_at: Mapped[datetime] = mapped_column(UtcTime)


class BundleFileRow(Base):
    __tablename__ = "bundle_files"
    __table_args__ = (Index("ix_bundle_files_sha256", "sha256"),)

    digest: Mapped[str] = mapped_column(ForeignKey("bundles.digest"), primary_key=True)
    path: Mapped[str] = mapped_column(String(PATH_LENGTH), primary_key=True)
    sha256: Mapped[str] = mapped_column(String(64))
    size: Mapped[int] = mapped_column(Integer)
    executable: Mapped[bool]


class SkillRow(Base):
    """A skill as it stands now. Everything but who may see it follows from the bundle."""

    __tablename__ = "skills"
    __table_args__ = (
        Index(
            "uq_skills_namespace_id_name_key",
            "namespace_id",
            "name_key",
            unique=True,
            sqlite_where=text("deleted_at IS NULL"),
            postgresql_where=text("deleted_at IS NULL"),
        ),
        Index("ix_skills_listing", "audience", "name_key", "id"),
        Index("ix_skills_visibility", "visibility"),
    )

    id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(ForeignKey("tenants.id"))
    namespace_id: Mapped[str] = mapped_column(ForeignKey("namespaces.id"))
    owner_id: Mapped[str | None] = mapped_column(ForeignKey("people.id"))
    name: Mapped[str] = mapped_column(String(256))
    name_key: Mapped[str] = mapped_column(KEY)
    visibility: Mapped[str] = mapped_column(String(16))
    audience: Mapped[str] = mapped_column(String(64))
    digest: Mapped[str] = mapped_column(ForeignKey("bundles.digest"))
    description: Mapped[str] = mapped_column(Text)
    content: Mapped[str] = mapped_column(Text)
    license: Mapped[str] = mapped_column(Text)
    compatibility: Mapped[str] = mapped_column(Text)
    fields: Mapped[dict[str, Any]] = mapped_column(JSON)
    """The rest of what SKILL.md says: `metadata`, `allowed_tools`, `tags`, `requires`."""
    findings: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    created_at: Mapped[datetime] = mapped_column(UtcTime)
    updated_at: Mapped[datetime] = mapped_column(UtcTime)
    changed: Mapped[int] = mapped_column(BigInteger)
    """The number of the last change to it."""
    locked: Mapped[bool] = mapped_column(default=False)
    """Whether a person holds it: what is learned from feedback is only proposed for it."""
    deleted_at: Mapped[datetime | None] = mapped_column(UtcTime)


class SkillFileRow(Base):
    """A file of a skill as it stands now; its id stays while its path does."""

    __tablename__ = "skill_files"
    __table_args__ = (UniqueConstraint("skill_id", "path"),)

    id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    skill_id: Mapped[str] = mapped_column(ForeignKey("skills.id"))
    path: Mapped[str] = mapped_column(String(PATH_LENGTH))
    sha256: Mapped[str] = mapped_column(String(64))
    size: Mapped[int] = mapped_column(Integer)
    executable: Mapped[bool]


class SkillTagRow(Base):
    """A word by which skills are filtered, as SKILL.md gives it."""

    __tablename__ = "skill_tags"
    __table_args__ = (Index("ix_skill_tags_tag", "tag"),)

    skill_id: Mapped[str] = mapped_column(ForeignKey("skills.id"), primary_key=True)
    tag: Mapped[str] = mapped_column(String(256), primary_key=True)


class SkillReferenceRow(Base):
    """A place in a skill that points at a file, of its own or of another skill."""

    __tablename__ = "skill_references"
    __table_args__ = (Index("ix_skill_references_target", "target_key"),)

    skill_id: Mapped[str] = mapped_column(ForeignKey("skills.id"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    file: Mapped[str] = mapped_column(String(PATH_LENGTH))
    line: Mapped[int]
    kind: Mapped[str] = mapped_column(String(16))
    target_key: Mapped[str] = mapped_column(String(256))
    """The name of the skill that is meant, compared without case; empty for the skill itself."""
    target_path: Mapped[str] = mapped_column(Text)


class VersionRow(Base):
    """A label on a bundle that is never given twice under one name, even after the skill was deleted."""

    __tablename__ = "versions"
    __table_args__ = (
        UniqueConstraint("namespace_id", "name_key", "version"),
        Index("ix_versions_skill_id", "skill_id"),
        Index("ix_versions_state", "namespace_id", "state"),
    )

    id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    skill_id: Mapped[str] = mapped_column(ForeignKey("skills.id"))
    namespace_id: Mapped[str] = mapped_column(ForeignKey("namespaces.id"))
    name_key: Mapped[str] = mapped_column(KEY)
    version: Mapped[str] = mapped_column(String(128))
    digest: Mapped[str] = mapped_column(ForeignKey("bundles.digest"))
    state: Mapped[str] = mapped_column(String(16))
    notes: Mapped[str] = mapped_column(Text)
    requires: Mapped[str] = mapped_column(Text)
    published_by: Mapped[str | None] = mapped_column(String(ID_LENGTH))
    published_at: Mapped[datetime] = mapped_column(UtcTime)
    reviewed_by: Mapped[str | None] = mapped_column(String(ID_LENGTH))
    yank_reason: Mapped[str | None] = mapped_column(Text)
    waiver: Mapped[str | None] = mapped_column(Text)
    """Why serious findings of the scan were accepted."""


class VersionTagRow(Base):
    """A movable name for one version of a skill."""

    __tablename__ = "version_tags"

    skill_id: Mapped[str] = mapped_column(ForeignKey("skills.id"), primary_key=True)
    tag: Mapped[str] = mapped_column(String(64), primary_key=True)
    version_id: Mapped[str] = mapped_column(ForeignKey("versions.id"))
