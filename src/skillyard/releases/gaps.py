"""Gaps: what is done by hand, or tried in vain, again and again, and has no skill."""

import asyncio
from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.blobs.store import Blobs
from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.identity.principals import Principal
from skillyard.releases.mining.findings import GapKind, SessionLog
from skillyard.releases.mining.sequences import mine
from skillyard.releases.mining_material import Room, asked_for, sessions_of
from skillyard.releases.models import CandidateRow, ReleaseRow
from skillyard.sandbox.models import ExecutionNoteRow

DAYS: Final = 30
LEAST: Final = 2
"""How often something was done before it counts as repeated."""
_MOST_KEPT: Final = 100
"""People for whom it is kept what was found."""


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


@dataclass(frozen=True, kw_only=True, slots=True)
class _Looked:
    """What was found in some executions; it stays true as long as these are the ones to look through."""

    key: tuple[object, ...]
    gaps: Sequence[MissingSkill]
    repeated: Sequence[tuple[MissingSkill, tuple[str, ...]]]
    """With the canonical forms of each."""


class Gaps:
    """Looks through what a person ran lately for what a skill is missing for.

    However much that is, the newest are looked through, and only once: what was found is kept until there is more.
    """

    def __init__(self, database: Database, blobs: Blobs, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._blobs = blobs
        self._clock = clock
        self._looked: OrderedDict[str, _Looked] = OrderedDict()
        """By owner, who asked last in the end."""
        self._turn = asyncio.Lock()

    async def all(self, caller: Principal) -> list[MissingSkill]:
        """What the caller lacks a skill for, the most frequent first."""
        async with self._turn:  # those who ask at once are answered from one look
            looked = await self._look(caller.person_id)
        async with self._database.read() as session:
            forms = {form for _, each in looked.repeated for form in each}
            candidates = await _candidates(session, caller.person_id, forms)
        found = list(looked.gaps)
        for gap, forms in looked.repeated:
            known = [candidates[form] for form in forms if form in candidates]
            if not any(in_use for _, in_use in known):
                found.append(replace(gap, candidate_id=known[0][0] if known else None))
        return sorted(found, key=lambda gap: (-gap.count, gap.summary))

    async def _look(self, owner_id: str) -> _Looked:
        since = self._clock() - timedelta(days=DAYS)
        async with self._database.read() as session:
            ids = await asked_for(session, owner_id, {"since": since.isoformat()}, Room())
            said = select(func.count(), func.max(ExecutionNoteRow.updated_at)).where(
                ExecutionNoteRow.execution_id.in_(ids)
            )
            key = (tuple(ids), *(await session.execute(said)).one())
        looked = self._looked.get(owner_id)
        if looked is None or looked.key != key:
            sessions = await sessions_of(self._database, self._blobs, owner_id, ids)
            looked = await asyncio.to_thread(_looked, key, sessions)
        self._looked[owner_id] = looked
        self._looked.move_to_end(owner_id)
        if len(self._looked) > _MOST_KEPT:
            self._looked.popitem(last=False)
        return looked


def _looked(key: tuple[object, ...], sessions: Sequence[SessionLog]) -> _Looked:
    result = mine(sessions)
    times = {entry.execution.id: entry.execution.created_at for log in sessions for entry in log.entries}

    def told(kind: GapKind, summary: str, count: int, ids: Sequence[str]) -> MissingSkill:
        last = max((times[each] for each in ids if each in times), default=None)
        return MissingSkill(kind=kind, summary=summary, count=count, last_at=last, execution_ids=ids)

    return _Looked(
        key=key,
        gaps=[told(gap.kind, gap.description, gap.count, gap.execution_ids) for gap in result.gaps],
        repeated=[
            (told(GapKind.MANUAL, one.summary, one.repeats, one.execution_ids), (one.canonical, *one.variants))
            for one in result.sequences
            if one.repeats >= LEAST
        ],
    )


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


async def _candidates(session: AsyncSession, owner_id: str, forms: Collection[str]) -> dict[str, tuple[str, bool]]:
    """For each task that is known, by its canonical form, its newest candidate and whether the task has a skill."""
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
