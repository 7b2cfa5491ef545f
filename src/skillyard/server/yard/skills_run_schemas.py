"""The JSON of running learned skills: what they are given, and what came of it."""

from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from skillyard.releases.outcomes import StepReport
from skillyard.releases.runs import Ran
from skillyard.releases.values import Benchmark, Evaluation, Mining, SkillRun
from skillyard.server.yard.caller import Body
from skillyard.server.yard.run_schemas import BrowserBatchStepResult, Note
from skillyard.server.yard.skills_schemas import SkillEvaluationResponse

Scalar = str | int | float | bool
VariableName = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Id = Annotated[str, StringConstraints(max_length=128)]


class _Given(Body):
    variables: dict[VariableName, Scalar] = Field(default_factory=dict[str, Scalar], max_length=100)
    secrets: dict[VariableName, str] = Field(
        default_factory=dict[str, str], max_length=100, description="Values of secret variables, kept nowhere."
    )


class SkillRunRequest(_Given):
    sandbox_id: Id | None = Field(default=None, description="One of yours; without it, a fresh one.")
    release_id: Id | None = Field(default=None, description="Without it, the release that is in use.")
    timeout: int = Field(default=120, ge=1, le=600)


class BrowserSkillRunRequest(_Given):
    timeout: int = Field(default=60, ge=1, le=600)
    stop_on_error: bool = Field(
        default=True, description="Whether it ends with the first step that fails; a step that failed fails the whole."
    )
    include_trace: bool = False
    description: Note | None = None
    tags: Note | None = None


class SkillReplayRequest(_Given):
    runs: int = Field(default=5, ge=1, le=100)
    benchmark: Id | None = None
    timeout: int | None = Field(default=None, ge=1, le=600, description="Seconds of each replay.")


class StepReportResponse(BaseModel):
    index: int
    type: str
    text: str
    success: bool
    output: str
    error: str
    exit_code: int | None
    milliseconds: int
    recovered: str = Field(description="How the element was found although it is not named as it was.")


class SkillRunResponse(BaseModel):
    """One replay."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    release_id: str | None
    candidate_id: str
    evaluation_id: str | None
    number: int | None
    sandbox_id: str | None
    execution_ids: list[str]
    verdict: str = Field(
        description="`PASS`, `STEP_FAIL`, `POSTCONDITION_FAIL` or `PRECONDITION_FAIL`; `TASK_FAIL` if an agent said so."
    )
    step: int | None = Field(description="The index of the step that it ended at.")
    reason: str
    steps: list[StepReportResponse]
    total_steps: int
    variables: dict[str, Any] = Field(description="Without the values of secrets.")
    screenshot: str | None = Field(description="Whether there is one: GET …/screenshot.")
    milliseconds: int
    created_at: datetime
    origin: str = Field(description="`replay`, or `told` by an agent that used the skill.")
    session: str | None = Field(description="The agent's session, of one that was told.")

    @classmethod
    def of(cls, run: SkillRun) -> Self:
        return cls.model_validate(run)


class SkillRunListResponse(BaseModel):
    items: list[SkillRunResponse]
    total: int


class SkillRanResponse(SkillRunResponse):
    """A run of the release that is in use."""

    skill_key: str
    version: int
    stage: str
    success: bool

    @classmethod
    def told(cls, ran: Ran, run: SkillRun) -> Self:
        release = ran.release
        more = {"skill_key": release.skill_key, "version": release.version, "stage": release.stage}
        said = SkillRunResponse.of(run).model_dump()
        return cls.model_validate({**said, **more, "success": ran.replay.passed})


class BrowserSkillRunResponse(BaseModel):
    skill_key: str
    release_id: str
    execution_id: str
    execution_time_ms: int
    trace_ref: str | None = None
    results: list[BrowserBatchStepResult]
    total_steps: int
    completed_steps: int
    success: bool
    duration_ms: int = 0
    run_id: str
    verdict: str
    step: int | None
    reason: str

    @classmethod
    def of(cls, ran: Ran, *, trace_ref: str | None) -> Self:
        replay = ran.replay
        return cls(
            skill_key=ran.release.skill_key,
            release_id=ran.release.id,
            execution_id=replay.execution_ids[-1] if replay.execution_ids else "",
            execution_time_ms=replay.milliseconds,
            trace_ref=trace_ref,
            results=[_step_result(step) for step in replay.steps],
            total_steps=replay.total_steps,
            completed_steps=len(replay.steps),
            success=replay.passed,
            duration_ms=replay.milliseconds,
            run_id=ran.run_id,
            verdict=replay.verdict,
            step=replay.step,
            reason=replay.reason,
        )


class SkillReplayResponse(SkillEvaluationResponse):
    """An evaluation by replays, as far as it is."""

    runs: list[SkillRunResponse]

    @classmethod
    def told(cls, evaluation: Evaluation, runs: list[SkillRun]) -> Self:
        said = SkillEvaluationResponse.of(evaluation).model_dump()
        return cls.model_validate({**said, "runs": [SkillRunResponse.of(run) for run in runs]})


class MineRequest(Body):
    """Which executions are looked through; without any of these, all of yours."""

    sandbox_ids: list[Id] | None = Field(default=None, max_length=5000)
    execution_ids: list[Id] | None = Field(default=None, max_length=5000)
    since: datetime | None = None


class MiningResponse(BaseModel):
    """A request to look through executions, and what came of it."""

    id: str
    state: str = Field(description="`queued`, `running`, `done` or `failed`.")
    examined: int = 0
    candidates: list[str] = Field(default_factory=list[str], description="The candidates that it led to, new or not.")
    created: list[str] = Field(default_factory=list[str], description="Those of them that are new.")
    gaps: Any = None
    error: str | None
    created_at: datetime
    finished_at: datetime | None

    @classmethod
    def of(cls, mining: Mining) -> Self:
        said = {name: getattr(mining, name) for name in ("id", "state", "error", "created_at", "finished_at")}
        return cls.model_validate({**(mining.found or {}), **said})


class BenchmarkRequest(Body):
    cases: list[dict[str, Any]] = Field(
        min_length=1, max_length=100, description="Each `{variables, checks}`; checks hold beside those of the payload."
    )


class BenchmarkResponse(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    id: str
    name: str
    cases: list[dict[str, Any]]
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, benchmark: Benchmark) -> Self:
        return cls.model_validate(benchmark)


class BenchmarkListResponse(BaseModel):
    items: list[BenchmarkResponse]
    total: int


def _step_result(step: StepReport) -> BrowserBatchStepResult:
    failed = 0 if step.success else 1
    return BrowserBatchStepResult(
        cmd=step.text,
        stdout=step.output,
        stderr=step.error,
        exit_code=failed if step.exit_code is None else step.exit_code or failed,
        step_index=step.index,
        duration_ms=step.milliseconds,
    )
