"""A candidate as someone asks for it, checked on its way in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from skillyard.errors import InputError, LimitError
from skillyard.redact import redact, storable

MAX_KEY: Final = 256
MAX_TEXT: Final = 64 * 1024
MAX_EXECUTIONS: Final = 1_000
_LIMITS: Final = {
    "skill_key": MAX_KEY,
    "scenario_key": MAX_KEY,
    "payload_ref": MAX_TEXT,
    "summary": MAX_TEXT,
    "usage_notes": MAX_TEXT,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class CandidateSpec:
    """What a candidate is to be made of."""

    skill_key: str
    source_execution_ids: Sequence[str]
    scenario_key: str | None = None
    payload_ref: str | None = None
    """A payload that is kept here, or a reference of one's own, which is kept as it is."""
    summary: str | None = None
    usage_notes: str | None = None
    preconditions: Mapping[str, Any] | None = None
    postconditions: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if not self.skill_key.strip():
            raise InputError(
                "skill_key must not be empty.", hint="Name the skill.", details={"field": "skill_key", "value": ""}
            )
        if not self.execution_ids:
            raise InputError(
                "source_execution_ids must not be empty.",
                hint="Name the executions that it was learned from.",
                details={"field": "source_execution_ids", "value": []},
            )
        if len(self.source_execution_ids) > MAX_EXECUTIONS:
            raise _too_long("source_execution_ids", len(self.source_execution_ids), MAX_EXECUTIONS)
        for name, limit in _LIMITS.items():
            text: str | None = getattr(self, name)
            if text is not None and len(text) > limit:
                raise _too_long(name, len(text), limit)

    @property
    def execution_ids(self) -> list[str]:
        """Each once, in the order given."""
        return list(dict.fromkeys(each.strip() for each in self.source_execution_ids if each.strip()))


def clean_text(text: str | None) -> str | None:
    """A text as it is kept: without secrets that can be recognised."""
    return None if text is None else redact(storable(text))


def clean_json(value: Any) -> Any:  # noqa: ANN401 -- any JSON
    """The same JSON, each text in it as it is kept."""
    if isinstance(value, str):
        return redact(storable(value))
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {redact(storable(str(key))): clean_json(each) for key, each in fields.items()}
    if isinstance(value, list):
        return [clean_json(each) for each in cast("list[Any]", value)]
    return value


def _too_long(field: str, value: int, limit: int) -> LimitError:
    return LimitError(
        f"{field} has a length of {value:,}; at most {limit:,} is kept.",
        hint="Shorten it.",
        details={"field": field, "value": value, "limit": limit},
    )
