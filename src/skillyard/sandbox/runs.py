"""Running things in sandboxes: Python that remembers and shell commands; every run is recorded, however it ends."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, Generic, TypeVar

from skillyard.cancellation import to_the_end
from skillyard.errors import (
    InputError,
    NotFoundError,
    SandboxDiedError,
    SandboxFaultError,
    SkillyardError,
    UsageError,
)
from skillyard.identity.principals import Principal, Scope
from skillyard.identity.standing import ACTING
from skillyard.identity.turns import Turns
from skillyard.redact import Secrets, redact, storable
from skillyard.sandbox.capabilities import Ability
from skillyard.sandbox.capture.records import cleaned
from skillyard.sandbox.execution_log import ExecutionLog
from skillyard.sandbox.executions import ExecType, Execution, Run, Said, require_code
from skillyard.sandbox.onlookers import Onlookers
from skillyard.sandbox.running import Held, Running
from skillyard.sandbox.sandboxes import Sandbox
from skillyard.sandbox.service import Sandboxes
from skillyard.sandbox.session import Command, Ending, OnOutput, Outcome, OutputStream, PythonOutcome
from skillyard.sandbox.workspace_paths import workspace_path

MAX_SECONDS: Final = 600.0
CANCELLED: Final = "cancelled"
"""How a run ends that whoever asked for it gave up."""
FAILED: Final = "failed"
"""How a run ends that was not carried out, for no reason of its own."""
_MAX_SECRETS: Final = 64
_THREADS: Final = 6
T = TypeVar("T")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What holds for a run of any kind."""

    seconds: float = 30.0
    secrets: Mapping[str, str] = field(default_factory=dict[str, str])
    """Variables of this one run, whose values are kept out of all output."""
    said: Said = field(default_factory=Said)
    learn: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.seconds <= MAX_SECONDS:
            raise InputError(
                f"A run cannot have {self.seconds:g} seconds.",
                hint=f"Use up to {MAX_SECONDS:g}.",
                details={"field": "timeout", "value": self.seconds, "limit": MAX_SECONDS},
            )
        if len(self.secrets) > _MAX_SECRETS:
            raise InputError(
                f"There can be {_MAX_SECRETS} secrets in a run.",
                hint="Pass fewer.",
                details={"field": "secrets", "value": len(self.secrets), "limit": _MAX_SECRETS},
            )

    def clean(self, text: str) -> str:
        """A text without the secrets of this run, to be told to whoever asked for it."""
        return self._known.text(text) if self.secrets else text

    @cached_property
    def _known(self) -> Secrets:
        return Secrets(self.secrets.values())


@dataclass(frozen=True, kw_only=True)
class Done(Generic[T]):
    """A run that is over: what is kept of it, and the whole of what came of it, None if the sandbox died under it."""

    execution: Execution
    output: str
    error: str | None
    outcome: T | None


class Recorder:
    """Lets something run in a sandbox and writes down what became of it."""

    def __init__(self, sandboxes: Sandboxes, running: Running, log: ExecutionLog, onlookers: Onlookers) -> None:
        self._sandboxes = sandboxes
        self._running = running
        self._log = log
        self._onlookers = onlookers
        self._turns = Turns(threads=_THREADS)

    async def recorded(
        self,
        caller: Principal,
        sandbox_id: str,
        ability: Ability,
        draft: Run,
        run: Callable[[Held, OnOutput], Awaitable[tuple[Run, T]]],
        *,
        secrets: Mapping[str, str],
        on_output: OnOutput | None = None,
    ) -> Done[T]:
        """What came of a run; `draft` is what is kept where it does not come to its end.

        What is kept has no secrets in it; what is told has only those not that were given with the run. `run` is given
        where its output goes as it comes: to `on_output`, and to all who look on.
        """
        caller.require_scope(Scope.WRITE)
        sandbox = await self._sandboxes.get(caller, sandbox_id)
        sandbox.require(ability)
        sandbox.require_unexpired()
        async with self._running.use(sandbox_id) as held:

            def code() -> str:
                return redact(storable(cleaned(draft, held.secrets, secrets).code))

            with self._onlookers.running(sandbox_id, draft.exec_type, code) as seen:
                return await self._carried_out(caller, sandbox, held, draft, run, secrets, _both(seen, on_output))

    async def _carried_out(
        self,
        caller: Principal,
        sandbox: Sandbox,
        held: Held,
        draft: Run,
        run: Callable[[Held, OnOutput], Awaitable[tuple[Run, T]]],
        secrets: Mapping[str, str],
        on_output: OnOutput,
    ) -> Done[T]:
        began = time.monotonic()

        def ended(ending: str, error: str) -> Awaitable[Execution]:
            seconds = time.monotonic() - began
            over = replace(draft, ending=ending, error=error, seconds=seconds)
            return self._keep(caller, sandbox, held, over, secrets)

        try:
            over, outcome = await run(held, on_output)
        except SandboxDiedError as error:
            execution = await ended(Ending.DIED, error.message)
            return Done(execution=execution, output="", error=error.message, outcome=None)
        except (InputError, UsageError, NotFoundError):
            raise  # the request is wrong, and nothing was run
        except SkillyardError as error:
            await ended(FAILED, error.message)
            raise
        except asyncio.CancelledError:
            await ended(CANCELLED, "Whoever asked for it went away.")
            raise
        except Exception as error:
            _log.exception("A run in the sandbox %s failed for no reason of its own.", sandbox.id)
            await ended(FAILED, "The sandbox did not do as it should.")
            raise SandboxFaultError(
                f"The sandbox {sandbox.id} did not do as it should.",
                hint="The server's log says why; the next call may do better.",
                details={"sandbox_id": sandbox.id},
            ) from error
        execution = await self._keep(caller, sandbox, held, over, secrets)
        return Done(execution=execution, output=over.output, error=over.error, outcome=outcome)

    async def _keep(
        self, caller: Principal, sandbox: Sandbox, held: Held, run: Run, secrets: Mapping[str, str]
    ) -> Execution:
        # In a task of its own: what was run is written down even if nobody waits for it any more.
        async def keep() -> Execution:
            ACTING.set(None)  # it happened, whatever rights are left
            # Up to a second for much code.
            clean = await self._turns.complete(caller, lambda: cleaned(run, held.secrets, secrets))
            return await self._log.add(sandbox, held.session_id, clean, touch=held.takes_note(self._running.now))

        return await to_the_end(keep())


class Runs:
    """Python and shell in sandboxes."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    async def python(
        self,
        caller: Principal,
        sandbox_id: str,
        code: str,
        wish: Wish | None = None,
        *,
        on_output: OnOutput | None = None,
    ) -> Done[PythonOutcome]:
        """Run code in the context that lasts as long as the sandbox runs."""
        require_code(code, "code")
        wish = wish or Wish()

        async def run(held: Held, tell: OnOutput) -> tuple[Run, PythonOutcome]:
            outcome = await held.session.python(
                code, seconds=wish.seconds, secrets=wish.secrets or None, on_output=tell
            )
            over = Run(
                exec_type=ExecType.PYTHON,
                code=code,
                success=outcome.success,
                ending=outcome.ending.value,
                exit_code=None,
                seconds=outcome.seconds,
                output=storable(outcome.output),
                error=None if outcome.error is None else storable(outcome.error),
                truncated=outcome.truncated,
                learn=wish.learn,
                said=wish.said,
                trace=surroundings,
            )
            return over, outcome

        surroundings = _surroundings("python", wish.secrets)
        draft = replace(draft_of(ExecType.PYTHON, code, wish), trace=surroundings)
        return await self._recorder.recorded(
            caller, sandbox_id, Ability.PYTHON, draft, run, secrets=wish.secrets, on_output=on_output
        )

    async def shell(
        self,
        caller: Principal,
        sandbox_id: str,
        command: str,
        wish: Wish | None = None,
        *,
        cwd: str | None = None,
        environment: Mapping[str, str] | None = None,
        on_output: OnOutput | None = None,
    ) -> Done[Outcome]:
        """Run a command line by the shell of the sandbox, in a folder of the workspace."""
        require_code(command, "command")
        wish = wish or Wish()
        program = Command(
            argv=("/bin/sh", "-c", command),
            cwd="." if cwd is None else workspace_path(cwd, field="cwd"),
            environment=dict(environment or {}),
            secrets=dict(wish.secrets),
            timeout=wish.seconds,
        )

        async def run(held: Held, tell: OnOutput) -> tuple[Run, Outcome]:
            outcome = await held.session.run(program, on_output=tell)
            over = Run(
                exec_type=ExecType.SHELL,
                code=command,
                success=outcome.success,
                ending=outcome.ending.value,
                exit_code=outcome.exit_code,
                seconds=outcome.seconds,
                output=_text(outcome.stdout),
                error=_shell_error(outcome, wish),
                truncated=outcome.truncated,
                learn=wish.learn,
                said=wish.said,
                trace=surroundings,
            )
            return over, outcome

        surroundings = _surroundings("shell", program.secrets, program)
        draft = replace(draft_of(ExecType.SHELL, command, wish), trace=surroundings)
        return await self._recorder.recorded(
            caller, sandbox_id, Ability.SHELL, draft, run, secrets=wish.secrets, on_output=on_output
        )


def _both(one: OnOutput, other: OnOutput | None) -> OnOutput:
    if other is None:
        return one

    def tell(stream: OutputStream, data: bytes) -> None:
        one(stream, data)
        other(stream, data)

    return tell


def draft_of(exec_type: ExecType, code: str, wish: Wish) -> Run:
    return Run(
        exec_type=exec_type,
        code=code,
        success=False,
        ending=Ending.DIED,
        exit_code=None,
        seconds=0.0,
        output="",
        error=None,
        learn=wish.learn,
        said=wish.said,
    )


def _surroundings(kind: str, secrets: Mapping[str, str], program: Command | None = None) -> Mapping[str, Any] | None:
    """Where something was run, and with which variables, if that is not as ever. Of secrets, only their names."""
    cwd = "." if program is None else program.cwd
    # Each as it would be written in a command: a name that promises a secret is understood there.
    variables = [f"{name}={value}" for name, value in program.environment.items()] if program else []
    if cwd == "." and not variables and not secrets:
        return None
    return {"kind": f"{kind}_exec_trace", "cwd": cwd, "environment": variables, "secrets": sorted(secrets)}


def _shell_error(outcome: Outcome, wish: Wish) -> str | None:
    said = _text(outcome.stderr)
    remark = {
        Ending.TIMEOUT: f"It was ended after {wish.seconds:g} s.",
        Ending.KILLED: "It was ended by a signal, or by a limit of the sandbox.",
        Ending.DIED: "The sandbox died while it ran.",
        Ending.EXITED: "",
    }[outcome.ending]
    return "\n".join(part for part in (said.rstrip("\n") if remark else said, remark) if part) or None


def _text(data: bytes) -> str:
    return storable(data.decode("utf-8", "replace"))
