"""What all tests share: a deterministic Hypothesis profile, scaled up by `make soak`."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "quick",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile("soak", settings.get_profile("quick"), derandomize=False, max_examples=3000)
settings.load_profile("soak" if os.environ.get("SKILLYARD_SOAK") else "quick")
