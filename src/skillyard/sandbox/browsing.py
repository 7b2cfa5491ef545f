"""The browser of a sandbox: one step or a row of them, recorded with what each acted on."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from skillyard.errors import InputError, SkillyardError
from skillyard.identity.principals import Principal
from skillyard.redact import redact
from skillyard.sandbox.browser_steps import parse_step
from skillyard.sandbox.capabilities import Ability
from skillyard.sandbox.executions import ExecType, Run, require_code, storable
from skillyard.sandbox.running import Held
from skillyard.sandbox.runs import Done, Recorder, Wish, draft_of
from skillyard.sandbox.session import BrowserOutcome, Ending

MAX_STEPS: Final = 500
"""In one batch."""
EXIT_FAILED: Final = 1


@dataclass(frozen=True, kw_only=True)
class StepDone:
    """What came of one step."""

    index: int
    command: str
    output: str
    error: str
    exit_code: int
    ending: Ending
    seconds: float
    target: Mapping[str, Any] | None = None

    @property
    def milliseconds(self) -> int:
        return round(self.seconds * 1000)


@dataclass(frozen=True, kw_only=True)
class Browsed:
    """What came of a row of steps."""

    steps: Sequence[StepDone]
    total: int
    seconds: float

    @property
    def success(self) -> bool:
        return len(self.steps) == self.total and all(step.exit_code == 0 for step in self.steps)

    @property
    def completed(self) -> int:
        """How many were taken, whatever came of them."""
        return len(self.steps)


class Browsing:
    """Browser steps in sandboxes."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    async def step(
        self, caller: Principal, sandbox_id: str, command: str, wish: Wish | None = None, *, trace: bool = False
    ) -> Done[Browsed]:
        """One step, such as `open https://example.org` or `click @e2`."""
        return await self._browse(caller, sandbox_id, ExecType.BROWSER, (command,), wish or Wish(), trace=trace)

    async def batch(
        self,
        caller: Principal,
        sandbox_id: str,
        commands: Sequence[str],
        wish: Wish | None = None,
        *,
        stop_on_error: bool = True,
        trace: bool = False,
    ) -> Done[Browsed]:
        """Steps one after the other, in the time of the whole."""
        if not 1 <= len(commands) <= MAX_STEPS:
            raise InputError(
                f"A batch has 1 to {MAX_STEPS} commands, not {len(commands)}.",
                hint="Send some, or in several batches.",
                details={"field": "commands", "value": len(commands), "limit": MAX_STEPS},
            )
        kind = ExecType.BROWSER_BATCH
        return await self._browse(
            caller, sandbox_id, kind, commands, wish or Wish(), stop_on_error=stop_on_error, trace=trace
        )

    async def _browse(
        self,
        caller: Principal,
        sandbox_id: str,
        kind: ExecType,
        commands: Sequence[str],
        wish: Wish,
        *,
        stop_on_error: bool = True,
        trace: bool,
    ) -> Done[Browsed]:
        code = wish.clean("\n".join(commands))
        require_code(code, "commands" if kind is ExecType.BROWSER_BATCH else "cmd")
        draft = draft_of(kind, code, wish)

        async def run(held: Held) -> tuple[Run, Browsed]:
            browsed = await _walk(held, commands, wish, stop_on_error=stop_on_error)
            last = browsed.steps[-1]
            errors = [step.error for step in browsed.steps if step.error]
            over = replace(
                draft,
                success=browsed.success,
                ending=last.ending.value,
                exit_code=last.exit_code,
                seconds=browsed.seconds,
                output="\n".join(step.output for step in browsed.steps if step.output),
                error="\n".join(errors) or None,
                trace=_trace(kind, browsed) if trace or wish.learn else None,
            )
            return over, browsed

        return await self._recorder.recorded(caller, sandbox_id, Ability.BROWSER, draft, run)


async def _walk(held: Held, commands: Sequence[str], wish: Wish, *, stop_on_error: bool) -> Browsed:
    began = time.monotonic()
    done: list[StepDone] = []
    for index, command in enumerate(commands):
        left = wish.seconds - (time.monotonic() - began)
        step = await _step(held, index, command, wish, left)
        done.append(step)
        if step.exit_code and (stop_on_error or step.ending in {Ending.DIED, Ending.TIMEOUT}):
            break
    return Browsed(steps=done, total=len(commands), seconds=time.monotonic() - began)


async def _step(held: Held, index: int, command: str, wish: Wish, left: float) -> StepDone:
    shown = wish.clean(command)
    began = time.monotonic()
    if left <= 0:
        return _failed(index, shown, f"The {wish.seconds:g} s of the whole were over.", Ending.TIMEOUT, 0.0)
    try:
        outcome = await held.session.browse(parse_step(command), seconds=left, secrets=wish.secrets or None)
    except InputError as error:  # a step that nobody understands fails like any other
        return _failed(index, shown, _told(error), Ending.EXITED, time.monotonic() - began)
    return _done(index, shown, outcome)


def _done(index: int, command: str, outcome: BrowserOutcome) -> StepDone:
    return StepDone(
        index=index,
        command=command,
        output=storable(outcome.output),
        error=storable(outcome.error or ""),
        exit_code=0 if outcome.success else EXIT_FAILED,
        ending=outcome.ending,
        seconds=outcome.seconds,
        target=outcome.target,
    )


def _failed(index: int, command: str, error: str, ending: Ending, seconds: float) -> StepDone:
    return StepDone(
        index=index, command=command, output="", error=error, exit_code=EXIT_FAILED, ending=ending, seconds=seconds
    )


def _told(error: SkillyardError) -> str:
    return f"{error.message} {error.hint}".strip()


def _trace(kind: ExecType, browsed: Browsed) -> dict[str, Any]:
    """The steps as they are kept: what was done, to which element, and what came of it."""
    steps = [
        {
            "kind": "individual_action",
            "step_index": step.index,
            "cmd": redact(step.command),
            "stdout": redact(step.output),
            "stderr": redact(step.error),
            "exit_code": step.exit_code,
            "duration_ms": step.milliseconds,
            "target": _plain(step.target),
        }
        for step in browsed.steps
    ]
    return {
        "kind": "browser_batch_trace" if kind is ExecType.BROWSER_BATCH else "browser_exec_trace",
        "steps": steps,
        "total_steps": browsed.total,
        "completed_steps": browsed.completed,
        "success": browsed.success,
        "duration_ms": round(browsed.seconds * 1000),
    }


def _plain(target: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if target is None:
        return None
    return {key: redact(storable(value)) if isinstance(value, str) else value for key, value in target.items()}
