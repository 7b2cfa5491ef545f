"""What learned skills do for their owner: how often they run, how that ends, how long it takes, and since when."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final, NamedTuple

from sqlalchemy import select

from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.errors import InputError
from skillyard.identity.principals import Principal
from skillyard.releases.decisions.latency import quantile
from skillyard.releases.decisions.tally import Tally
from skillyard.releases.models import ReleaseRow, SkillRunRow
from skillyard.releases.outcomes import Verdict
from skillyard.releases.store import active_releases
from skillyard.releases.values import RunOrigin

MAX_DAYS: Final = 366
MAX_RUNS: Final = 20_000
"""The newest runs that are looked at."""


class _Ran(NamedTuple):
    skill_key: str
    at: datetime
    verdict: str
    milliseconds: int
    sandbox_id: str | None
    origin: str

    @property
    def passed(self) -> bool:
        return self.verdict == Verdict.PASS


@dataclass(frozen=True, kw_only=True, slots=True)
class DayInsight:
    day: date
    tally: Tally
    milliseconds: int
    """What all runs of the day took together."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SkillInsight:
    """One learned skill, over all its releases."""

    skill_key: str
    in_use: Mapping[str, int]
    """The version in use, by stage."""
    tally: Tally
    """Without those that could not begin: the verdicts tell of them."""
    verdicts: Mapping[str, int]
    median: int
    """Milliseconds."""
    p95: int
    total: int
    """Milliseconds of all runs: what the skill costs."""
    sandboxes: int
    """How many of them it ran in."""
    last_used_at: datetime | None
    trend: Sequence[DayInsight]
    """The days on which it ran, the oldest first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Overview:
    days: int
    skills: Sequence[SkillInsight]
    """The most used first."""
    complete: bool
    """Whether all runs of these days were looked at, or only the newest."""


class Insights:
    """Sums up the runs of releases; those of evaluations are no uses."""

    def __init__(self, database: Database, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._clock = clock

    async def of(self, caller: Principal, *, days: int = 30) -> Overview:
        """What the caller's skills did in the last days, and which are in use without having run."""
        if not 1 <= days <= MAX_DAYS:
            raise InputError(
                f"{days} is no number of days to look back.",
                hint=f"Use 1 to {MAX_DAYS}.",
                details={"field": "days", "value": days, "limit": MAX_DAYS},
            )
        since = self._clock().astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        query = (
            select(
                ReleaseRow.skill_key,
                SkillRunRow.created_at,
                SkillRunRow.verdict,
                SkillRunRow.milliseconds,
                SkillRunRow.sandbox_id,
                SkillRunRow.origin,
            )
            .join(ReleaseRow, ReleaseRow.id == SkillRunRow.release_id)
            .where(ReleaseRow.owner_id == caller.person_id, SkillRunRow.evaluation_id.is_(None))
            .where(SkillRunRow.created_at >= since - timedelta(days=days - 1))
            .order_by(SkillRunRow.created_at.desc(), SkillRunRow.id)
            .limit(MAX_RUNS + 1)
        )
        async with self._database.read() as session:
            runs = [_Ran(*row) for row in await session.execute(query)]
            active = await active_releases(session, caller.person_id)
        in_use: dict[str, dict[str, int]] = {}
        for row in active:
            in_use.setdefault(row.skill_key, {})[row.stage] = row.version
        by_skill: dict[str, list[_Ran]] = {skill_key: [] for skill_key in in_use}
        for run in runs[:MAX_RUNS]:
            by_skill.setdefault(run.skill_key, []).append(run)
        skills = [_insight(skill_key, some, in_use.get(skill_key, {})) for skill_key, some in by_skill.items()]
        skills.sort(key=lambda skill: (-skill.tally.runs, skill.skill_key))
        return Overview(days=days, skills=skills, complete=len(runs) <= MAX_RUNS)


def overview_document(overview: Overview) -> dict[str, Any]:
    """An overview as it is told to clients."""
    return {
        "days": overview.days,
        "complete": overview.complete,
        "runs": sum(skill.tally.runs for skill in overview.skills),
        "passed": sum(skill.tally.passes for skill in overview.skills),
        "skills": [_document(skill) for skill in overview.skills],
    }


def _insight(skill_key: str, runs: Sequence[_Ran], in_use: Mapping[str, int]) -> SkillInsight:
    """What some runs of a skill, the newest first, come to."""
    durations = [run.milliseconds for run in runs if run.origin == RunOrigin.REPLAY]
    by_day: dict[date, list[_Ran]] = {}
    for run in reversed(runs):
        by_day.setdefault(run.at.astimezone(UTC).date(), []).append(run)
    return SkillInsight(
        skill_key=skill_key,
        in_use=in_use,
        tally=_tally(runs),
        verdicts=Counter(run.verdict for run in runs),
        median=quantile(durations, 0.5),
        p95=quantile(durations, 0.95),
        total=sum(durations),
        sandboxes=len({run.sandbox_id for run in runs if run.sandbox_id is not None}),
        last_used_at=runs[0].at if runs else None,
        trend=[
            DayInsight(day=day, tally=_tally(some), milliseconds=sum(run.milliseconds for run in some))
            for day, some in by_day.items()
        ],
    )


def _tally(runs: Sequence[_Ran]) -> Tally:
    begun = [run for run in runs if run.verdict != Verdict.PRECONDITION_FAIL]
    return Tally(sum(run.passed for run in begun), len(begun))


def _document(skill: SkillInsight) -> dict[str, Any]:
    return {
        "skill_key": skill.skill_key,
        "in_use": dict(skill.in_use),
        "runs": skill.tally.runs,
        "passed": skill.tally.passes,
        "success_rate": skill.tally.rate,
        "verdicts": dict(skill.verdicts),
        "p50_duration": skill.median,
        "p95_duration": skill.p95,
        "total_duration": skill.total,
        "sandboxes": skill.sandboxes,
        "last_used_at": skill.last_used_at,
        "trend": [
            {
                "day": day.day.isoformat(),
                "runs": day.tally.runs,
                "passed": day.tally.passes,
                "total_duration": day.milliseconds,
            }
            for day in skill.trend
        ],
    }
