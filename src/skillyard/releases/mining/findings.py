"""What is looked through, and what is found in it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from skillyard.releases.payloads import Payload
from skillyard.sandbox.executions import Execution

REPLAY_TAG: Final = "skill-replay"
"""Executions with this tag are replays: they are no evidence that anyone needed the task."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LoggedExecution:
    """An execution with its trace, as they are kept."""

    execution: Execution
    trace: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionLog:
    """What was run in one sandbox."""

    sandbox_id: str
    entries: tuple[LoggedExecution, ...]


class GapKind(StrEnum):
    FAILING = "failing"
    """Tried again and again, and never with success."""
    MANUAL = "manual"
    """Done again and again, but nobody could replay it as it was done."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Gap:
    """Something for which a skill is missing."""

    kind: GapKind
    description: str
    count: int
    execution_ids: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class MinedSequence:
    """A task that was done, once or several times, as it can be replayed."""

    canonical: str
    """The sha256 of what the task is, whatever the values."""
    payload: Payload
    skill_key: str
    summary: str
    execution_ids: tuple[str, ...]
    """All the evidence."""
    repeats: int
    example_values: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """For each variable, what was given; never of secrets."""
    variants: tuple[str, ...] = ()
    """The canonical forms of its repeats, where they were recognised as the same task although they differ."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MiningResult:
    sequences: tuple[MinedSequence, ...]
    examined: int
    """Executions."""
    gaps: tuple[Gap, ...] = ()
