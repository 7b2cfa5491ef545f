"""Who gets a canary."""

import pytest

from skillyard.releases.decisions.share import takes_canary

SANDBOXES = [f"sandbox-{number:012x}" for number in range(5_000)]


def takers(release, percent):
    return {sandbox for sandbox in SANDBOXES if takes_canary(sandbox, release, percent)}


@pytest.mark.parametrize("percent", [1, 10, 50, 90])
def test_about_the_share_that_was_asked_for_gets_it(percent):
    assert len(takers("sr-1", percent)) / len(SANDBOXES) == pytest.approx(percent / 100, abs=0.02)


def test_nobody_gets_it_at_0_and_all_at_100():
    assert takers("sr-1", 0) == set()
    assert takers("sr-1", 100) == set(SANDBOXES)


def test_a_sandbox_is_answered_the_same_everywhere():
    taken = [takes_canary("sandbox-a", f"sr-{number}", 50) for number in range(8)]
    assert taken == [True, True, True, False, False, True, True, False]


def test_who_has_it_keeps_it_when_the_share_grows():
    assert takers("sr-1", 10) < takers("sr-1", 30)


def test_who_gets_one_release_says_nothing_of_the_next():
    first, second = takers("sr-1", 50), takers("sr-2", 50)
    assert len(first & second) / len(SANDBOXES) == pytest.approx(0.25, abs=0.02)
