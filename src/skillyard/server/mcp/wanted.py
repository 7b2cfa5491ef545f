"""What a client asks for: which toolsets, and how much it wants to be told of skills."""

from dataclasses import dataclass
from typing import Final

from skillyard.agents.toolsets.names import DEFAULT, chosen_toolsets
from skillyard.errors import UsageError

BUDGET: Final = 2_000
"""Characters of the description of `skill`: clients cut longer ones, and do not say so."""
MIN_BUDGET: Final = 300
MAX_BUDGET: Final = 100_000
_SHOWN: Final = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """The wishes of one client."""

    toolsets: tuple[str, ...] = DEFAULT
    budget: int = BUDGET
    """Characters in which the description of `skill` tells of the skills there are."""


def wanted_by(*, toolsets: str | None, budget: str | None) -> Wanted:
    """What these texts ask for; what is not said is as for everyone."""
    return Wanted(toolsets=chosen_toolsets(toolsets), budget=_chosen_budget(budget) if budget else BUDGET)


def _chosen_budget(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() and len(text) < _SHOWN else 0
    if not MIN_BUDGET <= number <= MAX_BUDGET:
        raise UsageError(
            f"The description of the tool `skill` cannot have {text[:_SHOWN]!r} characters.",
            hint=f"Give it {MIN_BUDGET} to {MAX_BUDGET:,}.",
            details={"field": "budget", "value": text[:_SHOWN], "limit": MAX_BUDGET},
        )
    return number
