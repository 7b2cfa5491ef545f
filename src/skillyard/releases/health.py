"""How a release does in use, and what is to be done with it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import ceil
from typing import Any, Final

from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.identity.principals import Principal
from skillyard.releases.decisions.latency import Latency, compare_latency, quantile
from skillyard.releases.decisions.sequential import Action, Decision, compare, regression
from skillyard.releases.decisions.tally import Tally
from skillyard.releases.health_store import RunGlance, held_against, newest_runs, speaking_for, tallies_of, tally_of
from skillyard.releases.models import ReleaseRow
from skillyard.releases.policy import ReleasePolicy
from skillyard.releases.store import own_release
from skillyard.releases.values import Release, Stage, value_of

_TIMED: Final = 1_000
"""The newest runs whose durations are looked at."""
_EARLIER: Final = 200
"""Runs of the stable release from before a canary that count. What ran long ago may have met another world."""
_SHOWN: Final = 50
_MOMENTS: Final = 30
_SLOWEST: Final = 0.95


@dataclass(frozen=True, kw_only=True, slots=True)
class ReleaseHealth:
    """What the runs of a release say, beside those of the one that it is held against."""

    release: Release
    samples: Tally
    told: int
    """How many of them agents told of."""
    baseline: Tally
    """None ran, where there is nothing to compare with."""
    baseline_id: str | None
    window_end_at: datetime
    window_complete: bool
    p95_duration: int
    decision: Decision
    setback: str | None
    """Why it should be taken back."""
    recent: Sequence[RunGlance]
    """The newest last."""
    course: Sequence[Tally]
    """How its runs stood by and by, the latest last: some of the moments between the first run and now."""

    @property
    def success_drop(self) -> float:
        """How much less often it passes than what it is held against; below 0 if more often."""
        return self.baseline.rate - self.samples.rate if self.baseline.runs and self.samples.runs else 0.0

    @property
    def error_rate_multiplier(self) -> float:
        """How many times as often it fails. What never failed is taken to fail with its next run."""
        if not self.samples.runs:
            return 0.0
        least = 1 / (self.baseline.runs + 1)
        return (1 - self.samples.rate) / max(1 - self.baseline.rate if self.baseline.runs else 1.0, least)


class Health:
    """Looks at releases."""

    def __init__(self, database: Database, *, policy: ReleasePolicy | None = None, clock: Clock = utc_now) -> None:
        self.policy = policy or ReleasePolicy()
        self._database = database
        self._clock = clock

    async def of(self, caller: Principal, release_id: str) -> ReleaseHealth:
        """How a release of the caller's does."""
        async with self._database.read() as session:
            return await self.measure(session, await own_release(session, caller, release_id))

    async def tallies(self, releases: Sequence[Release]) -> dict[str, Tally]:
        """How the runs of releases ended, at a glance; who may see them is decided before."""
        async with self._database.read() as session:
            return await tallies_of(session, [release.id for release in releases])

    async def measure(self, session: AsyncSession, release: ReleaseRow) -> ReleaseHealth:
        """The health of a release, from its own runs alone."""
        policy, now = self.policy, self._clock()
        samples = await tally_of(session, [release.id])
        replays = await tally_of(session, [release.id], replays_only=True)
        newest = await newest_runs(session, [release.id], limit=_TIMED)
        before = await held_against(session, release)
        baseline, earlier = (
            (None, list[RunGlance]()) if before is None else await self._baseline(session, before, release)
        )
        latency = compare_latency(_passing(earlier), _passing(newest), factor=policy.latency_factor)
        end = release.health_window_end_at or release.promoted_at + policy.window
        setback = regression(baseline, samples, policy=policy, latency=latency)
        if release.stage != Stage.CANARY and baseline is None:
            setback = None  # for all, with nothing to go back to: whether it has served its time, a person decides
        return ReleaseHealth(
            release=value_of(Release, release),
            samples=samples,
            told=samples.runs - replays.runs,
            baseline=baseline or Tally(0, 0),
            baseline_id=before and before.id,
            window_end_at=end,
            window_complete=now >= end,
            p95_duration=quantile([run.milliseconds for run in newest if run.is_replay], _SLOWEST),
            decision=self._decision(release, baseline, samples, replays, latency, setback, window_complete=now >= end),
            setback=setback,
            recent=newest[:_SHOWN][::-1],
            course=_course(samples, newest),
        )

    def _decision(
        self,
        release: ReleaseRow,
        baseline: Tally | None,
        samples: Tally,
        replays: Tally,
        latency: Latency | None,
        setback: str | None,
        *,
        window_complete: bool,
    ) -> Decision:
        def compared(runs: Tally) -> Decision:
            return compare(baseline, runs, policy=self.policy, latency=latency, window_complete=window_complete)

        decision = compared(samples)
        if decision.action is Action.PROMOTE and replays != samples and release.skill_id is None:
            # What an agent says of its own work may take a release back, but promotes none that can be replayed.
            decision = _unless_checked(decision, compared(replays), samples.runs - replays.runs)
        if not release.is_active:
            action, reason = Action.WAIT, f"It is not in use: it is {release.state}."
        elif release.stage == Stage.CANARY:
            return decision
        elif setback is not None:
            action, reason = Action.ROLLBACK, setback
        else:
            action, reason = Action.WAIT, "It is for all, and nothing speaks against it."
        return Decision(action=action, reason=reason, bounds=decision.bounds, evidence=decision.evidence)

    async def _baseline(
        self, session: AsyncSession, before: ReleaseRow, release: ReleaseRow
    ) -> tuple[Tally, list[RunGlance]]:
        """The runs that a release is compared with: the last ones from before it, and all beside it."""
        start = release.promoted_at
        ids = [each for each in await speaking_for(session, before) if each != release.id]
        earlier = await newest_runs(session, ids, limit=_EARLIER, before=start)
        beside = await tally_of(session, ids, since=start)
        passes = sum(run.passed for run in earlier)
        timed = await newest_runs(session, ids, limit=_TIMED)
        return Tally(passes + beside.passes, len(earlier) + beside.runs), timed


def health_document(health: ReleaseHealth, policy: ReleasePolicy) -> dict[str, Any]:
    """The health of a release as it is told to clients."""
    release, samples, baseline, decision = health.release, health.samples, health.baseline, health.decision
    return {
        "release_id": release.id,
        "skill_key": release.skill_key,
        "stage": release.stage,
        "window_start_at": release.promoted_at,
        "window_end_at": health.window_end_at,
        "window_complete": health.window_complete,
        "samples": samples.runs,
        "told": health.told,
        "success_rate": samples.rate,
        "error_rate": 1 - samples.rate if samples.runs else 0.0,
        "p95_duration": health.p95_duration,
        "baseline_release_id": health.baseline_id,
        "baseline_success_rate": baseline.rate,
        "baseline_error_rate": 1 - baseline.rate if baseline.runs else 0.0,
        "baseline_samples": baseline.runs,
        "success_drop": health.success_drop,
        "error_rate_multiplier": health.error_rate_multiplier,
        "healthy": health.setback is None,
        "should_rollback": release.is_active and health.setback is not None,
        "rollback_reasons": [] if health.setback is None else [health.setback],
        "thresholds": thresholds_document(policy),
        "decision": decision.action.value,
        "reason": decision.reason,
        "bounds": {name: list(bounds) for name, bounds in decision.bounds.items()},
        "evidence": dict(decision.evidence),
        "external": release.external,
        "runs": [{"at": run.at, "passed": run.passed, "milliseconds": run.milliseconds} for run in health.recent],
    }


def thresholds_document(policy: ReleasePolicy) -> dict[str, Any]:
    """What releases are held to, as it is told to clients."""
    return {
        "minimum_sample": policy.minimum_sample,
        "window_hours": policy.window.total_seconds() / 3600,
        "window_runs": policy.window_runs,
        "error": policy.error,
        "margin": policy.margin,
        "floor": policy.floor,
        "latency_factor": policy.latency_factor,
        "canary_percent": policy.canary_percent,
        "auto_promote": policy.auto_promote,
        "auto_rollback": policy.auto_rollback,
    }


def _course(samples: Tally, newest: Sequence[RunGlance]) -> list[Tally]:
    """How runs stood after some of them, the newest of which come first."""
    tally = Tally(samples.passes - sum(run.passed for run in newest), samples.runs - len(newest))
    stride = max(1, ceil(len(newest) / _MOMENTS))
    found: list[Tally] = []
    for left, run in reversed(list(enumerate(newest))):
        tally = Tally(tally.passes + run.passed, tally.runs + 1)
        if left % stride == 0:
            found.append(tally)
    return found


def _unless_checked(decision: Decision, checked: Decision, told: int) -> Decision:
    """A decision to promote, if the runs that were checked here call for it without those that agents told of."""
    if checked.action is Action.PROMOTE:
        return decision
    reason = (
        f"{told} of its runs are what agents told, which promotes nothing by itself. Of the others: {checked.reason}"
    )
    return replace(decision, action=Action.WAIT, reason=reason)


def _passing(runs: Sequence[RunGlance]) -> list[int]:
    return [run.milliseconds for run in runs if run.passed and run.is_replay]
