"""What is decided about releases, and how often wrongly: worked out exactly, with a look after every run."""

import random
from math import comb

import pytest

from skillyard.releases.decisions.latency import compare_latency
from skillyard.releases.decisions.sequential import Action, compare, regression
from skillyard.releases.policy import ReleasePolicy


def taken_back(stable, rate, runs):
    """The probability of all ways in which a canary fails and is taken back, by its number of failures."""
    alive, gone, least = [1.0], 0.0, 0
    for number in range(1, runs + 1):
        alive = [one * rate + other * (1 - rate) for one, other in zip([*alive, 0], [0, *alive], strict=True)]
        while least > 0 and regression(stable, (number - least + 1, number)) is not None:
            least -= 1
        while least < len(alive) and regression(stable, (number - least, number)) is None:
            least += 1
        gone += sum(alive[least:])
        alive = alive[:least]
    return gone


def chance_of_rollback(stable_runs, stable_rate, canary_rate, runs):
    total = 0.0
    for passes in range(stable_runs + 1):
        weight = comb(stable_runs, passes) * stable_rate**passes * (1 - stable_rate) ** (stable_runs - passes)
        if weight > 1e-4:
            total += weight * taken_back((passes, stable_runs), canary_rate, runs)
    return total


@pytest.mark.parametrize(("rate", "stable"), [(0.5, 20), (0.8, 20), (0.8, 100), (0.9, 100), (0.98, 100), (0.999, 400)])
def test_a_canary_as_good_as_stable_is_seldom_taken_back(rate, stable):
    assert chance_of_rollback(stable, rate, rate, 120) <= 0.03


@pytest.mark.parametrize(("rate", "start", "beside"), [(0.7, 0, 1), (0.9, 20, 4)])
def test_nor_is_it_while_stable_runs_on_beside_it(rate, start, beside):
    """300 canaries of 80 runs; 15 would be the 5 % that are allowed."""
    chance = random.Random(11)
    wrong = 0
    for _ in range(300):
        stable, passes = [sum(chance.random() < rate for _ in range(start)), start], 0
        for number in range(1, 81):
            passes += chance.random() < rate
            stable[0] += sum(chance.random() < rate for _ in range(beside))
            stable[1] += beside
            if regression(tuple(stable), (passes, number)) is not None:
                wrong += 1
                break
    assert wrong <= 15


def test_a_canary_that_fails_one_run_of_five_is_caught_within_a_hundred():
    assert chance_of_rollback(100, 0.98, 0.8, 100) >= 0.975


def test_a_broken_canary_is_caught_as_soon_as_there_are_enough_runs():
    assert compare((98, 100), (0, 9)).action is Action.WAIT
    assert compare((98, 100), (0, 10)).action is Action.ROLLBACK


def test_one_failure_in_a_hundred_is_no_reason():
    assert regression((100, 100), (99, 100)) is None
    assert compare((100, 100), (99, 100)).action is Action.PROMOTE


def test_a_better_canary_is_never_taken_back():
    assert all(regression((50, 100), (runs * 3 // 4, runs)) is None for runs in range(10, 300))


def test_the_minimum_sample_is_the_policys():
    policy = ReleasePolicy(minimum_sample=50)
    assert compare((98, 100), (0, 49), policy=policy).action is Action.WAIT
    assert compare((98, 100), (0, 50), policy=policy).action is Action.ROLLBACK


def test_a_stricter_error_asks_for_more_evidence():
    assert regression((98, 100), (25, 30)) is not None
    assert regression((98, 100), (25, 30), policy=ReleasePolicy(error=0.001)) is None


def test_an_equal_canary_is_promoted_once_enough_ran():
    few, many = compare((98, 100), (20, 20)), compare((98, 100), (50, 50))
    assert (few.action, many.action) == (Action.WAIT, Action.PROMOTE)
    assert "20 of 20 runs passed" in few.reason


def test_a_canary_that_may_be_worse_by_the_margin_is_not_promoted():
    assert compare((98, 100), (94, 100)).action is Action.WAIT
    assert compare((98, 100), (94, 100), policy=ReleasePolicy(margin=0.2)).action is Action.PROMOTE


def test_it_is_watched_for_its_time_or_for_enough_runs():
    early = compare((98, 100), (60, 60), window_complete=False)
    assert early.action is Action.WAIT
    assert "not over" in early.reason
    assert compare((98, 100), (196, 200), window_complete=False).action is Action.PROMOTE


def test_a_broken_canary_is_taken_back_before_its_time_is_over():
    assert compare((98, 100), (40, 60), window_complete=False).action is Action.ROLLBACK


def test_without_a_stable_release_a_canary_is_held_against_the_floor():
    assert compare(None, (0, 10)).action is Action.ROLLBACK
    assert compare(None, (30, 30)).action is Action.PROMOTE
    assert compare(None, (8, 10)).action is Action.WAIT
    assert "80%" in compare(None, (0, 10)).reason


def test_so_it_is_beside_a_stable_release_that_hardly_ran():
    assert compare((3, 3), (0, 20)).action is Action.ROLLBACK
    assert compare((3, 3), (18, 20)).action is Action.WAIT


def test_a_slow_canary_is_not_promoted():
    stable, canary = [1_000] * 100, [1_000] * 90 + [2_000] * 6
    latency = compare_latency(stable, canary, factor=1.5)
    decision = compare((100, 100), (96, 96), latency=latency)
    assert decision.action is Action.WAIT
    assert "2,000 ms" in decision.reason


def test_a_decision_says_what_it_is_made_from():
    decision = compare((98, 100), (80, 100))
    assert decision.reason == "80 of 100 runs passed, beside 98 of 100 of the stable release. It is worse."
    assert decision.bounds["canary"] == pytest.approx((0.7228, 0.8633), abs=1e-4)
    assert decision.bounds["stable"] == pytest.approx((0.9384, 0.9964), abs=1e-4)
    assert decision.evidence["worse"] > 1000
    assert decision.evidence["not_worse"] == 0
    assert set(compare(None, (0, 0)).bounds) == {"canary"}
