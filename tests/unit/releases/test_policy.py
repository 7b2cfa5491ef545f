"""What releases are held to, and how it is set."""

from dataclasses import asdict
from datetime import timedelta

import pytest
from pydantic import ValidationError

from skillyard.config.sections import Releases
from skillyard.releases.policy import ReleasePolicy, policy_of


def test_the_settings_ask_for_the_same_as_nobody_does():
    assert policy_of(Releases()) == ReleasePolicy()


def test_every_setting_reaches_the_policy():
    wanted = {
        "canary_percent": 50,
        "minimum_sample": 20,
        "window_hours": 1.5,
        "window_runs": 30,
        "confidence": 0.99,
        "margin": 0.2,
        "floor": 0.9,
        "latency_factor": 2.0,
        "auto_promote": False,
        "auto_rollback": False,
        "active_cap": 7,
        "unused_days": 90,
    }
    policy = asdict(policy_of(Releases(**wanted)))
    assert (policy.pop("window"), policy.pop("error")) == (timedelta(minutes=90), 0.01)
    assert policy == {name: wanted[name] for name in wanted.keys() - {"window_hours", "confidence"}}


@pytest.mark.parametrize(
    "wrong",
    [
        {"canary_percent": 101},
        {"minimum_sample": 0},
        {"confidence": 1},
        {"margin": 0},
        {"floor": 1},
        {"latency_factor": 0.5},
        {"percent": 10},
    ],
)
def test_what_makes_no_sense_is_refused(wrong):
    with pytest.raises(ValidationError):
        Releases(**wrong)
