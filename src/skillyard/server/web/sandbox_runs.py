"""What is run in a sandbox, from its page or by anyone: each run with its output, for good."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final
from urllib.parse import urlencode

from fastapi import Query, Response

from skillyard.app.yard import Yard
from skillyard.errors import InputError, NotFoundError, SkillyardError
from skillyard.identity.principals import Principal, Scope
from skillyard.sandbox.browser_steps import parse_step
from skillyard.sandbox.executions import Asked, ExecType, Execution, Said
from skillyard.sandbox.runs import Wish
from skillyard.sandbox.sandboxes import Sandbox, Status
from skillyard.server.api.caller import Caller, TheYard
from skillyard.server.web.choices import one_of
from skillyard.server.web.forms import Form, Posted
from skillyard.server.web.page import Page, PageRouter, go_to
from skillyard.server.web.replay_form import number_in
from skillyard.server.web.sandbox import SANDBOX, TheSandbox, sandbox_page, sandbox_path, told_execution
from skillyard.server.yard.executions import ExecutionHistoryEntryResponse
from skillyard.server.yard.sandbox_schemas import SandboxResponse

_PER_PAGE: Final = 50
_SECONDS: Final = 30
_ENTERED: Final = ("kind", "code", "seconds")
_BROWSER: Final = frozenset({ExecType.BROWSER, ExecType.BROWSER_BATCH})
_EXECUTION: Final = f"{SANDBOX}/executions/{{execution_id}}"

router = PageRouter()


@router.post(f"{SANDBOX}/run", response_model=None)
async def run(sandbox: TheSandbox, form: Posted, yard: TheYard, caller: Caller) -> Response:
    """Run what was entered; the answer is the page of its record. Who looks on sees the output before."""
    try:
        execution = await _run(yard, caller, sandbox, form)
    except SkillyardError as error:
        entered = {name: form.text(name) for name in _ENTERED}
        return await sandbox_page(yard, caller, sandbox, entered=entered, problem=error)
    return go_to(sandbox_path(sandbox.id, "executions", execution.id))


async def _run(yard: Yard, caller: Principal, sandbox: Sandbox, form: Form) -> Execution:
    form.required("code")
    code = form.text("code")
    wish = Wish(seconds=number_in(form, "seconds", _SECONDS) or _SECONDS, learn=form.is_set("learn"))
    if form.text("kind") == ExecType.PYTHON:
        return (await yard.sandboxes.runs.python(caller, sandbox.id, code, wish)).execution
    return (await yard.sandboxes.runs.shell(caller, sandbox.id, code, wish)).execution


@router.page(f"{SANDBOX}/executions")
async def executions(
    sandbox: TheSandbox,
    yard: TheYard,
    kind: Annotated[str, Query(max_length=16)] = "",
    tags: Annotated[str, Query(max_length=200)] = "",
    offset: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
    *,
    success: bool = False,
) -> Page:
    """All that was run, the newest first."""
    wanted = [tag.strip() for tag in tags.split(",") if tag.strip()]
    asked = Asked(exec_type=one_of(ExecType, kind), success_only=success, tags=wanted, limit=_PER_PAGE, offset=offset)
    page = await yard.sandboxes.log.page(sandbox.id, asked)
    chosen = {"kind": kind, "tags": tags, "success": success}
    given = {name: value for name, value in chosen.items() if value}
    following = offset + len(page.entries)
    return Page(
        "sandboxes/executions.html",
        {
            "sandbox": SandboxResponse.of(sandbox),
            "chosen": chosen,
            "executions": [told_execution(ExecutionHistoryEntryResponse.of(one)) for one in page.entries],
            "total": page.total,
            "offset": offset,
        },
        extra={
            "kinds": list(ExecType),
            "following": urlencode({**given, "offset": following}) if following < page.total else "",
        },
    )


@router.page(_EXECUTION)
async def execution(sandbox: TheSandbox, execution_id: str, yard: TheYard, caller: Caller) -> Page:
    """One run: what it was, what came of it, and what people say of it."""
    found = await yard.sandboxes.log.get(sandbox.id, execution_id)
    trace = await _trace(yard, found)
    steps: Sequence[Mapping[str, Any]] = trace.get("steps", []) if found.exec_type in _BROWSER else []
    return Page(
        "sandboxes/execution.html",
        {
            "sandbox": SandboxResponse.of(sandbox),
            "execution": ExecutionHistoryEntryResponse.of(found),
            "steps": steps,
            "cwd": trace.get("cwd", "."),
        },
        extra={"pictures": await _pictures(yard, caller, sandbox, steps)},
    )


@router.post(f"{_EXECUTION}/remark", response_model=None)
async def remark(sandbox: TheSandbox, execution_id: str, form: Posted, yard: TheYard, caller: Caller) -> Response:
    """Say something beside it; the record itself stays."""
    caller.require_scope(Scope.WRITE)
    said = Said(description=form.text("description"), tags=form.text("tags"), notes=form.text("notes"))
    await yard.sandboxes.log.annotate(sandbox.id, execution_id, said)
    return go_to(sandbox_path(sandbox.id, "executions", execution_id), done="saved")


async def _trace(yard: Yard, found: Execution) -> dict[str, Any]:
    if found.trace_ref is None:
        return {}
    try:
        return await yard.sandboxes.log.trace(found.sandbox_id, found.trace_ref)
    except NotFoundError:
        return {}


async def _pictures(
    yard: Yard, caller: Principal, sandbox: Sandbox, steps: Sequence[Mapping[str, Any]]
) -> dict[int, str]:
    """The pictures that steps saved and that are still in the workspace; nothing is started to look for them."""
    saved = {index: path for index, step in enumerate(steps) if (path := _saved_by(str(step.get("cmd", ""))))}
    if not saved or sandbox.status is not Status.READY:
        return {}
    there: set[str] = set()
    for folder in {path.rpartition("/")[0] or "." for path in saved.values()}:
        try:
            there |= {entry.path for entry in await yard.sandboxes.workspace.list(caller, sandbox.id, folder)}
        except SkillyardError:
            continue
    return {index: path for index, path in saved.items() if path in there}


def _saved_by(command: str) -> str:
    """Where a step saved a picture of the page; empty where it did not."""
    try:
        step = parse_step(command)
    except InputError:
        return ""
    return step.arguments[0].removeprefix("./") if step.verb == "screenshot" and step.arguments else ""
