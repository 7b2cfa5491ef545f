"""Evidence about rates, which may be looked at after every run.

Each function answers how many times likelier the runs are if the claim holds than if it does not: a Bayes factor, in
natural logarithm. For those who hold that the claim is false it is the wealth of a gambler who bets on it: it reaches
`1 / error` with a probability of at most `error`, however often it is looked at and whenever one stops (Ville's
inequality; Robbins' mixtures, 1970; for two streams of runs Turner, Ly and Grünwald, "Generic E-variables for exact
sequential k-sample tests", 2024). What is not known, the rate of the stable release, is averaged over a prior; that the
error holds for every single rate, too, is what `bench/decisions.py` shows.

Counts are all that is needed: the order of runs, and whether the two streams take turns, makes no difference.
"""

from collections.abc import Callable
from math import exp, inf, log, sqrt
from typing import Final, NamedTuple

from skillyard.releases.decisions.binomial import log_beta
from skillyard.releases.decisions.tally import Tally

NOTHING: Final = -inf
"""The evidence of runs that rather speak against the claim."""


class _Prior(NamedTuple):
    """What is thought of a rate before anything ran: a beta distribution."""

    passes: float
    failures: float

    def log_chance(self, tally: Tally) -> float:
        """How likely these runs are, in their order, if the rate is drawn from here."""
        a, b = self
        return log_beta(a + tally.passes, b + tally.failures) - log_beta(a, b)


_ANY: Final = _Prior(1.0, 0.5)
"""Of a release in use: it may be anything, and is rather good."""
_WORSE: Final = _Prior(2.0, 1.0)
_GOOD: Final = _Prior(4.0, 0.5)
_WORSE_WEIGHT: Final = 8 / 15
"""How likely a draw from `_WORSE` is below one from `_ANY`: the mean square of the latter."""
_POINTS: Final = 64
_THIRDS: Final = 40
_HALVINGS: Final = 20
_FAR: Final = 40.0
"""So much lower in logarithm that it adds nothing."""


def worse(stable: Tally, canary: Tally) -> float:
    """The evidence that the canary passes less often than the stable release does.

    Only lower rates are bet on: the bet is divided by their weight before the runs. Their weight after the runs, by
    which it would be multiplied, is above 0.99 wherever the evidence is strong, and is taken for 1.
    """
    if canary.rate >= stable.rate or not stable.runs:
        return NOTHING
    both = Tally(stable.passes + canary.passes, stable.runs + canary.runs)
    apart = _ANY.log_chance(stable) + _WORSE.log_chance(canary) - log(_WORSE_WEIGHT)
    return apart - _ANY.log_chance(both)


def not_worse(stable: Tally, canary: Tally, margin: float) -> float:
    """The evidence that the canary passes less often by less than the margin, if at all."""
    if canary.rate <= stable.rate - margin:
        return NOTHING
    return _ANY.log_chance(stable) + _GOOD.log_chance(canary) - _log_chance_apart(stable, canary, margin)


def below(level: float, canary: Tally) -> float:
    """The evidence that the canary passes less often than at a given rate."""
    return NOTHING if canary.rate >= level else _WORSE.log_chance(canary) - _log_chance_at(level, canary)


def above(level: float, canary: Tally) -> float:
    """The evidence that the canary passes more often than at a given rate."""
    return NOTHING if canary.rate <= level else _GOOD.log_chance(canary) - _log_chance_at(level, canary)


def _log_chance_at(rate: float, tally: Tally) -> float:
    return _times_log(tally.passes, rate) + _times_log(tally.failures, 1 - rate)


def _log_chance_apart(stable: Tally, canary: Tally, margin: float) -> float:
    """How likely the runs of both are, if the canary's rate is lower by just the margin and stable's is from `_ANY`.

    The integral over stable's rate p is taken over x = sqrt(1 - p), in which the density of `_ANY` is flat.
    """

    def log_chance(x: float) -> float:
        rate = 1 - x * x
        return _log_chance_at(rate, stable) + _log_chance_at(rate - margin, canary)

    return _log_integral(log_chance, sqrt(1 - margin))


def _log_integral(log_of: Callable[[float], float], end: float) -> float:
    """The logarithm of an integral from 0 to an end, of something with one peak, by midpoints around that peak."""
    low, high = 0.0, end
    for _ in range(_THIRDS):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (left, high) if log_of(left) < log_of(right) else (low, right)
    peak = (low + high) / 2
    top = log_of(peak)
    start, stop = _edge(log_of, peak, 0.0, top - _FAR), _edge(log_of, peak, end, top - _FAR)
    width = (stop - start) / _POINTS
    return top + log(width * sum(exp(log_of(start + (point + 0.5) * width) - top) for point in range(_POINTS)))


def _edge(log_of: Callable[[float], float], peak: float, end: float, least: float) -> float:
    """How far from the peak there is anything to add."""
    inside, outside = peak, end
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if log_of(middle) > least else (inside, middle)
    return outside


def _times_log(count: int, rate: float) -> float:
    if not count:
        return 0.0
    return count * log(rate) if rate > 0 else -inf
