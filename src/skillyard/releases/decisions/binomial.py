"""How likely counts are, for as many runs as there may be: by logarithms, with nothing but `math`."""

from math import exp, lgamma, log, log1p
from typing import Final

_TINY: Final = 1e-300
_CLOSE: Final = 1e-15
_MOST_TERMS: Final = 10_000


def log_beta(a: float, b: float) -> float:
    """The logarithm of the beta function."""
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def log_choose(runs: int, count: int) -> float:
    """The logarithm of the number of ways to choose so many of all."""
    return lgamma(runs + 1) - lgamma(count + 1) - lgamma(runs - count + 1)


def at_least(passes: int, runs: int, rate: float) -> float:
    """How likely that many passes, or more, are where each run passes at a rate."""
    if passes <= 0 or rate >= 1:
        return 1.0
    if rate <= 0:
        return 0.0
    return _beta_share(rate, passes, runs - passes + 1)


def _beta_share(x: float, a: float, b: float) -> float:
    """The share of a beta distribution below x, by the continued fraction that converges fast on its side."""
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta_share(1 - x, b, a)
    front = exp(a * log(x) + b * log1p(-x) - log_beta(a, b)) / a
    return front * _fraction(x, a, b)


def _fraction(x: float, a: float, b: float) -> float:
    """Lentz's way to work out the continued fraction of the incomplete beta function."""
    value = c = 1.0
    d = 0.0
    for term in range(_MOST_TERMS):
        m = term // 2
        if term == 0:
            step = 1.0
        elif term % 2 == 0:
            step = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        else:
            step = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1 / _apart(1 + step * d)
        c = _apart(1 + step / c)
        change = c * d
        value *= change
        if term and abs(change - 1) < _CLOSE:
            break
    return value - 1


def _apart(number: float) -> float:
    """A number that can be divided by."""
    return number if abs(number) > _TINY else _TINY
