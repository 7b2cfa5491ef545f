"""What one lesson may cost, and what it has cost."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any, Final

from skillyard.errors import BudgetError

MAX_CALLS: Final = 30
MAX_TOKENS: Final = 200_000
MAX_SECONDS: Final = 600.0
_MOST_TOKENS: Final = 10**9
"""Of one answer; a server that tells of more does not know."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Spent:
    """What was used of a budget."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    milliseconds: int = 0

    @classmethod
    def read(cls, kept: Mapping[str, Any]) -> "Spent":
        """What `as_dict` wrote down."""
        return cls(**{each.name: int(kept.get(each.name, 0)) for each in fields(cls)})

    def __add__(self, other: "Spent") -> "Spent":
        return Spent.read({name: used + other.as_dict()[name] for name, used in self.as_dict().items()})

    def __sub__(self, other: "Spent") -> "Spent":
        return Spent.read({name: max(0, used - other.as_dict()[name]) for name, used in self.as_dict().items()})

    def as_dict(self) -> dict[str, int]:
        return {
            "calls": self.calls,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "milliseconds": self.milliseconds,
        }


class Budget:
    """Calls, tokens and time, counted as they are used. Nothing is asked of a model when one of them is used up."""

    def __init__(
        self,
        *,
        calls: int = MAX_CALLS,
        tokens: int = MAX_TOKENS,
        seconds: float = MAX_SECONDS,
        spent: Spent | None = None,
        earlier: Spent | None = None,
    ) -> None:
        """What was `spent` before is part of it; what `earlier` attempts took is only told with it."""
        self._calls = calls
        self._tokens = tokens
        self._seconds = seconds
        self._earlier = earlier or Spent()
        before = spent or Spent()
        self._used_calls = before.calls
        self._input = before.input_tokens
        self._output = before.output_tokens
        self._began = time.monotonic() - before.milliseconds / 1000

    @property
    def spent(self) -> Spent:
        """All that was used, in earlier attempts too."""
        return self.attempt + self._earlier

    @property
    def attempt(self) -> Spent:
        """What counts of it."""
        return Spent(
            calls=self._used_calls,
            input_tokens=self._input,
            output_tokens=self._output,
            milliseconds=round((time.monotonic() - self._began) * 1000),
        )

    @property
    def seconds_left(self) -> float:
        return self._seconds - (time.monotonic() - self._began)

    def require_more(self) -> None:
        """Refuses where nothing is left."""
        self._require("calls", self._used_calls, self._calls)
        self._require("tokens", self._input + self._output, self._tokens)
        self._require("seconds", self._seconds - self.seconds_left, self._seconds)

    def count(self, usage: dict[str, Any] | None) -> None:
        """Note one call, with the tokens that its answer says it took."""
        self._used_calls += 1
        self._input += _tokens((usage or {}).get("input_tokens"))
        self._output += _tokens((usage or {}).get("output_tokens"))

    def _require(self, what: str, used: float, allowed: float) -> None:
        if used >= allowed:
            raise BudgetError(
                f"The budget of {allowed:,g} {what} is used up.",
                hint=f"Allow more with the setting learning.max_{what}, or decide by hand.",
                details={"field": f"learning.max_{what}", "value": round(used), "limit": allowed},
            )


def _tokens(told: Any) -> int:  # noqa: ANN401 -- whatever a server says
    """A number of tokens as a server tells it; what is none counts as none."""
    if not isinstance(told, int | float) or (isinstance(told, float) and not isfinite(told)):
        return 0
    return min(max(0, int(told)), _MOST_TOKENS)
