"""The JSON of runs: python, shell and browser."""

from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, Field, StringConstraints

from skillyard.sandbox.browsing import MAX_STEPS, Browsed, StepDone
from skillyard.sandbox.executions import MAX_CODE, MAX_NOTE, Said
from skillyard.sandbox.runs import Done, Wish
from skillyard.sandbox.session import Outcome, PythonOutcome
from skillyard.sandbox.workspace_paths import relative_path
from skillyard.server.yard.caller import Body

Code = Annotated[str, StringConstraints(max_length=MAX_CODE)]
Note = Annotated[str, StringConstraints(max_length=MAX_NOTE)]
Variable = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}$")]
Folder = Annotated[str, AfterValidator(lambda path: relative_path(path, field="cwd"))]


class _Run(Body):
    timeout: int
    description: Note | None = None
    tags: Note | None = Field(default=None, description="Separated by commas.")
    secrets: dict[Variable, str] = Field(
        default_factory=dict[str, str],
        description="Variables of this one run, whose values are kept out of its output and its record.",
    )

    learn: bool = Field(default=False, description="Have it looked through for know-how, once the sandbox is silent.")

    def wish(self) -> Wish:
        said = Said(description=self.description, tags=self.tags)
        return Wish(seconds=self.timeout, secrets=self.secrets, said=said, learn=self.learn)


class PythonExecRequest(_Run):
    code: Code
    timeout: int = Field(default=30, ge=1, le=300)
    include_code: bool = False


class ShellExecRequest(_Run):
    command: Code
    timeout: int = Field(default=30, ge=1, le=300)
    cwd: Folder | None = Field(default=None, max_length=4096, description="Relative to the workspace.")
    env: dict[Variable, str] = Field(default_factory=dict[str, str], description="Further variables.")
    include_code: bool = False


class BrowserExecRequest(_Run):
    cmd: Code
    timeout: int = Field(default=30, ge=1, le=300)
    include_trace: bool = False


class BrowserBatchExecRequest(_Run):
    commands: list[Code] = Field(min_length=1, max_length=MAX_STEPS)
    timeout: int = Field(default=60, ge=1, le=600)
    stop_on_error: bool = True
    include_trace: bool = False


class PythonExecResponse(BaseModel):
    success: bool
    output: str
    error: str | None = None
    data: dict[str, Any] | None = None
    execution_id: str | None = None
    execution_time_ms: int | None = None
    code: str | None = None

    @classmethod
    def of(cls, done: Done[PythonOutcome], *, code: bool) -> Self:
        data = None
        if done.outcome is not None:
            images = [dict(image) for image in done.outcome.images]
            data = {
                "execution_count": done.outcome.execution_count,
                "output": {"text": done.output, "images": images},
            }
        return cls(
            success=done.execution.success,
            output=done.output,
            error=done.error,
            data=data,
            execution_id=done.execution.id,
            execution_time_ms=done.execution.milliseconds,
            code=done.execution.code if code else None,
        )


class ShellExecResponse(BaseModel):
    success: bool
    output: str
    error: str | None = None
    exit_code: int | None = None
    execution_id: str | None = None
    execution_time_ms: int | None = None
    command: str | None = None

    @classmethod
    def of(cls, done: Done[Outcome], *, code: bool) -> Self:
        return cls(
            success=done.execution.success,
            output=done.output,
            error=done.error,
            exit_code=done.execution.exit_code,
            execution_id=done.execution.id,
            execution_time_ms=done.execution.milliseconds,
            command=done.execution.code if code else None,
        )


class BrowserExecResponse(BaseModel):
    success: bool
    output: str
    error: str | None = None
    exit_code: int | None = None
    execution_id: str | None = None
    execution_time_ms: int | None = None
    trace_ref: str | None = None

    @classmethod
    def of(cls, done: Done[Browsed], *, trace: bool) -> Self:
        return cls(
            success=done.execution.success,
            output=done.output,
            error=done.error,
            exit_code=done.execution.exit_code,
            execution_id=done.execution.id,
            execution_time_ms=done.execution.milliseconds,
            trace_ref=done.execution.trace_ref if trace else None,
        )


class BrowserBatchStepResult(BaseModel):
    cmd: str
    stdout: str
    stderr: str
    exit_code: int
    step_index: int
    duration_ms: int = 0

    @classmethod
    def of(cls, step: StepDone) -> Self:
        return cls(
            cmd=step.command,
            stdout=step.output,
            stderr=step.error,
            exit_code=step.exit_code,
            step_index=step.index,
            duration_ms=step.milliseconds,
        )


class BrowserBatchExecResponse(BaseModel):
    results: list[BrowserBatchStepResult]
    total_steps: int
    completed_steps: int
    success: bool
    duration_ms: int = 0
    execution_id: str | None = None
    execution_time_ms: int | None = None
    trace_ref: str | None = None

    @classmethod
    def of(cls, done: Done[Browsed], *, total: int, trace: bool) -> Self:
        return cls(
            results=[BrowserBatchStepResult.of(step) for step in (done.outcome.steps if done.outcome else ())],
            total_steps=total,
            completed_steps=done.outcome.completed if done.outcome else 0,
            success=done.execution.success,
            duration_ms=done.execution.milliseconds,
            execution_id=done.execution.id,
            execution_time_ms=done.execution.milliseconds,
            trace_ref=done.execution.trace_ref if trace else None,
        )


class BrowserTraceResponse(BaseModel):
    trace_ref: str
    trace: dict[str, Any] | list[Any]
