"""Skills that are like one."""

from typing import Annotated, Self

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from skillyard.app.registry_similarity import SimilarSkills, similar_in_registry
from skillyard.registry.skills import Skill
from skillyard.search.similar import LOWEST, NEAR, Kind, Likeness
from skillyard.server.api.caller import Caller, TheYard
from skillyard.server.api.shapes import BEARER, errors
from skillyard.server.auth import not_kept
from skillyard.server.models import Success

router = APIRouter(prefix="/api/v1", tags=["search"], responses=errors(503), dependencies=[BEARER])


class SimilarSkillSchema(BaseModel):
    id: str
    full_name: str = Field(examples=["acme/refunds"])
    description: str
    digest: str
    kind: Kind = Field(
        description="`exact`: the same, perhaps under another name; `near`: the same with edits; `same-name`: another "
        "skill of that name; `template`: another skill, written from the same template."
    )
    similarity: float = Field(description="The share of their instructions that both have; 1 when it is all.")
    differs: list[str] = Field(description="Where they differ: `name`, `description`, `fields`, `body`, `files`.")

    @classmethod
    def of(cls, skill: Skill, likeness: Likeness) -> Self:
        return cls(
            id=skill.id,
            full_name=skill.full_name,
            description=skill.description,
            digest=skill.digest,
            kind=likeness.kind,
            similarity=round(likeness.similarity, 2),
            differs=list(likeness.differs),
        )


class SimilarSchema(BaseModel):
    """What is like a skill, the most alike first."""

    id: str
    full_name: str
    threshold: float
    similar: list[SimilarSkillSchema]

    @classmethod
    def of(cls, found: SimilarSkills) -> Self:
        return cls(
            id=found.skill.id,
            full_name=found.skill.full_name,
            threshold=found.threshold,
            similar=[SimilarSkillSchema.of(skill, likeness) for skill, likeness in found.found],
        )


@router.get("/skills/{skill_id}/similar", summary="Skills that are like one")
async def get_similar(
    request: Request,
    skill_id: str,
    yard: TheYard,
    caller: Caller,
    threshold: Annotated[
        float, Query(ge=LOWEST, le=1, description="From what share of common text on, skills are near.")
    ] = NEAR,
) -> Success[SimilarSchema]:
    """Copies and variants of a skill, and others of its name, among those that you may see. No model is asked."""
    found = await similar_in_registry(yard.database, yard.search, caller, skill_id, threshold=threshold)
    if not found.is_fresh:
        await not_kept(request)
    return Success(data=SimilarSchema.of(found))
