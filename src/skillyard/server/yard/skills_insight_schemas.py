"""The JSON of what is known about learned skills: their health, what differs, and what fits a question."""

from datetime import datetime
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field

from skillyard.releases.release_diff import Difference, PayloadDiff
from skillyard.releases.skill_search import FoundSkill
from skillyard.releases.values import Release
from skillyard.sandbox.executions import Execution
from skillyard.server.yard.executions import ExecutionHistoryEntryResponse
from skillyard.server.yard.skills_schemas import SkillCandidateResponse, SkillReleaseResponse


class SkillReleaseHealthResponse(BaseModel):
    """How a release does, from its own runs; beside these fields, what is decided and why."""

    model_config = ConfigDict(extra="allow")

    release_id: str
    skill_key: str
    stage: str
    window_start_at: datetime
    window_end_at: datetime
    window_complete: bool
    samples: int
    success_rate: float
    error_rate: float
    p95_duration: int
    baseline_success_rate: float
    baseline_error_rate: float
    baseline_samples: int
    success_drop: float
    error_rate_multiplier: float
    healthy: bool
    should_rollback: bool
    rollback_reasons: list[str]
    thresholds: dict[str, Any]
    decision: str = Field(description="`promote`, `rollback` or `wait`.")
    reason: str


class StepDifference(BaseModel):
    change: str = Field(description="`same`, `added`, `removed` or `changed`.")
    old: str | None
    new: str | None
    old_step: dict[str, Any] | None
    new_step: dict[str, Any] | None

    @classmethod
    def of(cls, difference: Difference) -> Self:
        old, new = difference.old, difference.new
        return cls(change=difference.change, old=_text(old), new=_text(new), old_step=old, new_step=new)


class VariableDifference(BaseModel):
    name: str
    change: str
    old: dict[str, Any] | None
    new: dict[str, Any] | None


class SkillReleaseDiffResponse(BaseModel):
    """What differs between two releases."""

    old: SkillReleaseResponse
    new: SkillReleaseResponse
    changed: bool
    steps: list[StepDifference]
    variables: list[VariableDifference]

    @classmethod
    def of(cls, old: Release, new: Release, diff: PayloadDiff) -> Self:
        return cls(
            old=SkillReleaseResponse.of(old),
            new=SkillReleaseResponse.of(new),
            changed=diff.changed,
            steps=[StepDifference.of(each) for each in diff.steps],
            variables=[
                VariableDifference(name=each.name, change=each.change, old=each.old, new=each.new)
                for each in diff.variables
            ],
        )


class FoundSkillResponse(BaseModel):
    candidate: SkillCandidateResponse
    release: SkillReleaseResponse | None = Field(description="If it is in use.")
    score: float

    @classmethod
    def of(cls, found: FoundSkill) -> Self:
        release = None if found.release is None else SkillReleaseResponse.of(found.release)
        return cls(candidate=SkillCandidateResponse.of(found.candidate), release=release, score=found.score)


class FoundSkillsResponse(BaseModel):
    items: list[FoundSkillResponse]
    total: int


class OwnExecutionResponse(ExecutionHistoryEntryResponse):
    """An execution, and the sandbox that it was in."""

    sandbox_id: str

    @classmethod
    def told(cls, execution: Execution) -> Self:
        said = ExecutionHistoryEntryResponse.of(execution).model_dump()
        return cls.model_validate({**said, "sandbox_id": execution.sandbox_id})


class OwnExecutionsResponse(BaseModel):
    entries: list[OwnExecutionResponse]
    total: int


def _text(step: Any) -> str | None:  # noqa: ANN401 -- the JSON of a step
    return None if step is None else str(step.get("cmd", step.get("code", "")))
