"""Gaps: what is done by hand, or tried in vain, again and again, and has no skill."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.blobs.store import Blobs
from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.identity.principals import Principal
from skillyard.releases.mining.findings import GapKind, MinedSequence, SessionLog
from skillyard.releases.mining.sequences import mine
from skillyard.releases.mining_material import Room, asked_for, sessions_of
from skillyard.releases.models import CandidateRow, ReleaseRow

DAYS: Final = 30
LEAST: Final = 2
"""How often something was done before it counts as repeated."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MissingSkill:
    """Something for which there is no skill in use."""

    kind: GapKind
    summary: str
    count: int
    last_at: datetime | None
    execution_ids: Sequence[str]
    candidate_id: str | None = None
    """The candidate that could become the skill."""


class Gaps:
    """Looks through what a person ran lately for what a skill is missing for."""

    def __init__(self, database: Database, blobs: Blobs, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._blobs = blobs
        self._clock = clock

    async def all(self, caller: Principal) -> list[MissingSkill]:
        """What the caller lacks a skill for, the most frequent first."""
        since = self._clock() - timedelta(days=DAYS)
        async with self._database.read() as session:
            ids = await asked_for(session, caller.person_id, {"since": since.isoformat()}, Room())
        sessions = await sessions_of(self._database, self._blobs, caller.person_id, ids)
        result = await asyncio.to_thread(mine, sessions)
        repeated = [sequence for sequence in result.sequences if sequence.repeats >= LEAST]
        async with self._database.read() as session:
            candidates = await _candidates(session, caller.person_id, repeated)
        times = _times(sessions)
        found = [
            MissingSkill(
                kind=gap.kind,
                summary=gap.description,
                count=gap.count,
                last_at=_last(times, gap.execution_ids),
                execution_ids=gap.execution_ids,
            )
            for gap in result.gaps
        ]
        for sequence in repeated:
            known = [candidates[form] for form in _forms(sequence) if form in candidates]
            if not any(in_use for _, in_use in known):
                found.append(
                    MissingSkill(
                        kind=GapKind.MANUAL,
                        summary=sequence.summary,
                        count=sequence.repeats,
                        last_at=_last(times, sequence.execution_ids),
                        execution_ids=sequence.execution_ids,
                        candidate_id=known[0][0] if known else None,
                    )
                )
        return sorted(found, key=lambda gap: (-gap.count, gap.summary))


def gaps_document(gaps: Sequence[MissingSkill]) -> dict[str, Any]:
    """Gaps as they are told to clients."""
    return {
        "items": [
            {
                "kind": gap.kind.value,
                "summary": gap.summary,
                "count": gap.count,
                "last_at": gap.last_at,
                "execution_ids": list(gap.execution_ids),
                "candidate_id": gap.candidate_id,
            }
            for gap in gaps
        ],
        "total": len(gaps),
    }


async def _candidates(
    session: AsyncSession, owner_id: str, sequences: Sequence[MinedSequence]
) -> dict[str, tuple[str, bool]]:
    """For each task that is known, by its canonical form, its newest candidate and whether the task has a skill."""
    forms = {form for sequence in sequences for form in _forms(sequence)}
    query = (
        select(CandidateRow.canonical, CandidateRow.id, ReleaseRow.is_active)
        .outerjoin(ReleaseRow, (ReleaseRow.candidate_id == CandidateRow.id) & ReleaseRow.is_active.is_(True))
        .where(
            CandidateRow.owner_id == owner_id,
            CandidateRow.canonical.in_(forms),
            CandidateRow.deleted_at.is_(None),
        )
        .order_by(CandidateRow.created_at)
    )
    known: dict[str, tuple[str, bool]] = {}
    for canonical, candidate_id, is_active in await session.execute(query):
        if canonical is not None:
            in_use = bool(is_active) or known.get(canonical, ("", False))[1]
            known[canonical] = (candidate_id, in_use)
    return known


def _forms(sequence: MinedSequence) -> tuple[str, ...]:
    return (sequence.canonical, *sequence.variants)


def _times(sessions: Sequence[SessionLog]) -> dict[str, datetime]:
    return {entry.execution.id: entry.execution.created_at for log in sessions for entry in log.entries}


def _last(times: Mapping[str, datetime], execution_ids: Sequence[str]) -> datetime | None:
    return max((times[each] for each in execution_ids if each in times), default=None)
