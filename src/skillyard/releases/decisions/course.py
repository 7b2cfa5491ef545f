"""How a release came to stand as it does: its rate, the bounds of it and the evidence, one moment after the other."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from skillyard.releases.decisions.sequential import compare, deciding_evidence
from skillyard.releases.decisions.tally import Tally
from skillyard.releases.policy import ReleasePolicy


@dataclass(frozen=True, kw_only=True, slots=True)
class Moment:
    """What the runs said, so many as there were."""

    tally: Tally
    low: float
    high: float
    """Between what its rate was."""
    worse: float
    not_worse: float
    """The evidence for either, as a decision has it."""


def moments(stable: Tally | None, course: Iterable[Tally], *, policy: ReleasePolicy) -> list[Moment]:
    """Each moment beside what the stable release has come to by now."""
    return [_moment(stable, tally, policy) for tally in course]


def course_document(found: Iterable[Moment], *, policy: ReleasePolicy) -> dict[str, Any]:
    """A course as it is told to clients: its moments, and the evidence at which something is decided."""
    return {
        "moments": [
            {
                "runs": each.tally.runs,
                "passed": each.tally.passes,
                "success_rate": each.tally.rate,
                "bounds": [each.low, each.high],
                "evidence": {"worse": each.worse, "not_worse": each.not_worse},
            }
            for each in found
        ],
        "deciding": deciding_evidence(policy),
    }


@lru_cache(maxsize=4096)  # of a release that is looked at again, all but the latest moments are the same
def _moment(stable: Tally | None, tally: Tally, policy: ReleasePolicy) -> Moment:
    decision = compare(stable, tally, policy=policy)
    low, high = decision.bounds["canary"]
    return Moment(
        tally=tally,
        low=low,
        high=high,
        worse=decision.evidence["worse"],
        not_worse=decision.evidence["not_worse"],
    )
