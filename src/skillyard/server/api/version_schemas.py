"""Versions of skills in requests and answers."""

from datetime import datetime
from typing import Any, Final, Self

from pydantic import BaseModel, ConfigDict, Field

from skillyard.registry.bundles import StoredFile
from skillyard.registry.publishing import Publication
from skillyard.registry.skills import Version, VersionState
from skillyard.registry.states import StateDiff
from skillyard.server.api.file_schemas import SHA256, StoredFileSchema
from skillyard.server.api.preconditions import Digest
from skillyard.server.api.shapes import Request
from skillyard.server.api.skill_schemas import SKILL_ID
from skillyard.server.models import FindingBody
from skillyard.skill.versions import MAX_VERSION

MAX_NOTES: Final = 20_000
_EXAMPLE: Final[dict[str, Any]] = {
    "id": "0192f3c4-7b1e-7c3a-9a55-2f6d5b7e1c33",
    "skill_id": SKILL_ID,
    "version": "1.2.0",
    "digest": f"sha256:{SHA256}",
    "state": "published",
    "notes": "Reads scanned tables, too.",
    "requires": "",
    "published_by": "0192f3c4-7b1e-7c3a-9a55-2f6d5b7e1c01",
    "published_at": "2026-01-31T09:30:00Z",
    "reviewed_by": None,
    "yanked": False,
    "yank_reason": None,
    "waiver": None,
    "tags": ["tested"],
}


class VersionCreate(Request):
    """What to publish the working copy as."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"version": "1.2.0", "notes": "Reads scanned tables, too."}]}
    )

    version: str | None = Field(
        default=None,
        max_length=MAX_VERSION,
        description="A semantic version; without it, the one that SKILL.md states, else the next free patch.",
    )
    notes: str = Field(default="", max_length=MAX_NOTES, description="What is new.")
    base: Digest | None = Field(default=None, description="Publish this state only; If-Match says the same.")


class Yank(Request):
    """Why a version is to be shipped no more."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"reason": "It loses the last row of every table."}]})

    reason: str = Field(min_length=1, max_length=2000)


class TagSet(Request):
    """The version that a tag is to name."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"version": "1.2.0"}]})

    version: str = Field(min_length=1, max_length=MAX_VERSION)


class TagSchema(BaseModel):
    """A movable name for one version."""

    tag: str
    version: str | None = Field(description="Null: the tag names nothing any more.")


class VersionSchema(BaseModel):
    """A published state of a skill. Its files never change."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    id: str
    skill_id: str
    version: str
    digest: str
    state: VersionState
    notes: str
    requires: str
    published_by: str | None
    published_at: datetime
    reviewed_by: str | None
    yanked: bool = Field(description="Whether it is given only to those who ask for it by number.")
    yank_reason: str | None
    waiver: str | None = Field(description="Why serious findings of the scan were accepted.")
    tags: list[str]

    @classmethod
    def of(cls, version: Version) -> Self:
        return cls.model_validate(version_values(version))


class PublishedVersion(VersionSchema):
    """A version with what was found in the skill: open ends of SKILL.md, broken references, and the scan's."""

    findings: list[FindingBody]

    @classmethod
    def made(cls, done: Publication) -> Self:
        return cls.model_validate({**version_values(done.version), "findings": list(done.skill.findings)})


class VersionDetail(VersionSchema):
    """A version with the list of its files."""

    files: list[StoredFileSchema]

    @classmethod
    def with_files(cls, version: Version, files: list[StoredFile]) -> Self:
        return cls(**version_values(version), files=[StoredFileSchema.of_stored(file) for file in files])


class FileStateSchema(BaseModel):
    """One side of a change to a file."""

    size: int
    sha256: str
    executable: bool


class FileDiffSchema(BaseModel):
    """A file that is not the same in both states."""

    path: str
    change: str = Field(description="`added`, `removed` or `changed`.")
    old: FileStateSchema | None
    new: FileStateSchema | None
    binary: bool
    truncated: bool = Field(description="Whether more differs than `diff` shows.")
    diff: str = Field(description="The hunks of a unified diff.")


class SkillDiff(BaseModel):
    """What differs between two states of a skill."""

    model_config = ConfigDict(populate_by_name=True)

    old: str | None = Field(
        serialization_alias="from", description="A version, or `draft`; null: nothing is published."
    )
    new: str = Field(serialization_alias="to", description="A version, or `draft`.")
    old_digest: str
    new_digest: str
    files: list[FileDiffSchema]

    @classmethod
    def of(cls, diff: StateDiff) -> Self:
        values: dict[str, Any] = diff.files.as_dict()
        return cls(old=diff.old.label if diff.old else None, new=diff.new.label, **values)


def version_values(version: Version) -> dict[str, Any]:
    """A version in the words of `VersionSchema`."""
    values = {name: getattr(version, name, None) for name in VersionSchema.model_fields}
    return {**values, "yanked": version.yank_reason is not None}
