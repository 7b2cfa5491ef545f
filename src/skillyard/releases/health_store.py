"""Counting the runs of releases: only those that tell how a release does in use, never those of evaluations."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, case, exists, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.releases.decisions.tally import Tally
from skillyard.releases.models import ReleaseRow, SkillRunRow
from skillyard.releases.outcomes import Verdict
from skillyard.releases.store import active_releases, last_good
from skillyard.releases.values import ReleaseState, RunOrigin, Stage

_PASSED: Final = func.coalesce(func.sum(case((SkillRunRow.verdict == Verdict.PASS.value, 1), else_=0)), 0)
_GOOD: Final = (ReleaseState.ACTIVE.value, ReleaseState.SUPERSEDED.value, ReleaseState.RETIRED.value)


class RunGlance(NamedTuple):
    """What decisions need to know of a run."""

    at: datetime
    passed: bool
    milliseconds: int
    origin: str

    @property
    def is_replay(self) -> bool:
        """Whether it was taken here, and timed; what agents tell of has no duration."""
        return self.origin == RunOrigin.REPLAY


async def tally_of(
    session: AsyncSession,
    release_ids: Sequence[str],
    *,
    since: datetime | None = None,
    replays_only: bool = False,
) -> Tally:
    """How the runs of releases ended."""
    query = select(_PASSED, func.count()).where(*_of(release_ids, since, None))
    if replays_only:
        query = query.where(SkillRunRow.origin == RunOrigin.REPLAY.value)
    passes, runs = (await session.execute(query)).one()
    return Tally(int(passes), runs)


async def tallies_of(session: AsyncSession, release_ids: Sequence[str]) -> dict[str, Tally]:
    """How the runs of each of these releases ended; those that never ran are left out."""
    if not release_ids:
        return {}
    query = select(SkillRunRow.release_id, _PASSED, func.count()).where(*_of(release_ids, None, None))
    rows = await session.execute(query.group_by(SkillRunRow.release_id))
    return {release_id: Tally(int(passes), runs) for release_id, passes, runs in rows if release_id is not None}


async def newest_runs(
    session: AsyncSession, release_ids: Sequence[str], *, limit: int, before: datetime | None = None
) -> list[RunGlance]:
    """The newest runs of releases, the newest first."""
    query: Select[datetime, str, int, str] = (
        select(SkillRunRow.created_at, SkillRunRow.verdict, SkillRunRow.milliseconds, SkillRunRow.origin)
        .where(*_of(release_ids, None, before))
        .order_by(SkillRunRow.created_at.desc(), SkillRunRow.id.desc())
        .limit(limit)
    )
    rows = await session.execute(query)
    return [RunGlance(at, verdict == Verdict.PASS, milliseconds, origin) for at, verdict, milliseconds, origin in rows]


async def held_against(session: AsyncSession, release: ReleaseRow) -> ReleaseRow | None:
    """The release that another is compared with: what is stable, or, of what is stable, what was so before."""
    if release.stage == Stage.CANARY:
        active = await active_releases(session, release.owner_id, release.skill_key)
        return next((row for row in active if row.stage == Stage.STABLE and row.id != release.id), None)
    before = await last_good(session, release)
    return before if before is not None and before.stage == Stage.STABLE else None


async def speaking_for(session: AsyncSession, release: ReleaseRow) -> list[str]:
    """The releases whose runs tell how good this one is: of the same candidate, and none that was taken back."""
    query = select(ReleaseRow.id).where(
        ReleaseRow.owner_id == release.owner_id,
        ReleaseRow.candidate_id == release.candidate_id,
        or_(ReleaseRow.id == release.id, ReleaseRow.state.in_(_GOOD)),
    )
    return list(await session.scalars(query))


async def to_be_watched(session: AsyncSession, *, since: datetime | None) -> list[str]:
    """The releases in use of everyone that may have to be decided on: canaries, and stable ones that ran since then.

    What a rollback brought back is left alone: if it does no better, it was not the release that was to blame.
    """
    ran = exists().where(SkillRunRow.release_id == ReleaseRow.id)
    if since is not None:
        ran = ran.where(SkillRunRow.created_at >= since)
    own = and_(ReleaseRow.stage == Stage.STABLE.value, ReleaseRow.rollback_of.is_(None), ran)
    query = (
        select(ReleaseRow.id)
        .where(ReleaseRow.is_active.is_(True), ReleaseRow.deleted_at.is_(None))
        .where(or_(ReleaseRow.stage == Stage.CANARY.value, own))
        .order_by(ReleaseRow.promoted_at, ReleaseRow.id)
    )
    return list(await session.scalars(query))


def _of(release_ids: Sequence[str], since: datetime | None, before: datetime | None) -> list[ColumnElement[bool]]:
    """Runs in use that got as far as the first step: what was not there before it is not the release's fault."""
    asked = [
        SkillRunRow.release_id.in_(release_ids),
        SkillRunRow.evaluation_id.is_(None),
        SkillRunRow.verdict != Verdict.PRECONDITION_FAIL.value,
    ]
    if since is not None:
        asked.append(SkillRunRow.created_at >= since)
    if before is not None:
        asked.append(SkillRunRow.created_at < before)
    return asked
