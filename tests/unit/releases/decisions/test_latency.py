"""Whether a canary takes longer."""

import random

from skillyard.releases.decisions.latency import compare_latency, quantile
from skillyard.releases.decisions.sequential import regression


def durations(count, *, seed=1, scale=1.0):
    chance = random.Random(seed)
    return [int(scale * chance.lognormvariate(7, 0.4)) for _ in range(count)]


def setback(stable, canary, factor=1.5):
    latency = compare_latency(stable, canary, factor=factor)
    return regression((98, 100), (len(canary), len(canary)), latency=latency)


def test_a_quantile_is_one_of_the_values():
    assert quantile([5, 1, 3, 2, 4], 0.5) == 3
    assert quantile(list(range(1, 101)), 0.95) == 95
    assert quantile([7], 0.95) == 7
    assert quantile([], 0.95) == 0


def test_few_runs_are_not_compared():
    assert compare_latency(durations(29), durations(100), factor=1.5) is None
    assert compare_latency(durations(100), durations(29), factor=1.5) is None


def test_a_canary_that_takes_three_times_as_long_is_taken_back():
    assert "slower" in setback(durations(100), durations(40, seed=2, scale=3))


def test_one_run_that_hung_changes_nothing():
    canary = [*durations(39, seed=2), 10_000_000]
    latency = compare_latency(durations(100), canary, factor=1.5)
    assert latency.slow == 1
    assert latency.acceptable
    assert setback(durations(100), canary) is None


def test_the_same_durations_are_no_setback():
    assert setback(durations(100), durations(200, seed=2)) is None


def test_milliseconds_are_nobodys_concern():
    assert setback([2] * 100, [60] * 100) is None
    assert "slower" in setback([2] * 100, [200] * 100)


def test_a_greater_factor_allows_for_longer_runs():
    assert "slower" in setback(durations(100), durations(60, seed=2, scale=3))
    assert setback(durations(100), durations(60, seed=2, scale=3), factor=6) is None


def test_equal_durations_seldom_lead_to_a_rollback():
    """300 canaries of 120 runs, looked at every 10; 1 % is what durations may do wrong."""
    chance = random.Random(7)

    def some(count):
        return [int(chance.lognormvariate(7, 0.7)) for _ in range(count)]

    wrong = 0
    for _ in range(300):
        stable, canary = some(100), some(120)
        wrong += any(setback(stable, canary[:runs]) is not None for runs in range(30, 121, 10))
    assert wrong <= 6
