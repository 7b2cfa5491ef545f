"""What a session log tells: which skills were used, and what was run."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from skillyard.sandbox.executions import ExecType


class How(StrEnum):
    """How a skill was used."""

    CALLED = "called"
    """The agent chose it."""
    TYPED = "typed"
    """A person named it; it may be a command that is no skill."""
    READ = "read"
    """Its `SKILL.md` was read."""
    SERVED = "served"
    """A tool of a skill server gave it, which counts it itself."""
    MISSED = "missed"
    """There was no such skill: the use of this id was none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SkillUse:
    """One use of a skill."""

    id: str
    """The same for the same use, in whichever log it is told."""
    name: str
    """As the agent called it."""
    how: How
    session: str
    at: datetime
    path: str = ""
    """Where its `SKILL.md` was then, if that is known."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LoggedRun:
    """One command that was run to its end."""

    id: str
    session: str
    exec_type: ExecType
    code: str
    success: bool
    exit_code: int | None
    output: str
    error: str | None
    milliseconds: int
    at: datetime
    folder: str
    """Where it was run."""
    description: str = ""
    interrupted: bool = False


LogEvent: TypeAlias = SkillUse | LoggedRun
