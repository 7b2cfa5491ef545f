"""Reading a log: what was done with success, what was looked at in between, and what failed."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, cast

from skillyard.errors import InputError
from skillyard.releases.mining.acts import Act, Look
from skillyard.releases.mining.argument_names import name_files
from skillyard.releases.mining.browser_acts import BrowserAct, Spot
from skillyard.releases.mining.findings import REPLAY_TAG, LoggedExecution, SessionLog
from skillyard.releases.mining.python_acts import PythonAct
from skillyard.releases.mining.shell_acts import ShellAct
from skillyard.releases.mining.snapshots import elements_in
from skillyard.sandbox.browser_lines import line_of
from skillyard.sandbox.browser_steps import BrowserStep, parse_step
from skillyard.sandbox.capture.markers import marker
from skillyard.sandbox.executions import ExecType, Execution, tags_in

_LOOKING: Final = frozenset(
    {"snapshot", "get", "is", "screenshot", "scroll", "scrollintoview", "focus", "hover", "wait"}
)
_KEPT: Final = frozenset({"snapshot", "wait", "hover"})
"""Looks that a replay does too: it sees anew where it is, and waits for what was waited for."""
_DOING: Final = re.compile(
    r"(?<![=!<>])=(?![=>])|\.(?:click|submit|focus|dispatchEvent|remove|append\w*|setItem)\(|fetch\("
)
"""What a script has in it that changes the page."""
_ADDRESS: Final = re.compile(r"(?m)^(?:Now at )?(https?://\S+)$")
_VARIABLE: Final = re.compile(r"[A-Za-z_]\w{0,63}", re.ASCII)
_ENVIRON: Final = '__import__("os").environ'
_ENVIRONMENT: Final = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """Something that was tried without success."""

    what: str
    """Without its values."""
    execution_id: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Break:
    """From here on nothing of the browser and of Python that was before is there."""


Event: TypeAlias = Act | Look | Failure | Break


@dataclass(kw_only=True, slots=True)
class _Page:
    """What is known of the page."""

    elements: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    address: str = ""


def read_session(session: SessionLog) -> Iterator[Event]:
    """What happened in a sandbox, in the order in which it did."""
    page = _Page()
    life: str | None = None
    for entry in sorted(session.entries, key=lambda each: (each.execution.created_at, each.execution.id)):
        execution = entry.execution
        if REPLAY_TAG in tags_in(execution.tags):
            continue
        if life is not None and execution.session_id != life:
            page = _Page()
            yield Break()
        life = execution.session_id
        match execution.exec_type:
            case ExecType.PYTHON:
                yield _of_python(execution, entry.trace)
            case ExecType.SHELL:
                yield _of_shell(execution, entry.trace)
            case ExecType.BROWSER | ExecType.BROWSER_BATCH:
                yield from _of_browser(entry, page)


def _of_python(execution: Execution, trace: Mapping[str, Any] | None) -> Event:
    given = "".join(f'{_ENVIRON}["{name}"] = "{marker(name)}"\n' for name in _secrets(trace))
    act = PythonAct(
        execution_id=execution.id, code=given + execution.code, output=execution.output, learn=execution.learn
    )
    if not execution.success:
        return Failure(what=act.form(()), execution_id=execution.id)
    return _look("python", act.code, execution) if act.is_look else act


def _of_shell(execution: Execution, trace: Mapping[str, Any] | None) -> Event:
    cwd = str(trace["cwd"]) if trace and isinstance(trace.get("cwd"), str) else None
    given = "".join(f"export {name}='{marker(name)}'\n" for name in _secrets(trace))
    act = ShellAct(
        execution_id=execution.id,
        text=given + _environment(trace) + execution.code,
        cwd=None if cwd == "." else cwd,
        output=execution.output,
        learn=execution.learn,
    )
    if not execution.success:
        return Failure(what=act.form(()), execution_id=execution.id)
    if act.is_look:
        return _look("shell", act.text, execution)
    name_files(act)
    return act


def _environment(trace: Mapping[str, Any] | None) -> str:
    """The variables of a run, as a command that sets them."""
    pairs = [one.partition("=") for one in _texts(trace, "environment") if _ENVIRONMENT.fullmatch(one)]
    return "".join(f"export {name}='{value}'\n" for name, _, value in pairs if "'" not in value)


def _secrets(trace: Mapping[str, Any] | None) -> list[str]:
    """The variables that were given to a run as secrets: their names."""
    return [name for name in _texts(trace, "secrets") if _VARIABLE.fullmatch(name)]


def _texts(trace: Mapping[str, Any] | None, name: str) -> list[str]:
    given: Any = trace.get(name) if trace else None
    return [one for one in cast("list[Any]", given) if isinstance(one, str)] if isinstance(given, list) else []


def _look(verb: str, text: str, execution: Execution) -> Look:
    return Look(verb=verb, text=text, output=execution.output, execution_id=execution.id, kept=False)


def _of_browser(entry: LoggedExecution, page: _Page) -> Iterator[Event]:
    for taken in _steps(entry):
        event = _event(taken, entry.execution, page)
        if event is not None:
            yield event
        for address in _ADDRESS.findall(taken.output):
            page.address = address
        if taken.target and isinstance(taken.target.get("url_after"), str):
            page.address = taken.target["url_after"]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Taken:
    """One step of a trace."""

    command: str
    output: str
    success: bool
    target: Mapping[str, Any] | None = None


def _steps(entry: LoggedExecution) -> Iterator[_Taken]:
    """The steps of a run: as its trace has them, or as it was written where there is none."""
    steps: Any = entry.trace.get("steps") if entry.trace else None
    if isinstance(steps, list):
        for step in cast("list[Any]", steps):
            if isinstance(step, Mapping):
                yield _taken(cast("Mapping[str, Any]", step))
        return
    execution = entry.execution
    commands = execution.code.split("\n") if execution.exec_type is ExecType.BROWSER_BATCH else [execution.code]
    for command in commands:
        output = execution.output if len(commands) == 1 else ""
        yield _Taken(command=command, output=output, success=execution.success)


def _taken(step: Mapping[str, Any]) -> _Taken:
    target: Any = step.get("target")
    return _Taken(
        command=str(step.get("cmd") or ""),
        output=str(step.get("stdout") or ""),
        success=step.get("exit_code") == 0,
        target=cast("Mapping[str, Any]", target) if isinstance(target, Mapping) else None,
    )


def _event(taken: _Taken, execution: Execution, page: _Page) -> Event | None:
    try:
        step = parse_step(taken.command)
    except InputError:
        return None if taken.success else Failure(what=taken.command.split(" ", 1)[0], execution_id=execution.id)
    if step.verb == "snapshot" and taken.success:
        page.elements = elements_in(taken.output)
    step, target = _plain(step, taken.target, page)
    if step.verb in _LOOKING or (step.verb == "eval" and not _DOING.search(step.arguments[0])):
        return _looked(step, taken, execution, page) if taken.success else None
    act = _act(step, target, taken, execution, page)
    if taken.success:
        return act
    return Failure(what=act.form(()), execution_id=execution.id)


def _plain(
    step: BrowserStep, target: Mapping[str, Any] | None, page: _Page
) -> tuple[BrowserStep, Mapping[str, Any] | None]:
    """A step with the verb of what it does, and the element that it does it to."""
    if step.verb == "find":
        finder, sought, *rest = step.arguments
        action, *values = rest[1:] if finder == "nth" else rest
        verb = "get" if action == "text" else action
        found = BrowserStep(verb=verb, arguments=("", *values), options=step.options)
        return found, target or _sought(finder, sought, step.options)
    ref = next((word for word in step.arguments[:2] if word.startswith("@")), None)
    if target is None and ref is not None:
        target = page.elements.get(ref)
    return step, target


def _sought(finder: str, sought: str, options: Sequence[str]) -> Mapping[str, Any] | None:
    """What was looked for, where nothing else is known of the element."""
    if finder == "role":
        name = next((option.removeprefix("name=") for option in options if option.startswith("name=")), "")
        return {"role": sought, "name": name} if name else None
    return {"role": "textbox", "name": sought} if finder in {"label", "placeholder"} else None


def _looked(step: BrowserStep, taken: _Taken, execution: Execution, page: _Page) -> Look:
    awaited = next((option.removeprefix("text=") for option in step.options if option.startswith("text=")), "")
    by_ref = any(word.startswith("@") for word in step.arguments) or (step.verb == "hover" and not step.arguments[0])
    return Look(
        verb=step.verb,
        text=line_of(step),
        output=taken.output,
        execution_id=execution.id,
        kept=step.verb in _KEPT and not by_ref,
        awaited=awaited,
        address=page.address,
    )


def _act(
    step: BrowserStep, target: Mapping[str, Any] | None, taken: _Taken, execution: Execution, page: _Page
) -> BrowserAct:
    first, *rest = step.arguments or ("",)
    placeless = step.verb in {"open", "press", "eval", "back", "forward", "reload", "close"}
    shown: Any = (target or {}).get("shown")
    return BrowserAct(
        execution_id=execution.id,
        verb=step.verb,
        spot=Spot.of(target),
        selector="" if placeless or first.startswith("@") else first,
        values=tuple(step.arguments) if placeless else tuple(rest),
        before=str((target or {}).get("url_before") or page.address),
        after=_after(step, target, taken),
        shown=tuple(str(one) for one in cast("Sequence[Any]", shown)) if isinstance(shown, list) else (),
        title=taken.output.split("\n", 1)[0] if step.verb == "open" and "\n" in taken.output else "",
        output=taken.output,
        learn=execution.learn,
    )


def _after(step: BrowserStep, target: Mapping[str, Any] | None, taken: _Taken) -> str:
    if target is not None and isinstance(target.get("url_after"), str):
        return str(target["url_after"])
    found = _ADDRESS.findall(taken.output)
    return found[-1] if found else step.arguments[0] if step.verb == "open" else ""
