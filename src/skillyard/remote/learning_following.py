"""Waiting for what a yard learns behind a request: feedback on its way, until it rests."""

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from skillyard.remote.learning import LearningClient

OPEN: Final = ("queued", "matching", "deciding")
"""Where feedback is worked on, in the order in which it comes by: so none is overlooked that moves on meanwhile."""
_FIRST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Look:
    """What was seen at one time."""

    open: tuple[Mapping[str, Any], ...]
    """What is worked on."""
    rested: tuple[Mapping[str, Any], ...]
    """What came to rest since the last look, with its lessons."""


def looks(
    learning: "LearningClient", chosen: Collection[str] | None = None, *, sleep: Callable[[float], None] = time.sleep
) -> Iterator[Look]:
    """Look at feedback again and again until nothing is worked on; with `chosen`, at that alone.

    What a connected agent has taken is its own affair.
    """
    followed = set(chosen or ())
    pause = _FIRST_PAUSE
    while True:
        found = {
            one["id"]: one
            for stage in OPEN
            for one in learning.feedback(stage=stage)
            if not one["taken_by"] and (chosen is None or one["id"] in followed)
        }
        rested = tuple(learning.show(feedback_id) for feedback_id in sorted(followed - found.keys()))
        moving = {one["id"]: one for one in rested if one["stage"] in OPEN and not one["taken_by"]}
        found |= moving
        rested = tuple(one for one in rested if one["id"] not in moving)
        followed = set(found)
        yield Look(open=tuple(found.values()), rested=rested)
        if not found:
            return
        pause = _FIRST_PAUSE if rested else min(2 * pause, _LONGEST_PAUSE)
        sleep(pause)


def at_rest(learning: "LearningClient", feedback_id: str) -> Mapping[str, Any]:
    """One piece of feedback with its lessons, once it is worked on no more."""
    (one,) = (one for look in looks(learning, [feedback_id]) for one in look.rested)
    return one
