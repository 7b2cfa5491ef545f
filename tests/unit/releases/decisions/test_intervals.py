"""Bounds on rates."""

from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.errors import InputError
from skillyard.releases.decisions.binomial import at_least
from skillyard.releases.decisions.intervals import lower_bound, upper_bound

COUNTS = st.integers(0, 60).flatmap(lambda runs: st.tuples(st.integers(0, runs), st.just(runs)))


def counted(passes, runs, rate):
    return sum(comb(runs, n) * rate**n * (1 - rate) ** (runs - n) for n in range(passes, runs + 1))


@given(COUNTS, st.floats(0, 1))
def test_a_tail_is_the_sum_of_its_counts(counts, rate):
    assert at_least(*counts, rate) == pytest.approx(counted(*counts, rate), abs=1e-9)


def test_a_tail_of_very_many_runs_is_half_at_the_middle():
    assert at_least(5_000_000, 10_000_000, 0.5) == pytest.approx(0.5, abs=2e-4)


@pytest.mark.parametrize(
    ("passes", "runs", "bound"),
    [(0, 0, 0.0), (0, 5, 0.0), (5, 5, 0.05 ** (1 / 5)), (20, 20, 0.05 ** (1 / 20)), (18, 20, 0.7174), (1, 1, 0.05)],
)
def test_the_lower_bound_is_that_of_clopper_and_pearson(passes, runs, bound):
    assert lower_bound(passes, runs) == pytest.approx(bound, abs=1e-4)


@pytest.mark.parametrize("rate", [0.5, 0.8, 0.95, 0.99])
@pytest.mark.parametrize("runs", [5, 20, 60])
def test_at_most_one_bound_of_twenty_is_above_the_rate(runs, rate):
    wrong = [passes for passes in range(runs + 1) if lower_bound(passes, runs) > rate]
    assert sum(comb(runs, n) * rate**n * (1 - rate) ** (runs - n) for n in wrong) <= 0.05


@given(COUNTS)
def test_bounds_are_around_the_rate_and_mirror_each_other(counts):
    passes, runs = counts
    low, high = lower_bound(passes, runs), upper_bound(passes, runs)
    assert 0 <= low <= high <= 1
    assert not runs or low <= passes / runs <= high
    assert high == pytest.approx(1 - lower_bound(runs - passes, runs))


def test_more_confidence_gives_a_lower_bound():
    assert lower_bound(18, 20, 0.99) < lower_bound(18, 20, 0.9) < 0.9


@pytest.mark.parametrize(("passes", "runs"), [(-1, 5), (6, 5)])
def test_impossible_counts_are_refused(passes, runs):
    with pytest.raises(InputError, match=f"{passes} of {runs}"):
        lower_bound(passes, runs)
