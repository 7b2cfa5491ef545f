"""Verdicts on candidates from their replays."""

from math import comb

import pytest

from skillyard.errors import InputError
from skillyard.releases.decisions.evaluation import EvaluationPolicy, judge
from skillyard.releases.decisions.fisher import chance_of_worse
from skillyard.releases.decisions.tally import Tally


def test_five_replays_that_all_pass_are_enough():
    judgement = judge(5, 5)
    assert (judgement.passed, judgement.verdict, judgement.score) == (True, "pass", 1.0)
    assert judgement.bound == pytest.approx(0.549, abs=1e-3)


@pytest.mark.parametrize(("passes", "runs"), [(4, 5), (0, 5), (8, 10), (15, 20), (70, 100)])
def test_too_many_failures_are_not(passes, runs):
    judgement = judge(passes, runs)
    assert (judgement.passed, judgement.verdict) == (False, "fail")


@pytest.mark.parametrize(("passes", "runs"), [(4, 4), (1, 1), (0, 1), (2, 3), (0, 0)])
def test_too_few_replays_tell_nothing_whatever_came_of_them(passes, runs):
    for baseline in (None, (3, 4)):
        judgement = judge(passes, runs, baseline=baseline)
        assert (judgement.passed, judgement.verdict) == (None, "inconclusive")


def test_few_replays_that_are_surely_worse_than_the_release_in_use_fail():
    assert judge(0, 4, baseline=(98, 100)).verdict == "worse"


@pytest.mark.parametrize(("passes", "runs"), [(9, 10), (16, 20), (80, 100)])
def test_failures_are_made_up_for_by_more_replays(passes, runs):
    assert judge(passes, runs).passed


def test_the_reason_says_how_many_replays_it_takes():
    assert "at least 5 replays" in judge(3, 3).reason
    assert "4 of 5 replays passed" in judge(4, 5).reason
    assert "80% of them have to pass" in judge(15, 20).reason


def test_the_least_number_of_replays_follows_from_the_policy():
    for bound in (0.3, 0.5, 0.8):
        policy = EvaluationPolicy(bound=bound)
        least = policy.least_runs
        assert judge(least, least, policy=policy).passed
        assert not judge(least - 1, least - 1, policy=policy).passed


def test_what_is_worse_than_the_release_in_use_fails():
    assert judge(16, 20).passed
    judgement = judge(16, 20, baseline=(980, 1000))
    assert (judgement.passed, judgement.verdict) == (False, "worse")
    assert "980 of 1000" in judgement.reason


def test_what_is_better_or_the_same_passes_with_that_verdict():
    assert judge(20, 20, baseline=(70, 100)).verdict == "better"
    same = judge(5, 5, baseline=(98, 100))
    assert (same.passed, same.verdict) == (True, "same")


def test_being_no_worse_than_a_bad_release_is_not_enough():
    judgement = judge(2, 5, baseline=(40, 100))
    assert (judgement.passed, judgement.verdict) == (False, "fail")


def test_a_release_that_never_ran_is_nothing_to_compare_with():
    assert judge(5, 5, baseline=(0, 0)).verdict == "pass"


def test_impossible_counts_are_refused():
    with pytest.raises(InputError):
        judge(6, 5)
    with pytest.raises(InputError):
        judge(5, 5, baseline=(2, 1))


def test_the_comparison_is_fishers():
    one, other = Tally(3, 7), Tally(9, 11)
    ways = comb(18, 6)
    expected = sum(comb(7, n) * comb(11, 6 - n) for n in (4, 5, 6)) / ways
    assert chance_of_worse(one, other) == pytest.approx(expected)
    assert chance_of_worse(Tally(5, 5), Tally(8, 8)) == 1.0
    assert chance_of_worse(Tally(0, 3), Tally(0, 2)) == 1.0
