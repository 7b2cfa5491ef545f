"""Finding learned skills by what they are for, in any language."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from skillyard.db.database import Database
from skillyard.identity.principals import Principal
from skillyard.releases.models import CandidateRow
from skillyard.releases.store import candidates_of, rendered_releases
from skillyard.releases.values import Candidate, Release, Status, value_of
from skillyard.search import Document, Found, SkillIndex

MAX_SEARCHED: Final = 5_000
"""So many candidates are looked through, the newest: each search makes an index of them, half a second for all."""
_TEXTS: Final = (
    CandidateRow.id,
    CandidateRow.name,
    CandidateRow.skill_key,
    CandidateRow.summary,
    CandidateRow.scenario_key,
    CandidateRow.usage_notes,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundSkill:
    """A candidate that fits, and its release if it is in use."""

    candidate: Candidate
    release: Release | None
    score: float


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundSkills:
    """Some of the candidates that fit, best first."""

    items: Sequence[FoundSkill]
    total: int
    is_cut: bool
    """Whether there are older candidates that were not looked through."""


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
        offset: int = 0,
    ) -> FoundSkills:
        """What fits best, first; nothing, where nothing fits."""
        wanted = candidates_of(caller, status=status, skill_key=skill_key)
        newest = wanted.order_by(CandidateRow.created_at.desc(), CandidateRow.id.desc()).limit(MAX_SEARCHED + 1)
        async with self._database.read() as session:
            texts = (await session.execute(newest.with_only_columns(*_TEXTS))).all()
        documents = [_document(*each) for each in texts[:MAX_SEARCHED]]
        found = await asyncio.to_thread(_page, documents, query, limit, offset)
        async with self._database.read() as session:
            rows = await session.scalars(wanted.where(CandidateRow.id.in_([hit.key for hit in found.hits])))
            candidates = {row.id: value_of(Candidate, row) for row in rows}
            active = await rendered_releases(session, caller.person_id)
        releases = {row.candidate_id: value_of(Release, row) for row in active}
        items = [
            FoundSkill(candidate=candidates[hit.key], release=releases.get(hit.key), score=hit.score)
            for hit in found.hits
            if hit.key in candidates  # it may have been deleted meanwhile
        ]
        return FoundSkills(items=items, total=found.total, is_cut=len(texts) > MAX_SEARCHED)


def _document(key: str, name: str | None, skill_key: str, *texts: str | None) -> Document:
    return Document(key=key, name=name or skill_key, description=" ".join(filter(None, (skill_key, *texts))))


def _page(documents: Sequence[Document], query: str, limit: int, offset: int) -> Found:
    return SkillIndex.of(documents).page(query, limit=limit, offset=offset)
