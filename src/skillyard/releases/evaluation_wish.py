"""How a candidate is to be replayed, checked before anything is begun."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from skillyard.errors import InputError
from skillyard.releases.candidate_spec import clean_json
from skillyard.releases.payloads import Payload
from skillyard.releases.variable_values import checked_values

MAX_RUNS: Final = 100
MAX_SECONDS: Final = 600


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplayWish:
    """How many replays, and of what."""

    runs: int = 5
    benchmark: str | None = None
    """The name of one; its cases are given in turn."""
    variables: Mapping[str, Any] = field(default_factory=dict[str, Any])
    secrets: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Values that are kept nowhere."""
    seconds: int | None = None
    """That each replay may take."""

    def __post_init__(self) -> None:
        for name, value, limit in (("runs", self.runs, MAX_RUNS), ("timeout", self.seconds, MAX_SECONDS)):
            if value is not None and not 1 <= value <= limit:
                raise InputError(
                    f"{name} cannot be {value}.",
                    hint=f"Use 1 to {limit}.",
                    details={"field": name, "value": value, "limit": limit},
                )

    def hidden(self, payload: Payload) -> dict[str, Any]:
        """The values that nobody may see: those given as secrets, and those of secret variables."""
        secret = {name for name, variable in payload.variables.items() if variable.secret}
        return {**{name: value for name, value in self.variables.items() if name in secret}, **self.secrets}

    def cases(self, payload: Payload, kept: Sequence[Mapping[str, Any]] | None) -> list[Mapping[str, Any]]:
        """What each replay is given, without secrets. `kept` are the cases of a benchmark, which may say more."""
        hidden = self.hidden(payload)
        cases: list[Mapping[str, Any]] = []
        alone: Sequence[Mapping[str, Any]] = [{}]
        for case in alone if kept is None else kept:
            known = {name: value for name, value in case.get("variables", {}).items() if name in payload.variables}
            values = {**known, **self.variables, **self.secrets}
            checked_values(payload.variables, values)
            told = clean_json({name: value for name, value in values.items() if name not in hidden})
            cases.append({"variables": told, "checks": case.get("checks", []), "secrets": sorted(hidden)})
        return cases
