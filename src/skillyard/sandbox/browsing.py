"""The browser of a sandbox: one step or a row of them, recorded with what each acted on."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar, cast

from skillyard.errors import InputError, SkillyardError
from skillyard.identity.principals import Principal
from skillyard.redact import storable
from skillyard.sandbox.browser_steps import BrowserStep, parse_step
from skillyard.sandbox.capabilities import Ability
from skillyard.sandbox.capture.browser_secrets import mask_step
from skillyard.sandbox.capture.known_secrets import KnownSecrets
from skillyard.sandbox.capture.markers import marker
from skillyard.sandbox.executions import ExecType, Run, require_code
from skillyard.sandbox.running import Held
from skillyard.sandbox.runs import Done, Recorder, Wish, draft_of
from skillyard.sandbox.session import BrowserOutcome, Ending, OnOutput

MAX_STEPS: Final = 500
"""In one batch."""
EXIT_FAILED: Final = 1
_KEPT_OF_ALL: Final = 256 * 1024
_LEAST_KEPT: Final = 2 * 1024
"""Characters of the output of one step that are kept in a trace for which nobody asked."""
T = TypeVar("T")


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
    screenshot: bytes | None = None

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
        require_code("\n".join(commands), "commands" if kind is ExecType.BROWSER_BATCH else "cmd")
        given = KnownSecrets(wish.secrets)
        written = [given.clean(command) for command in commands]
        draft = draft_of(kind, "\n".join(map(_unseen, written)), wish)

        async def run(held: Held, tell: OnOutput) -> tuple[Run, Browsed]:
            browsed = await _walk(held, commands, wish, tell, stop_on_error=stop_on_error)
            taken = [_recorded(written[step.index], step, held) for step in browsed.steps]
            code = "\n".join([*taken, *map(_unseen, written[len(taken) :])])
            over = replace(_over(draft, browsed, taken, held.secrets, whole=trace), code=code)
            return over, browsed

        return await self._recorder.recorded(caller, sandbox_id, Ability.BROWSER, draft, run, secrets=wish.secrets)

    async def drive(
        self,
        caller: Principal,
        sandbox_id: str,
        commands: Sequence[str],
        wish: Wish,
        drive: Callable[["Drive"], Awaitable[T]],
    ) -> Done[T]:
        """Steps that are chosen one by one by what the page shows, kept as one batch; `commands` is the plan."""
        code = "\n".join(commands)
        require_code(code, "commands")
        draft = draft_of(ExecType.BROWSER_BATCH, code, wish)

        async def run(held: Held, _: OnOutput) -> tuple[Run, T]:
            driver = Drive(held, wish)
            result = await drive(driver)
            browsed = Browsed(steps=driver.steps, total=len(commands), seconds=driver.seconds)
            taken = [step.command for step in driver.steps]
            return _over(draft, browsed, taken, held.secrets, whole=True), result

        return await self._recorder.recorded(caller, sandbox_id, Ability.BROWSER, draft, run, secrets=wish.secrets)


class Drive:
    """A browser at someone's disposal for the time of one run."""

    def __init__(self, held: Held, wish: Wish) -> None:
        self.steps: list[StepDone] = []
        """Those that were taken, as they are kept."""
        self._held = held
        self._wish = wish
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    async def take(self, step: BrowserStep, *, shown: str, seconds: float) -> StepDone:
        """Take a step, and keep it as `shown`."""
        done = await self.look(step, shown=shown, seconds=seconds)
        self.steps.append(done)
        return done

    async def look(self, step: BrowserStep, *, shown: str = "", seconds: float) -> StepDone:
        """The same without keeping it: a look at the page between the steps."""
        secrets = self._wish.secrets or None
        outcome = await self._held.session.browse(step, seconds=max(0.1, seconds), secrets=secrets)
        return _done(len(self.steps), self._wish.clean(shown), outcome)

    def failed(self, shown: str, error: str) -> StepDone:
        """A step that was not taken, kept with the reason."""
        done = _failed(len(self.steps), self._wish.clean(shown), self._wish.clean(error), Ending.EXITED, 0.0)
        self.steps.append(done)
        return done


def _over(draft: Run, browsed: Browsed, commands: Sequence[str], known: KnownSecrets, *, whole: bool) -> Run:
    """A run of steps as it is to be kept, with the commands as they are."""
    last = browsed.steps[-1] if browsed.steps else None
    errors = [step.error for step in browsed.steps if step.error]
    return replace(
        draft,
        success=browsed.success,
        ending=last.ending.value if last else Ending.EXITED.value,
        exit_code=last.exit_code if last else EXIT_FAILED,
        seconds=browsed.seconds,
        output="\n".join(step.output for step in browsed.steps if step.output),
        error="\n".join(errors) or None,
        trace=_trace(draft.exec_type, browsed, commands, known, whole=whole),
    )


async def _walk(held: Held, commands: Sequence[str], wish: Wish, tell: OnOutput, *, stop_on_error: bool) -> Browsed:
    began = time.monotonic()
    done: list[StepDone] = []
    for index, command in enumerate(commands):
        left = wish.seconds - (time.monotonic() - began)
        step = await _step(held, index, command, wish, left)
        done.append(step)
        if step.output or step.error:
            tell("stderr" if step.error else "stdout", f"{step.error or step.output}\n".encode(errors="replace"))
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
        screenshot=outcome.screenshot,
    )


def _failed(index: int, command: str, error: str, ending: Ending, seconds: float) -> StepDone:
    return StepDone(
        index=index, command=command, output="", error=error, exit_code=EXIT_FAILED, ending=ending, seconds=seconds
    )


def _told(error: SkillyardError) -> str:
    return f"{error.message} {error.hint}".strip()


def _recorded(command: str, step: StepDone, held: Held) -> str:
    """A step that was taken as it is kept; what it typed into a field for secrets is known from then on."""
    return mask_step(command, step.target, held.secrets.learn, succeeded=step.exit_code == 0)


def _unseen(command: str) -> str:
    """A step that was not taken, or of which nothing is known: whatever it types may be a secret."""
    return mask_step(command, None, lambda _, name: marker(name), succeeded=False)


def _trace(
    kind: ExecType, browsed: Browsed, commands: Sequence[str], known: KnownSecrets, *, whole: bool
) -> dict[str, Any]:
    """The steps as they are kept: what was done, to which element, and what came of it.

    This is kept of every run, for without the elements nobody can learn from it; all of the output only if asked for.
    """
    most = None if whole else max(_LEAST_KEPT, _KEPT_OF_ALL // max(1, len(commands)))
    steps = [
        {
            "kind": "individual_action",
            "step_index": step.index,
            "cmd": command,
            "stdout": _start(step.output, most, known),
            "stderr": _start(step.error, most, known),
            "exit_code": step.exit_code,
            "duration_ms": step.milliseconds,
            "target": _plain(step.target),
        }
        for step, command in zip(browsed.steps, commands, strict=True)
    ]
    return {
        "kind": "browser_batch_trace" if kind is ExecType.BROWSER_BATCH else "browser_exec_trace",
        "steps": steps,
        "total_steps": browsed.total,
        "completed_steps": browsed.completed,
        "success": browsed.success,
        "duration_ms": round(browsed.seconds * 1000),
    }


def _start(text: str, most: int | None, known: KnownSecrets) -> str:
    return text if most is None or len(text) <= most else known.clean(text)[:most]


def _plain(value: Any) -> Any:  # noqa: ANN401 -- any JSON
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, Mapping):
        return {storable(name): _plain(inner) for name, inner in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in cast("list[Any]", value)]
    return value
