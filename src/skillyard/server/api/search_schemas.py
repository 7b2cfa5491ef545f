"""What a search answers with."""

from typing import Any, Final, Self

from pydantic import BaseModel, ConfigDict, Field

from skillyard.app.registry_search import FoundSkill
from skillyard.search import Snippet
from skillyard.server.api.skill_schemas import SkillSummarySchema
from skillyard.server.models import SuccessList

_SNIPPET: Final[dict[str, Any]] = {"text": "Extracts tables from PDF files.", "marks": [[9, 15], [21, 24]]}


class SnippetSchema(BaseModel):
    """A piece of the skill's text that shows why it was found."""

    model_config = ConfigDict(json_schema_extra={"examples": [_SNIPPET]})

    text: str
    marks: list[tuple[int, int]] = Field(
        description="Where in the text the words asked for are: start and end, counted in characters (code points)."
    )

    @classmethod
    def of(cls, snippet: Snippet) -> Self:
        return cls(text=snippet.text, marks=list(snippet.marks))


class FoundSkillSchema(SkillSummarySchema):
    """A skill that fits the query."""

    score: float = Field(description="How well it fits; to be compared within one answer only.")
    snippet: SnippetSchema

    @classmethod
    def of_found(cls, found: FoundSkill) -> Self:
        summary = SkillSummarySchema.of(found.skill).model_dump()
        return cls.model_validate({**summary, "score": found.score, "snippet": SnippetSchema.of(found.snippet)})


class FoundSkillsSchema(SuccessList[FoundSkillSchema]):
    """The best of the skills that fit."""

    is_more: bool = Field(description="Whether there may be others, less relevant, that `total` does not count.")
