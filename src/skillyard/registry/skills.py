"""Skills and versions as the registry answers with them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from skillyard.history.entries import Subject
from skillyard.identity.principals import namespace_audience, tenant_audience

CREATED = "skill.created"
UPDATED = "skill.updated"
DELETED = "skill.deleted"
SHOWN = "skill.visibility"
LOCKED = "skill.locked"
UNLOCKED = "skill.unlocked"
PUBLISHED = "version.published"
ACCEPTED = "version.accepted"
REVIEWED = "version.reviewed"
YANKED = "version.yanked"
RESTORED = "version.restored"
TAGGED = "version.tagged"

NOBODY = ""
"""The audience of a deleted skill."""


class Visibility(StrEnum):
    """Who may see a skill beside the members of its namespace."""

    PRIVATE = "private"
    PUBLIC = "public"
    """Everyone in the tenant."""
    DISCOVERABLE = "discoverable"
    """The world, by the discovery index."""


class VersionState(StrEnum):
    PUBLISHED = "published"
    PENDING = "pending"
    """Waits for someone else to approve it."""
    REJECTED = "rejected"


@dataclass(frozen=True, kw_only=True, slots=True)
class SkillFile:
    id: str
    path: str
    sha256: str
    size: int
    executable: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Version:
    id: str
    skill_id: str
    version: str
    digest: str
    state: VersionState
    notes: str
    requires: str
    published_by: str | None
    published_at: datetime
    reviewed_by: str | None = None
    yank_reason: str | None = None
    waiver: str | None = None
    """Why serious findings of the scan were accepted."""
    tags: tuple[str, ...] = ()

    @property
    def shipped(self) -> bool:
        """Whether it is given to those who do not ask for it by number."""
        return self.state is VersionState.PUBLISHED and self.yank_reason is None


@dataclass(frozen=True, kw_only=True, slots=True)
class Skill:
    """A skill as it stands."""

    id: str
    tenant_id: str
    namespace_id: str
    namespace: str
    name: str
    owner_id: str | None
    visibility: Visibility
    audience: str
    digest: str
    description: str
    content: str
    license: str
    compatibility: str
    metadata: Mapping[str, Any]
    allowed_tools: tuple[str, ...]
    tags: tuple[str, ...]
    requires: str
    findings: tuple[Mapping[str, Any], ...]
    created_at: datetime
    updated_at: datetime
    changed: int
    latest: str | None = None
    """The version that is shipped when none is named."""
    files: tuple[SkillFile, ...] = ()
    locked: bool = False
    """Whether a person holds it: what is learned from feedback is only proposed for it."""

    @property
    def full_name(self) -> str:
        return f"{self.namespace}/{self.name}"

    @property
    def is_public(self) -> bool:
        return self.visibility is not Visibility.PRIVATE

    @property
    def subject(self) -> Subject:
        return skill_subject(self.id, self.full_name, self.audience)


def skill_subject(skill_id: str, full_name: str, audience: str) -> Subject:
    return Subject(kind="skill", id=skill_id, label=full_name, audience=audience)


def audience_of(visibility: Visibility, *, tenant_id: str, namespace_id: str, is_system: bool) -> str:
    """The key that a principal must hold to see a skill."""
    if is_system or visibility is not Visibility.PRIVATE:
        return tenant_audience(tenant_id)
    return namespace_audience(namespace_id)
