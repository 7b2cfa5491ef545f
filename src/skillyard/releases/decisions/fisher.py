"""Fisher's exact test: two counts beside each other, looked at once."""

from math import exp

from skillyard.releases.decisions.binomial import log_choose
from skillyard.releases.decisions.tally import Tally


def chance_of_worse(one: Tally, other: Tally) -> float:
    """How likely it is that `one` fails so often beside `other`, or more often, if both are equally good."""
    failures = one.failures + other.failures
    ways = log_choose(one.runs + other.runs, failures)
    most = min(one.runs, failures)
    tail = sum(
        exp(log_choose(one.runs, count) + log_choose(other.runs, failures - count) - ways)
        for count in range(max(one.failures, failures - other.runs), most + 1)
    )
    return min(1.0, tail)
