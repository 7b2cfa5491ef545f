"""Finding learned skills by what they are for, in any language."""

import asyncio
from dataclasses import dataclass
from typing import Final

from skillyard.db.database import Database
from skillyard.identity.principals import Principal
from skillyard.releases.models import CandidateRow
from skillyard.releases.store import candidates_of, rendered_releases
from skillyard.releases.values import Candidate, Release, Status, value_of
from skillyard.search import Document, SkillIndex

_NEWEST: Final = 1_000
"""Candidates that are looked through."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundSkill:
    """A candidate that fits, and its release if it is in use."""

    candidate: Candidate
    release: Release | None
    score: float


class SkillSearch:
    """Ranks a person's candidates with the same search that finds any skill."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def search(
        self,
        caller: Principal,
        query: str,
        *,
        status: Status | None = None,
        skill_key: str | None = None,
        limit: int = 10,
    ) -> list[FoundSkill]:
        """What fits best, first; nothing, where nothing fits."""
        newest = candidates_of(caller, status=status, skill_key=skill_key).order_by(CandidateRow.created_at.desc())
        async with self._database.read() as session:
            rows = await session.scalars(newest.limit(_NEWEST))
            candidates = {row.id: value_of(Candidate, row) for row in rows}
            active = await rendered_releases(session, caller.person_id)
        releases = {row.candidate_id: value_of(Release, row) for row in active}
        hits = await asyncio.to_thread(_ranked, list(candidates.values()), query, limit)
        return [FoundSkill(candidate=candidates[key], release=releases.get(key), score=score) for key, score in hits]


def _ranked(candidates: list[Candidate], query: str, limit: int) -> list[tuple[str, float]]:
    documents = [
        Document(
            key=each.id,
            name=each.name or each.skill_key,
            description=" ".join(filter(None, (each.skill_key, each.summary, each.scenario_key, each.usage_notes))),
        )
        for each in candidates
    ]
    if not documents:
        return []
    return [(hit.key, hit.score) for hit in SkillIndex.of(documents).search(query, limit=limit).hits]
