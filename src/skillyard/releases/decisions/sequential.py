"""What is to be done with a release, however often it is looked at."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import exp, log
from typing import Final

from skillyard.releases.decisions.evidence import above, below, not_worse, worse
from skillyard.releases.decisions.intervals import lower_bound, upper_bound
from skillyard.releases.decisions.latency import Latency
from skillyard.releases.decisions.tally import Tally
from skillyard.releases.policy import ReleasePolicy

_OUTCOMES: Final = 0.8
"""The part of the error that may come from how runs ended; the rest may come from how long they took."""
_MOST: Final = 1e9


class Action(StrEnum):
    ROLLBACK = "rollback"
    PROMOTE = "promote"
    WAIT = "wait"


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    action: Action
    reason: str
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]])
    """Between what the rates of `canary` and `stable` are."""
    evidence: Mapping[str, float] = field(default_factory=dict[str, float])
    """How many times likelier the runs are if it is `worse`, `slower` or `not_worse` than if it is not."""


def compare(
    stable: tuple[int, int] | None,
    canary: tuple[int, int],
    *,
    policy: ReleasePolicy | None = None,
    latency: Latency | None = None,
    window_complete: bool = True,
) -> Decision:
    """Decide on a canary beside the stable release, or alone where there is none.

    It may be asked after every run: that a canary as good as stable is ever taken back has at most the probability that
    the policy names, and so has that one is promoted which is worse by the margin or more.
    """
    policy = policy or ReleasePolicy()
    now, before = Tally(*canary), None if stable is None else Tally(*stable)
    bounds = {"canary": _bounds(now)} if before is None else {"canary": _bounds(now), "stable": _bounds(before)}
    bad, slower = _log_bad(_known(before, policy), now, policy), None if latency is None else latency.evidence
    good = _log_good(before, now, policy)
    evidence = {"worse": _plain(bad), "not_worse": _plain(good)}
    if slower is not None:
        evidence["slower"] = _plain(slower)
    setback = regression(before, now, policy=policy, latency=latency)
    if setback is not None:
        action, reason = Action.ROLLBACK, setback
    else:
        missing = _missing(now, good, latency, window_complete=window_complete, policy=policy)
        action = Action.PROMOTE if missing is None else Action.WAIT
        reason = missing or f"{_said(before, now, policy)} It is not worse by {policy.margin:.0%}."
    return Decision(action=action, reason=reason, bounds=bounds, evidence=evidence)


def deciding_evidence(policy: ReleasePolicy) -> dict[str, float]:
    """How much evidence it takes that a release is `worse` to take it back, and `not_worse` to promote it."""
    return {"worse": 1 / (policy.error * _OUTCOMES), "not_worse": 1 / policy.error}


def regression(
    before: tuple[int, int] | None,
    now: tuple[int, int],
    *,
    policy: ReleasePolicy | None = None,
    latency: Latency | None = None,
) -> str | None:
    """Why a release is to be taken back for the one before it; None if nothing speaks for that."""
    policy = policy or ReleasePolicy()
    earlier, tally = None if before is None else Tally(*before), Tally(*now)
    if tally.runs < policy.minimum_sample:
        return None
    earlier = _known(earlier, policy)
    if _log_bad(earlier, tally, policy) >= -log(policy.error * _OUTCOMES):
        return f"{_said(earlier, tally, policy)} It is worse."
    if latency is not None and latency.evidence >= -log(policy.error * (1 - _OUTCOMES)):
        return (
            f"{latency.slow} of its runs took more than {latency.limit:,} ms, {policy.latency_factor:g} times what "
            f"95% of the runs of stable take at most. It is slower."
        )
    return None


def _known(before: Tally | None, policy: ReleasePolicy) -> Tally | None:
    """What a release is held against, once there is enough of it; until then it has to stand alone."""
    return before if before is not None and before.runs >= policy.minimum_sample else None


def _log_bad(before: Tally | None, now: Tally, policy: ReleasePolicy) -> float:
    return below(policy.floor, now) if before is None else worse(before, now)


def _log_good(before: Tally | None, now: Tally, policy: ReleasePolicy) -> float:
    return above(policy.floor - policy.margin, now) if before is None else not_worse(before, now, policy.margin)


def _missing(
    now: Tally, good: float, latency: Latency | None, *, window_complete: bool, policy: ReleasePolicy
) -> str | None:
    """What a canary lacks to be for all."""
    if now.runs < policy.minimum_sample:
        return f"{now.runs} of the {policy.minimum_sample} runs are there that a decision needs."
    if good < -log(policy.error):
        return f"{now} runs passed; it takes more to know that it is not worse by {policy.margin:.0%}."
    if latency is not None and not latency.acceptable:
        return f"95% of its runs take up to {latency.canary_p95:,} ms; stable's take up to {latency.stable_p95:,} ms."
    if not window_complete and now.runs < policy.window_runs:
        return "All is well so far; the time for which it is watched is not over."
    return None


def _said(before: Tally | None, now: Tally, policy: ReleasePolicy) -> str:
    if before is None:
        return f"{now} runs passed; {policy.floor:.0%} are asked for where no stable release is known well."
    return f"{now} runs passed, beside {before} of the stable release."


def _bounds(tally: Tally) -> tuple[float, float]:
    return lower_bound(*tally), upper_bound(*tally)


def _plain(evidence: float) -> float:
    """Evidence as the number that people read: how many times likelier."""
    return exp(min(evidence, log(_MOST)))
