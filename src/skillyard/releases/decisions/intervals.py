"""Exact bounds on a rate that is known from counts (Clopper and Pearson, 1934).

Whatever the true rate is, at most `1 - confidence` of such bounds are on its wrong side. Wilson's are narrower, but
fall short of what they promise for rates near 1, which are those that matter here.
"""

from functools import lru_cache
from typing import Final

from skillyard.errors import InputError
from skillyard.releases.decisions.binomial import at_least

CONFIDENCE: Final = 0.95
_HALVINGS: Final = 50


@lru_cache(maxsize=4096)  # releases are looked at again and again, and have few new runs in between
def lower_bound(passes: int, runs: int, confidence: float = CONFIDENCE) -> float:
    """The lowest rate that counts leave possible; 0 where nothing ran."""
    require_counts(passes, runs)
    if passes == 0:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        rate = (low + high) / 2
        low, high = (rate, high) if at_least(passes, runs, rate) < 1 - confidence else (low, rate)
    return low


def upper_bound(passes: int, runs: int, confidence: float = CONFIDENCE) -> float:
    """The highest rate that counts leave possible; 1 where nothing ran."""
    return 1 - lower_bound(runs - passes, runs, confidence)


def require_counts(passes: int, runs: int) -> None:
    if not 0 <= passes <= runs:
        raise InputError(
            f"{passes} of {runs} runs cannot have passed.",
            hint="Count from 0 up to all runs.",
            details={"field": "passes", "value": passes, "limit": runs},
        )
