"""Whether a canary takes longer than the stable release."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

from skillyard.releases.decisions.evidence import NOTHING, worse
from skillyard.releases.decisions.tally import Tally

LEAST_RUNS: Final = 30
"""Runs of each that are needed: before, the slowest twentieth is one run or none."""
_SLOWEST: Final = 0.95
_GRACE: Final = 100
"""Milliseconds that nobody minds, however quick stable is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Latency:
    """Two sets of durations beside each other, in milliseconds."""

    stable_p95: int
    canary_p95: int
    limit: int
    """What takes longer is slow."""
    slow: int
    """How many runs of the canary are."""
    evidence: float
    """That more of the canary's runs are slow than of stable's, as a logarithm."""

    @property
    def acceptable(self) -> bool:
        return self.canary_p95 <= self.limit


def compare_latency(stable: Sequence[int], canary: Sequence[int], *, factor: float) -> Latency | None:
    """Compare durations of runs that passed, by how many are slow: one that hung is one slow run, however long it hung.

    None while there are too few.
    """
    if min(len(stable), len(canary)) < LEAST_RUNS:
        return None
    slowest = quantile(stable, _SLOWEST)
    limit = max(ceil(slowest * factor), slowest + _GRACE)
    quick, quick_now = _quick(stable, limit), _quick(canary, limit)
    return Latency(
        stable_p95=slowest,
        canary_p95=quantile(canary, _SLOWEST),
        limit=limit,
        slow=quick_now.failures,
        evidence=worse(quick, quick_now) if quick_now.failures else NOTHING,
    )


def quantile(values: Sequence[int], share: float) -> int:
    """The value that a share of all is not above; 0 where there are none."""
    if not values:
        return 0
    return sorted(values)[max(0, ceil(share * len(values)) - 1)]


def _quick(durations: Sequence[int], limit: int) -> Tally:
    return Tally(sum(each <= limit for each in durations), len(durations))
