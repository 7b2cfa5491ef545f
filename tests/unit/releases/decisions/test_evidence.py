"""Evidence about rates: what it is, and that it does not mislead however often it is looked at."""

from itertools import pairwise
from math import comb, exp, inf, log

import pytest

from skillyard.releases.decisions.evidence import _ANY, _GOOD, _WORSE, above, below, not_worse, worse
from skillyard.releases.decisions.tally import Tally


def test_a_rate_that_is_not_lower_is_no_evidence_of_being_worse():
    assert worse(Tally(90, 100), Tally(9, 10)) == -inf
    assert worse(Tally(0, 0), Tally(0, 10)) == -inf


def test_a_rate_at_the_margin_is_no_evidence_of_not_being_worse():
    assert not_worse(Tally(90, 100), Tally(80, 100), 0.1) == -inf


def test_evidence_grows_with_every_failure():
    found = [worse(Tally(98, 100), Tally(50 - failures, 50)) for failures in range(2, 50)]
    assert all(one < next_one for one, next_one in pairwise(found))


def test_evidence_of_not_being_worse_falls_with_every_failure():
    found = [not_worse(Tally(98, 100), Tally(50 - failures, 50), 0.1) for failures in range(6)]
    assert all(one > next_one for one, next_one in pairwise(found))


def test_a_known_rate_is_the_limit_of_a_stable_release_that_ran_often():
    known = below(0.9, Tally(70, 100))
    assert worse(Tally(900_000, 1_000_000), Tally(70, 100)) == pytest.approx(known - log(8 / 15), abs=0.01)
    known = above(0.8, Tally(95, 100))
    assert not_worse(Tally(900_000, 1_000_000), Tally(95, 100), 0.1) == pytest.approx(known, abs=0.01)


@pytest.mark.parametrize("counts", [((98, 100), (60, 62)), ((3, 10), (5, 10)), ((0, 0), (7, 9)), ((20, 20), (35, 35))])
def test_the_average_over_the_stable_rate_is_an_integral(counts):
    stable, canary = (Tally(*each) for each in counts)
    steps, end = 20_000, 0.9**0.5

    def chance(x):
        rate = 1 - x * x
        seen = rate**stable.passes * (1 - rate) ** stable.failures
        return seen * (rate - 0.1) ** canary.passes * (1.1 - rate) ** canary.failures

    apart = sum(chance((step + 0.5) / steps * end) for step in range(steps)) * end / steps
    by_priors = _ANY.log_chance(stable) + _GOOD.log_chance(canary)
    assert not_worse(stable, canary, 0.1) == pytest.approx(by_priors - log(apart), abs=1e-5)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("claim", [below, above])
def test_evidence_against_a_known_rate_misleads_no_more_often_than_it_says(claim, level):
    """Exactly, over all paths of 150 runs at that very rate, looked at after every run."""
    alive, misled = {0: 1.0}, 0.0
    for runs in range(1, 151):
        reached = dict.fromkeys(range(runs + 1), 0.0)
        for passes, chance in alive.items():
            reached[passes] += chance * (1 - level)
            reached[passes + 1] += chance * level
        alive = {}
        for passes, chance in reached.items():
            if claim(level, Tally(passes, runs)) >= log(20):
                misled += chance
            elif chance:
                alive[passes] = chance
    assert 0.001 < misled <= 0.05


def test_the_bet_on_worse_is_fair_on_average():
    """Over all outcomes of 12 and 9 runs, with the rate of both drawn from the prior, both ways are bet on."""
    total = 0.0
    for before in range(13):
        for now in range(10):
            ways = comb(12, before) * comb(9, now)
            stable, canary = Tally(before, 12), Tally(now, 9)
            both = exp(_ANY.log_chance(Tally(before + now, 21)))
            bet = exp(_ANY.log_chance(stable) + _WORSE.log_chance(canary) - log(both))
            total += ways * both * bet
    assert total == pytest.approx(1.0)
