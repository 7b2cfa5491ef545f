"""A skill as its author gives it: the parts, and the document that they make."""

from collections.abc import Mapping, Sequence
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from skillyard.skill.bundle import SKILL_FILE, BundleFile, BundleRead, bundle_of
from skillyard.skill.limits import MAX_DESCRIPTION, MAX_NAME
from skillyard.skill.write import compose_skill_md

_MAX_FILES: Final = 50
_SHEBANG: Final = "#!"


class SkillArtifact(BaseModel):
    """A whole skill."""

    model_config = ConfigDict(extra="ignore")

    name: str = Field(min_length=1, max_length=MAX_NAME, description="lower-case words joined by hyphens")
    description: str = Field(min_length=1, max_length=MAX_DESCRIPTION, description="what it does and when to use it")
    overview: str = ""
    steps: list[str] | str = ""
    usage: str = ""
    body_markdown: str | None = Field(default=None, description="the whole text below the frontmatter, without any")
    additional_files: dict[str, str] = Field(
        default_factory=dict[str, str], max_length=_MAX_FILES, description="path below the skill's folder -> content"
    )

    def bundle(self) -> BundleRead:
        """Its files; what is wrong with their paths is said."""
        document = format_skill_document(
            self.name, self.description, self.overview, self.steps, self.usage, body_markdown=self.body_markdown
        )
        return bundle_of([BundleFile(SKILL_FILE, document.encode()), *files_of(self.additional_files)])


def format_skill_document(
    name: str,
    description: str,
    overview: str = "",
    steps: str | Sequence[str] = "",
    usage: str = "",
    *,
    body_markdown: str | None = None,
    additional_fields: Mapping[str, object] | None = None,
) -> str:
    """The text of a SKILL.md: the given body as it is, else one of overview, steps and usage."""
    body = body_markdown if body_markdown and body_markdown.strip() else _assembled(overview, steps, usage)
    return compose_skill_md(name, description, body if body.endswith("\n") else f"{body}\n", additional_fields)


def files_of(texts: Mapping[str, str]) -> list[BundleFile]:
    """Files with these texts; a text that names its interpreter can be run."""
    return [new_file(path, text) for path, text in texts.items()]


def new_file(path: str, text: str) -> BundleFile:
    return BundleFile(path, text.encode("utf-8", "replace"), executable=text.startswith(_SHEBANG))


def _assembled(overview: str, steps: str | Sequence[str], usage: str) -> str:
    listed = steps if isinstance(steps, str) else "\n".join(f"{at}. {step}" for at, step in enumerate(steps, 1))
    sections = (("Overview", overview), ("Steps", listed), ("Usage", usage))
    return "\n\n".join(f"## {title}\n\n{text.strip()}" for title, text in sections if text.strip())
