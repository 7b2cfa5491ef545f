"""Waiting for what a yard does behind a request: looking through executions, and replaying candidates."""

import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from skillyard.remote.releases import ReleaseClient

_OVER: Final = frozenset({"done", "failed"})
_FIRST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 1.0


def finished_mining(releases: "ReleaseClient", mining: Mapping[str, Any]) -> Mapping[str, Any]:
    """A request to look through executions, once it is over."""
    pause = _FIRST_PAUSE
    while mining["state"] not in _OVER:
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)
        mining = releases.mining(mining["id"])
    return mining


def runs_as_they_come(releases: "ReleaseClient", evaluation_id: str) -> Iterator[Mapping[str, Any]]:
    """Each run of an evaluation, as soon as it is over; when there are no more, the evaluation is."""
    told = 0
    pause = _FIRST_PAUSE
    while True:
        evaluation = releases.evaluation(evaluation_id)
        new = evaluation["runs"][told:]
        yield from new
        told += len(new)
        if evaluation["state"] in _OVER:
            return
        pause = _FIRST_PAUSE if new else min(2 * pause, _LONGEST_PAUSE)
        time.sleep(pause)
