"""Taking much feedback in, where one piece that cannot be taken must not keep its neighbours out."""

from collections.abc import Sequence
from typing import Final, TypeAlias

from skillyard.errors import ConflictError, InputError
from skillyard.identity.principals import Principal
from skillyard.learning.feedback import FeedbackSpec
from skillyard.learning.intake import Intake, Taken
from skillyard.learning.places import Place

AT_ONCE: Final = 200
"""In one write: others wait for it."""

Outcome: TypeAlias = Taken | InputError | ConflictError


async def take_each(
    intake: Intake,
    principal: Principal,
    specs: Sequence[FeedbackSpec],
    *,
    source: str,
    place: Place | None = None,
) -> list[Outcome]:
    """What came of each, in their order."""
    outcomes: list[Outcome] = []
    for start in range(0, len(specs), AT_ONCE):
        batch = specs[start : start + AT_ONCE]
        try:
            outcomes += await intake.take(principal, batch, source=source, place=place)
        except (InputError, ConflictError):
            outcomes += [await _take_one(intake, principal, spec, source, place) for spec in batch]
    return outcomes


async def _take_one(
    intake: Intake, principal: Principal, spec: FeedbackSpec, source: str, place: Place | None
) -> Outcome:
    try:
        return (await intake.take(principal, [spec], source=source, place=place))[0]
    except (InputError, ConflictError) as error:
        return error
