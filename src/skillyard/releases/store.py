"""Reading what this room keeps; everything is asked for by its owner."""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Final

from sqlalchemy import Select, and_, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.errors import InputError, NotFoundError
from skillyard.identity.namespaces import role_held
from skillyard.identity.principals import Principal, Role
from skillyard.identity.store import namespace_with_id
from skillyard.jobs.rows import JobState
from skillyard.registry.models import SkillRow, VersionRow
from skillyard.registry.store import skill_with_id
from skillyard.releases.models import CandidateRow, EvaluationRow, ReleaseRow, SkillRunRow
from skillyard.releases.values import EvaluationKind, ReleaseState, Stage
from skillyard.sandbox.executions import Execution, execution_of
from skillyard.sandbox.models import ExecutionNoteRow, ExecutionRow

MAX_PAGE: Final = 500


def require_page(limit: int, offset: int) -> None:
    if not 1 <= limit <= MAX_PAGE or offset < 0:
        field, value = ("offset", offset) if offset < 0 else ("limit", limit)
        raise InputError(
            f"There is no page of {limit} from {offset} on.",
            hint=f"Use a limit of 1 to {MAX_PAGE} and an offset of 0 or more.",
            details={"field": field, "value": value, "limit": MAX_PAGE},
        )


def aware(moment: datetime) -> datetime:
    """A moment that was said without a time zone is in UTC."""
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


async def own_candidate(session: AsyncSession, caller: Principal, candidate_id: str) -> CandidateRow:
    """A candidate of the caller's; another's, and one that was deleted, is not there."""
    row = await session.get(CandidateRow, candidate_id)
    if row is None or row.deleted_at is not None or not await _decides(session, caller, row):
        raise NotFoundError(
            f"There is no candidate {candidate_id[:100]!r}.",
            hint="List yours: skillyard release candidates",
            details={"candidate_id": candidate_id[:100]},
        )
    return row


async def own_release(session: AsyncSession, caller: Principal, release_id: str) -> ReleaseRow:
    row = await session.get(ReleaseRow, release_id)
    if row is None or row.deleted_at is not None or not await _decides(session, caller, row):
        raise NotFoundError(
            f"There is no release {release_id[:100]!r}.",
            hint="List yours: skillyard release list",
            details={"release_id": release_id[:100]},
        )
    return row


async def own_evaluation(session: AsyncSession, caller: Principal, evaluation_id: str) -> EvaluationRow:
    row = await session.get(EvaluationRow, evaluation_id)
    if row is None or row.owner_id != caller.person_id:
        raise NotFoundError(
            f"There is no evaluation {evaluation_id[:100]!r}.",
            hint="A candidate lists its own.",
            details={"evaluation_id": evaluation_id[:100]},
        )
    return row


async def own_executions(session: AsyncSession, owner_id: str, ids: Collection[str]) -> dict[str, Execution]:
    """Those of the executions that are a person's, by id."""
    query = (
        select(ExecutionRow, ExecutionNoteRow)
        .outerjoin(ExecutionNoteRow, ExecutionNoteRow.execution_id == ExecutionRow.id)
        .where(ExecutionRow.id.in_(list(ids)), ExecutionRow.owner_id == owner_id)
    )
    return {row.id: execution_of(row, note) for row, note in await session.execute(query)}


def candidates_of(caller: Principal, *, status: str | None, skill_key: str | None) -> Select[CandidateRow]:
    query = select(CandidateRow).where(CandidateRow.owner_id == caller.person_id, CandidateRow.deleted_at.is_(None))
    if status is not None:
        query = query.where(CandidateRow.status == status)
    if skill_key is not None:
        query = query.where(CandidateRow.skill_key == skill_key)
    return query


def releases_of(
    caller: Principal, *, skill_key: str | None = None, stage: str | None = None, active_only: bool = False
) -> Select[ReleaseRow]:
    query = select(ReleaseRow).where(ReleaseRow.owner_id == caller.person_id, ReleaseRow.deleted_at.is_(None))
    if skill_key is not None:
        query = query.where(ReleaseRow.skill_key == skill_key)
    if stage is not None:
        query = query.where(ReleaseRow.stage == stage)
    return query.where(ReleaseRow.is_active.is_(True)) if active_only else query


def newest_of_each(query: Select[ReleaseRow]) -> Select[ReleaseRow]:
    """The newest of these releases of each skill."""
    newest = query.with_only_columns(ReleaseRow.skill_key, func.max(ReleaseRow.version).label("version"))
    latest = newest.group_by(ReleaseRow.skill_key).subquery()
    same = and_(ReleaseRow.skill_key == latest.c.skill_key, ReleaseRow.version == latest.c.version)
    return query.join(latest, same)


async def active_releases(session: AsyncSession, owner_id: str, skill_key: str | None = None) -> list[ReleaseRow]:
    """What a person, or one skill of theirs, has in use."""
    query = select(ReleaseRow).where(ReleaseRow.owner_id == owner_id, ReleaseRow.is_active.is_(True))
    if skill_key is not None:
        query = query.where(ReleaseRow.skill_key == skill_key)
    return list(await session.scalars(query.order_by(ReleaseRow.skill_key, ReleaseRow.version)))


async def rendered_releases(session: AsyncSession, owner_id: str, skill_key: str | None = None) -> list[ReleaseRow]:
    """The same without skills that the registry has by itself, which are attached to agents, and run by none."""
    return [row for row in await active_releases(session, owner_id, skill_key) if row.skill_id is None]


async def releases_of_skills(session: AsyncSession, skill_ids: Collection[str]) -> list[ReleaseRow]:
    """What is in use of skills that the registry has by itself, the oldest first."""
    query = select(ReleaseRow).where(ReleaseRow.skill_id.in_(list(skill_ids)), ReleaseRow.is_active.is_(True))
    return list(await session.scalars(query.order_by(ReleaseRow.promoted_at, ReleaseRow.id)))


async def next_version(session: AsyncSession, owner_id: str, skill_key: str) -> int:
    """The number of the next release of a skill; deleted ones keep theirs."""
    query = select(func.max(ReleaseRow.version)).where(
        ReleaseRow.owner_id == owner_id, ReleaseRow.skill_key == skill_key
    )
    return (await session.scalar(query) or 0) + 1


async def last_good(session: AsyncSession, bad: ReleaseRow) -> ReleaseRow | None:
    """Where a rollback goes: the last stable release of a candidate that was never taken back, else such a canary.

    A candidate that was taken back is good again only by a release that came after that.
    """
    again = or_(CandidateRow.rolled_back_at.is_(None), ReleaseRow.promoted_at > CandidateRow.rolled_back_at)
    query = (
        select(ReleaseRow)
        .join(CandidateRow, CandidateRow.id == ReleaseRow.candidate_id)
        .where(
            ReleaseRow.owner_id == bad.owner_id,
            ReleaseRow.skill_key == bad.skill_key,
            ReleaseRow.candidate_id != bad.candidate_id,
            ReleaseRow.deleted_at.is_(None),
            ReleaseRow.state.in_([ReleaseState.ACTIVE.value, ReleaseState.SUPERSEDED.value]),
            CandidateRow.deleted_at.is_(None),
            again,
        )
        .order_by((ReleaseRow.stage == Stage.STABLE.value).desc(), ReleaseRow.version.desc())
        .limit(1)
    )
    return await session.scalar(query)


async def was_replayed(session: AsyncSession, candidate_id: str) -> bool:
    """Whether replays, and not only a verdict from elsewhere, speak for a candidate."""
    query = select(EvaluationRow.id).where(
        EvaluationRow.candidate_id == candidate_id,
        EvaluationRow.kind == EvaluationKind.REPLAY.value,
        EvaluationRow.state == JobState.DONE.value,
        EvaluationRow.passed.is_(True),
    )
    return await session.scalar(query.limit(1)) is not None


async def in_use_of(session: AsyncSession, row: ReleaseRow) -> ReleaseRow | None:
    """What of the candidate of a release is in use: that release, or the stable one that it became."""
    query = select(ReleaseRow).where(
        ReleaseRow.candidate_id == row.candidate_id, ReleaseRow.is_active.is_(True), ReleaseRow.version >= row.version
    )
    return await session.scalar(query.order_by(ReleaseRow.version.desc()).limit(1))


async def is_released(session: AsyncSession, candidate_id: str) -> bool:
    query = select(ReleaseRow.id).where(ReleaseRow.candidate_id == candidate_id, ReleaseRow.is_active.is_(True))
    return await session.scalar(query.limit(1)) is not None


async def accepted_digests(session: AsyncSession, owner: str, digests: Collection[str]) -> set[str]:
    """Those of these bundles that a version of the owner has with a reason for accepting its findings."""
    query = (
        select(VersionRow.digest)
        .join(SkillRow, SkillRow.id == VersionRow.skill_id)
        .where(VersionRow.digest.in_(digests), VersionRow.waiver.is_not(None), SkillRow.owner_id == owner)
    )
    return set(await session.scalars(query))


async def uses_of(session: AsyncSession, release_ids: Sequence[str]) -> dict[str, int]:
    """How often each of these releases was run."""
    query = select(SkillRunRow.release_id, func.count()).where(SkillRunRow.release_id.in_(release_ids))
    rows = await session.execute(query.group_by(SkillRunRow.release_id))
    return {release_id: count for release_id, count in rows if release_id is not None}


async def _decides(session: AsyncSession, caller: Principal, row: CandidateRow | ReleaseRow) -> bool:
    """Whether something is the caller's; of a skill of the registry, whether they may publish that."""
    if caller.tenant_id != row.tenant_id:
        return False
    if caller.person_id == row.owner_id or row.skill_id is None:
        return caller.person_id == row.owner_id
    skill = await skill_with_id(session, row.skill_id)
    namespace = skill and await namespace_with_id(session, skill.namespace_id)
    return namespace is not None and role_held(caller, namespace).covers(Role.PUBLISHER)
