"""The usage of skills, for those who may see them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from skillyard.db.base import new_id
from skillyard.db.database import Database
from skillyard.identity.principals import Principal, Scope
from skillyard.registry.naming import KnownSkill, Names, some_visible_names, visible_names
from skillyard.registry.rights import glimpse_of, no_skill
from skillyard.registry.skills import Skill
from skillyard.skill.names import is_id
from skillyard.skill.requires import name_key
from skillyard.usage.events import Totals, UsageDay, UsageEvent, UsageKind
from skillyard.usage.service import Usage, require_batch


@dataclass(frozen=True, kw_only=True, slots=True)
class UsageReport:
    """A use of a skill as an agent reports it."""

    skill: str
    """Its id or its full name."""
    event: UsageKind
    id: str | None = None
    """The reporter's own id for it, so that it may be sent twice; None to be given one."""
    version: str = ""
    agent: str = ""
    session: str = ""
    at: datetime | None = None
    """None for now."""
    detail: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class RefusedReport:
    position: int
    message: str


@dataclass(frozen=True, kw_only=True, slots=True)
class UsageReceipt:
    """What became of a batch: what cannot be counted does not hold up the rest."""

    recorded: int
    repeated: int
    """Reported before, and counted then."""
    refused: tuple[RefusedReport, ...] = ()
    uncounted: int = 0
    """Outcomes among the recorded that are more than are counted of one person."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SkillTotals:
    id: str
    full_name: str
    totals: Totals


@dataclass(frozen=True, kw_only=True, slots=True)
class UsageSummary:
    """What stands out among the visible skills."""

    days: int
    never_used: tuple[SkillTotals, ...]
    """Not once loaded, activated or finished in that time, by name."""
    often_failing: tuple[SkillTotals, ...]
    """The worst first."""


class SkillUsage:
    """Takes reports about, and answers for, the skills that a principal may see."""

    def __init__(self, database: Database, usage: Usage) -> None:
        self._database = database
        self._usage = usage

    async def report(self, principal: Principal, reports: Sequence[UsageReport]) -> UsageReceipt:
        """Count uses; of a skill that the principal may not see nothing is counted."""
        principal.require_scope(Scope.READ)
        require_batch(len(reports))
        names = await self._named(principal, {report.skill for report in reports})
        events: list[UsageEvent] = []
        refused: list[RefusedReport] = []
        for position, report in enumerate(reports):
            known = _find(names, report.skill)
            at = report.at or self._usage.now
            if known is None:
                refused.append(RefusedReport(position=position, message=no_skill(report.skill[:200]).message))
            elif not self._usage.takes(at):
                message = f"{at.isoformat()} is ahead of now or too long ago to be counted."
                refused.append(RefusedReport(position=position, message=message))
            else:
                events.append(_event(principal, known, report, at))
        done = await self._usage.record(principal.person_id, events)
        return UsageReceipt(
            recorded=done.recorded, repeated=done.repeated, refused=tuple(refused), uncounted=done.uncounted
        )

    async def known(self, principal: Principal, skill: str) -> KnownSkill:
        """A skill that the principal may see, by its id or full name."""
        principal.require_scope(Scope.READ)
        found = _find(await self._named(principal, {skill}), skill)
        if found is None:
            raise no_skill(skill[:200])
        return found

    async def loads(self, principal: Principal, skill_id: str, in_session: str) -> dict[str, int]:
        """How often the principal loaded each version of a skill in a session, the last loaded first."""
        principal.require_scope(Scope.READ)
        return await self._usage.loads(principal.person_id, skill_id, in_session)

    async def of_skill(self, principal: Principal, skill_id: str, *, days: int = 30) -> list[UsageDay]:
        """The daily counts of one skill, the newest day first."""
        principal.require_scope(Scope.READ)
        async with self._database.read() as session:
            await glimpse_of(session, principal, skill_id)
        return await self._usage.days(skill_id, days=days)

    async def of(self, skill: Skill, *, days: int = 30) -> list[UsageDay]:
        """The same of a skill that was given to whoever asks."""
        return await self._usage.days(skill.id, days=days)

    async def totals(self, principal: Principal, *, days: int = 30, skill: str | None = None) -> list[SkillTotals]:
        """The counts of every visible skill that was used at all, or of one given by id or full name, by name."""
        wanted = None if skill is None else {skill, name_key(skill)}
        return [
            each
            for each in await self._all(principal, days)
            if each.totals.counts and (wanted is None or not wanted.isdisjoint({each.id, name_key(each.full_name)}))
        ]

    async def summary(
        self, principal: Principal, *, days: int = 30, least: int = 5, rate: float = 0.5, limit: int = 100
    ) -> UsageSummary:
        """The skills that nobody uses, and those that fail at this rate or worse with at least so many outcomes."""
        everything = await self._all(principal, days)
        failing = [each for each in everything if each.totals.outcomes >= least and each.totals.failure_rate >= rate]
        failing.sort(key=lambda each: (-each.totals.failure_rate, -each.totals.outcomes, each.full_name))
        never = [each for each in everything if not each.totals.used]
        return UsageSummary(days=days, never_used=tuple(never[:limit]), often_failing=tuple(failing[:limit]))

    async def sweep(self) -> int:
        """Remove single events that are past their time, and answer how many; called now and then."""
        return await self._usage.sweep()

    async def _all(self, principal: Principal, days: int) -> list[SkillTotals]:
        principal.require_scope(Scope.READ)
        totals = await self._usage.totals(principal.tenant_id, days=days)
        async with self._database.read() as session:
            names = await visible_names(session, principal)
        found = [
            SkillTotals(id=known.id, full_name=known.full_name, totals=totals.get(known.id, Totals()))
            for known in names.by_id.values()
        ]
        return sorted(found, key=lambda each: each.full_name)

    async def _named(self, principal: Principal, skills: Iterable[str]) -> Names:
        ids = {skill for skill in skills if is_id(skill)}
        keys = {name_key(skill.rpartition("/")[2]) for skill in skills if skill not in ids}
        async with self._database.read() as session:
            return await some_visible_names(session, principal, keys=keys, ids=ids)


def _find(names: Names, skill: str) -> KnownSkill | None:
    if skill in names.by_id:
        return names.by_id[skill]
    candidates = names.called(name_key(skill.rpartition("/")[2]))
    return next((known for known in candidates if name_key(known.full_name) == name_key(skill)), None)


def _event(principal: Principal, known: KnownSkill, report: UsageReport, at: datetime) -> UsageEvent:
    return UsageEvent(
        id=report.id or new_id(),
        tenant_id=principal.tenant_id,
        skill_id=known.id,
        event=report.event,
        at=at,
        version=report.version,
        agent=report.agent,
        session=report.session,
        detail=report.detail,
        visitor=not principal.admin and principal.role_in(known.namespace_id) is None,
    )
