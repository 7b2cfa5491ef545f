"""What in the registry is like a skill, among what a principal may see."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from skillyard.app.registry_search import RegistrySearch
from skillyard.app.similarity import REGISTRY_FIELDS, checked_threshold, files_key
from skillyard.db.database import Database
from skillyard.identity.principals import Principal, Scope
from skillyard.registry.rights import visible_skill
from skillyard.registry.skills import Skill
from skillyard.registry.twins import twins_of
from skillyard.search.similar import Likeness, Sketch, like, sketch_of

MOST_CANDIDATES: Final = 50
"""Of so many skills that search finds by the text of one, all that are like it are among the first few."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SimilarSkills:
    """What a principal may see that is like a skill."""

    threshold: float
    skill: Skill
    found: tuple[tuple[Skill, Likeness], ...]
    is_fresh: bool
    """Whether every change until now was taken into account: then it holds until the next."""


async def similar_in_registry(
    database: Database, search: RegistrySearch, principal: Principal, skill_id: str, *, threshold: float
) -> SimilarSkills:
    """What is like a skill's working copy, the most alike first.

    It is compared with the skills that search finds by its text, and with those of its name or content. Who may see
    what is part of both queries: a skill that is not for the principal is never a candidate.
    """
    principal.require_scope(Scope.READ)
    checked_threshold(threshold)
    async with database.read() as session:
        skill = await visible_skill(session, principal, skill_id)
        twins = await twins_of(session, skill, principal.audiences, limit=MOST_CANDIDATES)
    query = f"{skill.name}\n{skill.description}\n{skill.content}"
    found = await search.search(principal, query, limit=MOST_CANDIDATES)
    others = {other.id: other for other in (*twins, *(each.skill for each in found.best))}
    alike = await asyncio.to_thread(_like, skill, others, threshold)
    return SimilarSkills(
        threshold=threshold,
        skill=skill,
        found=tuple((others[likeness.key], likeness) for likeness in alike),
        is_fresh=found.is_fresh,
    )


class _Skills:
    """Skills of the registry, all of them at hand."""

    def __init__(self, skills: Iterable[Skill]) -> None:
        self._skills = {skill.id: skill for skill in skills}

    def body(self, key: str) -> str:
        return self._skills[key].content

    def files(self, key: str) -> str:
        return files_key((file.path, file.sha256, file.executable) for file in self._skills[key].files)


def _like(skill: Skill, others: Mapping[str, Skill], threshold: float) -> list[Likeness]:
    closer = _Skills((skill, *others.values()))
    return like(_sketch(skill), map(_sketch, others.values()), closer, threshold=threshold)


def _sketch(skill: Skill) -> Sketch:
    return sketch_of(
        skill.id,
        name=skill.name,
        description=skill.description,
        fields={field: getattr(skill, field) for field in REGISTRY_FIELDS},
        body=skill.content,
    )
