"""Skills in requests and answers."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Self, cast

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from skillyard.registry.skills import Skill, Visibility
from skillyard.server.api.file_schemas import FILE_EXAMPLE, SHA256, SkillFileCreate, SkillFileSchema
from skillyard.server.api.shapes import Request
from skillyard.server.api.visibility import contradiction
from skillyard.server.models import FindingBody
from skillyard.skill.bundle import BundleFile
from skillyard.skill.document import tools_in
from skillyard.skill.limits import MAX_BUNDLE_FILES, MAX_FRONTMATTER_DEPTH

SKILL_ID: Final = "0192f3c4-7b1e-7c3a-9a55-2f6d5b7e1c20"
_FIELDS: Final = frozenset({"name", "description", "license", "compatibility", "metadata", "allowed_tools", "tags"})
_MAX_TAGS: Final = 100
_WRITTEN: Final[dict[str, Any]] = {
    "name": "pdf-tables",
    "description": "Extracts tables from PDF files. Use when a PDF has tables to be read.",
    "content": "# PDF tables\n\nRun `scripts/tables.py FILE`.\n",
    "tags": ["pdf", "documents"],
    "is_public": False,
    "license": "MIT",
    "metadata": {"version": "1.2.0"},
    "allowed_tools": ["Read", "Bash(python:*)"],
}
_KEPT: Final[dict[str, Any]] = {
    **_WRITTEN,
    "id": SKILL_ID,
    "namespace": "ana",
    "full_name": "ana/pdf-tables",
    "visibility": "private",
    "owner_id": "0192f3c4-7b1e-7c3a-9a55-2f6d5b7e1c01",
    "files": [FILE_EXAMPLE],
    "compatibility": "",
    "requires": "",
    "digest": f"sha256:{SHA256}",
    "latest": "1.2.0",
    "findings": [],
    "locked": False,
    "created_at": "2026-01-31T09:00:00Z",
    "updated_at": "2026-01-31T09:30:00Z",
}


def _tools(value: object) -> object:
    return list(tools_in(value)) if isinstance(value, str) else value


def _bounded(value: dict[str, Any]) -> dict[str, Any]:
    """Refuses what is nested more deeply than frontmatter may be."""
    level: list[object] = [value]
    for _ in range(MAX_FRONTMATTER_DEPTH):
        level = [item for holder in level for item in _items(holder)]
        if not level:
            return value
    raise ValueError(f"nested more than {MAX_FRONTMATTER_DEPTH} levels deep")


def _items(holder: object) -> Sequence[object]:
    if isinstance(holder, dict):
        return list(cast("dict[str, object]", holder).values())
    return cast("list[object]", holder) if isinstance(holder, list) else ()


Name = Annotated[
    str, Field(min_length=1, max_length=256, description="Unique in its namespace, compared without case.")
]
Description = Annotated[str, Field(min_length=1, description="What the skill does and when to use it.")]
Content = Annotated[str, Field(description="The Markdown body of SKILL.md.")]
Tags = Annotated[list[Annotated[str, Field(min_length=1, max_length=256)]], Field(max_length=_MAX_TAGS)]
Metadata = Annotated[dict[str, Any], AfterValidator(_bounded), Field(description="Further facts, text to text.")]
Tools = Annotated[
    list[str],
    BeforeValidator(_tools, json_schema_input_type=list[str] | str),
    Field(description="Tools that the skill may use: a list, or one text with spaces or commas."),
]
Files = Annotated[list[SkillFileCreate], Field(max_length=MAX_BUNDLE_FILES)]


class _SkillBody(Request):
    """What the bodies that write a skill share."""

    is_public: bool | None = Field(default=None, description="Whether everyone in the tenant may see it.")
    visibility: Visibility | None = Field(
        default=None, description="More exactly than `is_public`: `discoverable` shows it to the world."
    )
    license: str | None = None
    compatibility: str | None = None
    metadata: Metadata | None = None
    allowed_tools: Tools | None = None
    files: Files | None = None

    @model_validator(mode="after")
    def _one_visibility(self) -> Self:
        problem = contradiction(self.is_public, self.visibility)
        if problem is not None:
            raise ValueError(problem)
        return self

    @property
    def fields(self) -> dict[str, Any]:
        """Those that were given and that SKILL.md says."""
        return self.model_dump(include=set(_FIELDS), exclude_none=True)

    @property
    def bundle_files(self) -> list[BundleFile] | None:
        return None if self.files is None else [file.as_file() for file in self.files]


class SkillCreate(_SkillBody):
    """A skill to be made. Its owner is who asks."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    **_WRITTEN,
                    "files": [{"path": "scripts/tables.py", "content": "print('tables')\n", "executable": True}],
                }
            ]
        }
    )

    name: Name
    description: Description
    content: Content = ""
    tags: Tags = Field(default_factory=list[str])
    namespace: str | None = Field(default=None, description="A person's or a team's; your own unless given.")


class SkillUpdate(_SkillBody):
    """What is to be changed; what is not given, or null, stays. `files` replaces all files beside SKILL.md."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"description": "Extracts tables from PDF files.", "tags": ["pdf"]}]}
    )

    name: Name | None = None
    description: Description | None = None
    content: Content | None = None
    tags: Tags | None = None


class SkillSummarySchema(BaseModel):
    """A skill in a short list."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    namespace: str
    name: str
    full_name: str = Field(description="`namespace/name`.")
    description: str
    tags: list[str]
    is_public: bool
    visibility: Visibility
    owner_id: str | None = Field(description="Null for a system skill.")
    digest: str = Field(description="Of the working copy: what an edit names in If-Match.")
    latest: str | None = Field(description="The version that is shipped when none is named.")
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, skill: Skill) -> Self:
        return cls.model_validate(_values(skill, cls))


class SkillSchema(SkillSummarySchema):
    """A skill as it stands: the fields are what its SKILL.md says."""

    model_config = ConfigDict(json_schema_extra={"examples": [_KEPT]})

    content: str = Field(description="The Markdown body of SKILL.md.")
    files: list[SkillFileSchema]
    license: str
    compatibility: str
    metadata: dict[str, Any]
    allowed_tools: list[str]
    requires: str = Field(description="The skills it needs, such as `other-skill >=1.2`.")
    findings: list[FindingBody] = Field(description="What reading and scanning it found.")
    locked: bool = Field(description="Whether what is learned from feedback is only proposed for it.")


class Deleted(BaseModel):
    """What is gone."""

    id: str


class FormattedText(BaseModel):
    """A skill as text for people."""

    kind: str
    text: str


def etag_of_skill(skill: Skill) -> str:
    return f'"{skill.digest.removeprefix("sha256:")}-{skill.changed}"'


def skill_values(skill: Skill) -> dict[str, Any]:
    """A skill in the words of `SkillSchema`."""
    return _values(skill, SkillSchema)


def _values(skill: Skill, schema: type[BaseModel]) -> dict[str, Any]:
    values = {name: getattr(skill, name) for name in schema.model_fields}
    if "files" in values:
        values["files"] = [SkillFileSchema.of(file) for file in skill.files]
    return values
