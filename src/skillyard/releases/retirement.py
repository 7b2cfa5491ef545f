"""Releases that have served their time: proposed with what speaks for it, and retired by people alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.identity.principals import Principal
from skillyard.releases.decisions.intervals import upper_bound
from skillyard.releases.decisions.tally import Tally
from skillyard.releases.health_store import newest_runs, tally_of
from skillyard.releases.models import ReleaseRow
from skillyard.releases.policy import ReleasePolicy
from skillyard.releases.store import rendered_releases
from skillyard.releases.values import Release, value_of

_RECENT: Final = 50
"""The newest runs, which tell whether a release fails now."""


class RetirementCause(StrEnum):
    UNUSED = "unused"
    FAILING = "failing"
    SURPLUS = "surplus"
    """More skills are in use than may be, and this one ran least."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RetirementProposal:
    release: Release
    cause: RetirementCause
    reason: str
    evidence: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Retirements:
    proposals: Sequence[RetirementProposal]
    active: int
    """Skills in use."""
    cap: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _Service:
    """How a release served lately."""

    release: Release
    newest: Tally
    last_run_at: datetime | None
    uses: int
    """Runs within the time after which a release counts as unused."""

    @property
    def evidence(self) -> dict[str, Any]:
        return {
            "last_run_at": self.last_run_at,
            "uses": self.uses,
            "newest_runs": self.newest.runs,
            "newest_passed": self.newest.passes,
            "promoted_at": self.release.promoted_at,
        }


class Retirement:
    """Finds what could be retired. Nothing is done by itself: to retire too early costs more than too late."""

    def __init__(self, database: Database, *, policy: ReleasePolicy | None = None, clock: Clock = utc_now) -> None:
        self._database = database
        self._policy = policy or ReleasePolicy()
        self._clock = clock

    async def proposals(self, caller: Principal) -> Retirements:
        """What of the caller's fails, is not used, or is too much; each release once."""
        since = self._clock() - timedelta(days=self._policy.unused_days)
        async with self._database.read() as session:
            rows = await rendered_releases(session, caller.person_id)
            services = [await _service(session, row, since) for row in rows]
        found = [proposal for each in services if (proposal := self._proposal(each, since)) is not None]
        proposed = {proposal.release.skill_key for proposal in found}
        skills = {row.skill_key for row in rows}
        left = [each for each in services if each.release.skill_key not in proposed]
        found += self._surplus(left, len(skills) - len(proposed))
        return Retirements(proposals=found, active=len(skills), cap=self._policy.active_cap)

    def _proposal(self, service: _Service, since: datetime) -> RetirementProposal | None:
        newest, floor = service.newest, self._policy.floor
        if newest.runs >= self._policy.minimum_sample and upper_bound(*newest) < floor:
            reason = f"{newest} of its newest runs passed; {floor:.0%} are asked for."
            return _proposed(service, RetirementCause.FAILING, reason)
        if not service.uses and service.release.promoted_at < since:
            last = "never" if service.last_run_at is None else f"on {service.last_run_at:%Y-%m-%d} last"
            reason = f"It did not run for {self._policy.unused_days} days; it ran {last}."
            return _proposed(service, RetirementCause.UNUSED, reason)
        return None

    def _surplus(self, services: Sequence[_Service], skills: int) -> list[RetirementProposal]:
        """The least used skills, as many as are in use beyond the cap."""
        cap = self._policy.active_cap
        uses: dict[str, int] = {}
        for each in services:
            uses[each.release.skill_key] = uses.get(each.release.skill_key, 0) + each.uses
        least = sorted(uses, key=lambda key: (uses[key], key))[: max(0, skills - cap)] if cap else []
        reason = f"{skills} skills are in use and {cap} may be; this one is among those that ran least."
        return [
            _proposed(each, RetirementCause.SURPLUS, reason) for each in services if each.release.skill_key in least
        ]


def retirements_document(retirements: Retirements) -> dict[str, Any]:
    """Proposals as they are told to clients."""
    return {
        "items": [
            {
                "release_id": proposal.release.id,
                "skill_key": proposal.release.skill_key,
                "version": proposal.release.version,
                "stage": proposal.release.stage,
                "cause": proposal.cause.value,
                "reason": proposal.reason,
                "evidence": dict(proposal.evidence),
            }
            for proposal in retirements.proposals
        ],
        "total": len(retirements.proposals),
        "active": retirements.active,
        "cap": retirements.cap,
    }


async def _service(session: AsyncSession, row: ReleaseRow, since: datetime) -> _Service:
    newest = await newest_runs(session, [row.id], limit=_RECENT)
    return _Service(
        release=value_of(Release, row),
        newest=Tally(sum(run.passed for run in newest), len(newest)),
        last_run_at=newest[0].at if newest else None,
        uses=(await tally_of(session, [row.id], since=since)).runs,
    )


def _proposed(service: _Service, cause: RetirementCause, reason: str) -> RetirementProposal:
    return RetirementProposal(release=service.release, cause=cause, reason=reason, evidence=service.evidence)
