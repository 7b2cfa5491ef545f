"""The verdict on a candidate from its replays."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from skillyard.releases.decisions.fisher import chance_of_worse
from skillyard.releases.decisions.intervals import CONFIDENCE, lower_bound, require_counts
from skillyard.releases.decisions.tally import Tally

_MORE: Final = "more of them have to pass, or more replays are needed."


class EvaluationVerdict(StrEnum):
    PASS = "pass"  # noqa: S105 -- no password
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    """Too few replays to decide; the earlier verdict stays."""
    BETTER = "better"
    """It passes, and does better than the release that it would replace."""
    SAME = "same"
    WORSE = "worse"
    """It fails: it does worse than the release that it would replace."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EvaluationPolicy:
    """What a candidate has to show.

    The lower bound asks for enough replays: of 5 all must pass (bound 0.55), and fewer than 5 prove nothing. The rate
    asks that it works well, however many there are: 15 of 20 prove that it works more often than not, but no more.
    """

    bound: float = 0.5
    """What the rate is above, with confidence."""
    rate: float = 0.8
    """The least share of replays that pass."""
    confidence: float = CONFIDENCE

    @property
    def least_runs(self) -> int:
        """How many replays are needed, at least: if all of so many pass, the candidate does."""
        runs = 1
        while lower_bound(runs, runs, self.confidence) < self.bound:
            runs += 1
        return runs


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgement:
    passed: bool | None
    """None where there were too few replays to tell."""
    score: float
    """The share of replays that passed."""
    bound: float
    """What the rate is above, with the confidence of the policy."""
    verdict: EvaluationVerdict
    reason: str


def judge(
    passes: int, runs: int, *, baseline: tuple[int, int] | None = None, policy: EvaluationPolicy | None = None
) -> Judgement:
    """Judge replays, and compare them with the runs of the release that would be replaced."""
    policy = policy or EvaluationPolicy()
    require_counts(passes, runs)
    replays, bound = Tally(passes, runs), lower_bound(passes, runs, policy.confidence)
    verdict, reason = _alone(replays, bound, policy)
    if baseline is not None:
        require_counts(*baseline)
        if baseline[1]:
            verdict, reason = _beside(verdict, reason, replays, Tally(*baseline), policy)
    failed = verdict in {EvaluationVerdict.FAIL, EvaluationVerdict.WORSE}
    passed = None if verdict is EvaluationVerdict.INCONCLUSIVE else not failed
    return Judgement(passed=passed, score=replays.rate, bound=bound, verdict=verdict, reason=reason)


def _alone(replays: Tally, bound: float, policy: EvaluationPolicy) -> tuple[EvaluationVerdict, str]:
    said = f"{replays} replays passed: above {bound:.0%} with {policy.confidence:.0%} confidence"
    if replays.runs < policy.least_runs:
        reason = f"{replays} replays passed: too few to tell, since it takes at least {policy.least_runs} replays."
        return EvaluationVerdict.INCONCLUSIVE, reason
    if replays.rate < policy.rate:
        return EvaluationVerdict.FAIL, f"{said}, but {policy.rate:.0%} of them have to pass."
    if bound < policy.bound:
        return EvaluationVerdict.FAIL, f"{said}; {policy.bound:.0%} is asked for: {_MORE}"
    return EvaluationVerdict.PASS, f"{said}; {policy.bound:.0%} is asked for."


def _beside(
    verdict: EvaluationVerdict, reason: str, replays: Tally, baseline: Tally, policy: EvaluationPolicy
) -> tuple[EvaluationVerdict, str]:
    """What is said beside the release in use; of a candidate that fails, only that it is worse."""
    error = 1 - policy.confidence
    beside = f"{reason} Of the release that it would replace, {baseline} runs passed"
    if chance_of_worse(replays, baseline) <= error:
        return EvaluationVerdict.WORSE, f"{beside}: it does worse."
    if verdict in {EvaluationVerdict.FAIL, EvaluationVerdict.INCONCLUSIVE}:
        return verdict, f"{beside}."
    if chance_of_worse(baseline, replays) <= error:
        return EvaluationVerdict.BETTER, f"{beside}: it does better."
    return EvaluationVerdict.SAME, f"{beside}: no difference can be told."
