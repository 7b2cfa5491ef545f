"""How tasks went for which agents used skills: counted as uses, and as runs of the releases that were used."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from sqlalchemy import and_, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.clock import Clock, utc_now
from skillyard.db.base import new_id
from skillyard.db.database import Database
from skillyard.db.transaction import Transaction
from skillyard.identity.principals import Principal, Scope
from skillyard.redact import redact, storable
from skillyard.registry.naming import KnownSkill
from skillyard.registry.skills import Version
from skillyard.registry.store import versions_of
from skillyard.registry.usage import SkillUsage, UsageReport
from skillyard.releases.ids import told_run_id
from skillyard.releases.models import ReleaseRow, SkillRunRow
from skillyard.releases.outcomes import Verdict
from skillyard.releases.store import own_executions
from skillyard.releases.values import RunOrigin, SkillRun, columns_of
from skillyard.sandbox.capture.secret_texts import mask_output
from skillyard.usage.events import MAX_OUTCOMES, MAX_VISITOR_OUTCOMES, UsageKind
from skillyard.usage.store import outcomes_in

MAX_EXECUTIONS: Final = 100
"""That one outcome may name."""
_UNCOUNTED: Final = (
    f"Kept, but not counted: {MAX_OUTCOMES:,} outcomes of a skill are counted for one person on one day, and of a "
    f"person without a role in its namespace {MAX_VISITOR_OUTCOMES}, on the day itself."
)
_AT_ONCE: Final = 500
"""Ids that one query names."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OutcomeReport:
    """What an agent tells about a task for which it used a skill."""

    skill: str
    """Its id or its full name."""
    succeeded: bool
    version: str = ""
    """Or its digest; without either, what was loaded last in the session."""
    digest: str = ""
    session: str = ""
    agent: str = ""
    detail: str = ""
    id: str | None = None
    """The agent's own id for it, so that it may be sent twice."""
    execution_ids: Sequence[str] = ()
    """What was run for the task, in sandboxes that had the skill."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OutcomeReceipt:
    """What became of it."""

    event: UsageKind
    recorded: bool
    """Kept as a use; not if it was told before."""
    counted: bool
    """Whether it is among the numbers of the day: not if it is one of more than are counted of one person."""
    skill: str
    version: str
    release_id: str | None = None
    run_id: str | None = None
    remark: str = ""
    """Why it is no run of a release."""


class OutcomeReports:
    """Takes what agents tell.

    A run speaks for or against a release, so it is kept only where it is known that the release was used: the same
    person loaded that version in the same session, once for every outcome, or ran something in a sandbox that had it.
    Of a release that was learned from executions only its owner tells; others' outcomes are uses.
    """

    def __init__(self, database: Database, usage: SkillUsage, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._usage = usage
        self._clock = clock

    async def report(self, caller: Principal, told: OutcomeReport) -> OutcomeReceipt:
        """Count an outcome, once."""
        skill = await self._usage.known(caller, told.skill)
        loads = await self._usage.loads(caller, skill.id, told.session) if told.session else {}
        async with self._database.read() as session:
            versions = (await versions_of(session, [skill.id])).get(skill.id, [])
            version = _version(told, versions, loads)
            release = await _release(session, caller, skill, version)
        number = version.version if version else told.version
        event = UsageKind.SUCCEEDED if told.succeeded else UsageKind.FAILED
        own_id = _own_id(told.id) if told.id else new_id()
        detail = mask_output(redact(storable(told.detail)))
        use = UsageReport(
            skill=skill.id,
            event=event,
            id=own_id,
            version=number,
            agent=told.agent,
            session=told.session,
            detail=detail,
        )
        counted = await self._usage.report(caller, [use])
        run_id, remark = None, _no_release(version, number)
        if release is not None:
            async with self._database.write() as transaction:
                run_id, remark = await self._run(
                    transaction,
                    caller,
                    replace(told, skill=skill.id),
                    release,
                    own_id,
                    detail,
                    loads=loads.get(number, 0),
                )
        if counted.uncounted and not run_id:
            remark = _UNCOUNTED
        return OutcomeReceipt(
            event=event,
            recorded=counted.recorded == 1,
            counted=counted.recorded == 1 and not counted.uncounted,
            skill=skill.full_name,
            version=number,
            release_id=release and release.id,
            run_id=run_id,
            remark=remark,
        )

    async def _run(
        self,
        transaction: Transaction,
        caller: Principal,
        told: OutcomeReport,
        release: ReleaseRow,
        own_id: str,
        detail: str,
        *,
        loads: int,
    ) -> tuple[str | None, str]:
        """Keep the run, and answer its id; or say why it is none."""
        if not caller.scope.covers(Scope.WRITE):
            return None, f"A run of a release needs a token with the scope '{Scope.WRITE}'."
        used = await _had_it(transaction.session, caller, told.execution_ids, release.id)
        run_id = told_run_id(release.id, *used) if used else told_run_id(release.id, caller.person_id, own_id)
        if await transaction.session.get(SkillRunRow, run_id) is not None:
            return run_id, ""
        if not used and await _told_before(transaction.session, caller, told, release.id) >= loads:
            return None, "That version was not loaded in this session, or only for outcomes that were told before."
        run = _run_of(told, release, run_id, used, detail, at=self._clock())
        await transaction.insert((SkillRunRow, [columns_of(run)]))
        return run_id, ""


def _own_id(given: str) -> str:
    """The reporter's own id for an outcome as a use: of a length that fits, and none that another use may have."""
    return f"outcome-{hashlib.sha256(given.encode(errors='surrogatepass')).hexdigest()[:32]}"


def _version(told: OutcomeReport, versions: Sequence[Version], loads: dict[str, int]) -> Version | None:
    """The version that was used, if it is one of the skill's."""
    if told.digest and not told.version:
        return next((one for one in versions if one.digest == told.digest), None)
    wanted = told.version or next(iter(loads), "")
    return next((one for one in versions if one.version == wanted), None)


async def _release(
    session: AsyncSession, caller: Principal, skill: KnownSkill, version: Version | None
) -> ReleaseRow | None:
    """The release in use that this version is: of the skill, for all who may see it, or one the caller learned."""
    if version is None:
        return None
    of_skill = ReleaseRow.skill_id == skill.id
    if skill.namespace == caller.name:
        learned = and_(ReleaseRow.owner_id == caller.person_id, ReleaseRow.name == skill.name)
        of_skill = or_(of_skill, and_(ReleaseRow.skill_id.is_(None), learned))
    query = select(ReleaseRow).where(of_skill, ReleaseRow.digest == version.digest, ReleaseRow.is_active.is_(True))
    return await session.scalar(query.order_by(ReleaseRow.version.desc()).limit(1))


async def _had_it(session: AsyncSession, caller: Principal, ids: Sequence[str], release_id: str) -> list[str]:
    """Those of the caller's executions at which the release was in the sandbox."""
    found = await own_executions(session, caller.person_id, ids) if ids else {}
    return sorted(one.id for one in found.values() if any(had.get("release_id") == release_id for had in one.skills))


async def _told_before(session: AsyncSession, caller: Principal, told: OutcomeReport, release_id: str) -> int:
    """How many runs of a release the caller told in a session, for what they had loaded there."""
    outcomes = await outcomes_in(session, caller.person_id, told.skill, told.session)
    run_ids = [told_run_id(release_id, caller.person_id, each) for each in outcomes]
    counts = [
        await session.scalar(select(func.count()).where(SkillRunRow.id.in_(run_ids[start : start + _AT_ONCE])))
        for start in range(0, len(run_ids), _AT_ONCE)
    ]
    return sum(count or 0 for count in counts)


def _run_of(
    told: OutcomeReport, release: ReleaseRow, run_id: str, used: Sequence[str], detail: str, *, at: datetime
) -> SkillRun:
    return SkillRun(
        id=run_id,
        owner_id=release.owner_id,
        release_id=release.id,
        candidate_id=release.candidate_id,
        evaluation_id=None,
        number=None,
        sandbox_id=None,
        execution_ids=list(used),
        verdict=(Verdict.PASS if told.succeeded else Verdict.TASK_FAIL).value,
        step=None,
        reason=detail,
        steps=[],
        total_steps=0,
        variables={},
        screenshot=None,
        milliseconds=0,
        created_at=at,
        origin=RunOrigin.TOLD.value,
        session=told.session or None,
    )


def _no_release(version: Version | None, number: str) -> str:
    """Why an outcome is only a use."""
    if version is not None:
        return f"Counted as a use of version {version.version}. Learned skills in use are judged by it, too."
    unknown = f"The skill has no version {number!r}" if number else "Which version was used is not known"
    return f"{unknown}; it is counted as a use. Name the version, or the session in which it was loaded."
