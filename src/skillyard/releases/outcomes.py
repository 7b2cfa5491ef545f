"""What came of a replay."""

from dataclasses import dataclass
from enum import StrEnum

from skillyard.releases.payloads import StepType


class Verdict(StrEnum):
    PASS = "PASS"  # noqa: S105 -- no password
    STEP_FAIL = "STEP_FAIL"
    POSTCONDITION_FAIL = "POSTCONDITION_FAIL"
    PRECONDITION_FAIL = "PRECONDITION_FAIL"
    TASK_FAIL = "TASK_FAIL"
    """An agent that used the skill says that its task failed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StepReport:
    """What came of one step; texts are redacted."""

    index: int
    type: StepType
    text: str
    """As the payload has it, with its variables."""
    success: bool
    output: str = ""
    error: str = ""
    exit_code: int | None = None
    milliseconds: int = 0
    recovered: str = ""
    """How the element was found although it is not named as it was."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Replay:
    """One replay, from its first step to its verdict."""

    verdict: Verdict
    reason: str = ""
    """Why it did not pass, for a person."""
    step: int | None = None
    """The index of the step that it ended at."""
    steps: tuple[StepReport, ...] = ()
    total_steps: int = 0
    sandbox_id: str | None = None
    execution_ids: tuple[str, ...] = ()
    screenshot: bytes | None = None
    milliseconds: int = 0

    @property
    def passed(self) -> bool:
        return self.verdict is Verdict.PASS
