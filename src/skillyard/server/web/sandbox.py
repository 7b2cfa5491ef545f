"""The page of a sandbox: how it is, what it may use, what is in it; and how its life goes on or ends."""

from typing import Annotated, Any, Final

from fastapi import Depends, Response

from skillyard.app.injection_sources import BuiltinSkills
from skillyard.app.yard import Yard
from skillyard.delivery.bundle_source import Origin
from skillyard.delivery.release_source import RELEASE
from skillyard.errors import SkillyardError
from skillyard.identity.people import SYSTEM
from skillyard.identity.principals import Principal, Scope
from skillyard.sandbox.executions import Asked
from skillyard.sandbox.sandboxes import Sandbox, Status
from skillyard.server.api.caller import Caller, TheYard
from skillyard.server.web.forms import Posted
from skillyard.server.web.isolation import isolation_by
from skillyard.server.web.links import skill_path
from skillyard.server.web.page import Page, PageRouter, go_to
from skillyard.server.web.replay_form import number_in
from skillyard.server.web.sandboxes import SANDBOXES, TTLS
from skillyard.server.yard.executions import ExecutionHistoryEntryResponse
from skillyard.server.yard.sandbox_schemas import SandboxResponse, StatsResponse

SANDBOX: Final = "/sandboxes/{sandbox_id}"
_LATEST: Final = 8
_SHOWN: Final = 2_000
"""Characters of what was run that lists show."""
_RUN: Final = {"kind": "shell", "code": "", "seconds": "30"}

router = PageRouter()


async def sandbox_of(sandbox_id: str, yard: TheYard, caller: Caller) -> Sandbox:
    """The sandbox that a path names, if it is the caller's."""
    return await yard.sandboxes.sandboxes.get(caller, sandbox_id)


TheSandbox = Annotated[Sandbox, Depends(sandbox_of)]


@router.page(SANDBOX)
async def overview(sandbox: TheSandbox, yard: TheYard, caller: Caller) -> Page:
    return await sandbox_page(yard, caller, sandbox)


@router.post(f"{SANDBOX}/extend", response_model=None)
async def extend(sandbox: TheSandbox, form: Posted, yard: TheYard, caller: Caller) -> Response:
    """Move its end."""
    try:
        await yard.sandboxes.sandboxes.extend(caller, sandbox.id, number_in(form, "seconds", None) or 0)
    except SkillyardError as error:
        return await sandbox_page(yard, caller, sandbox, problem=error)
    return go_to(sandbox_path(sandbox.id), done="sandbox_extended")


@router.post(f"{SANDBOX}/keep-alive", response_model=None)
async def keep_alive(sandbox: TheSandbox, form: Posted, yard: TheYard, caller: Caller) -> Response:
    """Let it be idle for its whole time again."""
    del form  # only that it is ours matters
    await yard.sandboxes.sandboxes.keep_alive(caller, sandbox.id)
    return go_to(sandbox_path(sandbox.id), done="sandbox_kept")


@router.post(f"{SANDBOX}/stop", response_model=None)
async def stop(sandbox: TheSandbox, form: Posted, yard: TheYard, caller: Caller) -> Response:
    """End what runs; files stay."""
    del form
    await yard.sandboxes.sandboxes.stop(caller, sandbox.id)
    return go_to(sandbox_path(sandbox.id), done="sandbox_stopped")


@router.page(f"{SANDBOX}/delete")
async def ask(sandbox: TheSandbox, yard: TheYard, caller: Caller) -> Page:
    """What goes with it, before it is done."""
    caller.require_scope(Scope.WRITE)
    cargo = await yard.sandboxes.cargos.get(caller, sandbox.cargo_id)
    total = (await yard.sandboxes.log.page(sandbox.id, Asked(limit=1))).total
    return Page(
        "sandboxes/delete.html",
        {
            "sandbox": SandboxResponse.of(sandbox),
            "files_go": cargo.managed_by == sandbox.id,
            "executions_total": total,
        },
    )


@router.post(f"{SANDBOX}/delete", response_model=None)
async def delete(sandbox: TheSandbox, form: Posted, yard: TheYard, caller: Caller) -> Response:
    del form
    await yard.sandboxes.sandboxes.delete(caller, sandbox.id)
    return go_to(SANDBOXES, done="sandbox_deleted")


def sandbox_path(sandbox_id: str, *parts: str) -> str:
    """The page of a sandbox, or one below it."""
    return "/".join([SANDBOXES, sandbox_id, *parts])


def told_execution(entry: ExecutionHistoryEntryResponse) -> dict[str, Any]:
    """An execution in a list: what was run, and how it went."""
    return {
        **entry.model_dump(include={"id", "exec_type", "success", "ending", "exit_code", "tags", "created_at"}),
        "execution_time_ms": entry.execution_time_ms,
        "code": entry.code[:_SHOWN],
    }


async def sandbox_page(
    yard: Yard,
    caller: Principal,
    sandbox: Sandbox,
    *,
    entered: dict[str, str] | None = None,
    problem: SkillyardError | None = None,
) -> Page:
    """Everything about a sandbox; with what was entered and what is wrong with it, where something was refused."""
    rooms = yard.sandboxes
    latest = await rooms.log.page(sandbox.id, Asked(limit=_LATEST))
    return Page(
        "sandboxes/overview.html",
        {
            "sandbox": SandboxResponse.of(sandbox),
            "owner": caller.name,
            "isolation": await isolation_by(rooms, sandbox.backend),
            "uses": await _uses(yard, caller, sandbox),
            "skills": _skills(yard, sandbox),
            "executions": [told_execution(ExecutionHistoryEntryResponse.of(one)) for one in latest.entries],
            "executions_total": latest.total,
        },
        extra={
            "entered": {**_RUN, **(entered or {})},
            "ttls": TTLS,
            "problem": problem.as_public_dict() if problem else None,
        },
        status=problem.http_status if problem else 200,
        address=sandbox_path(sandbox.id),
    )


async def _uses(yard: Yard, caller: Principal, sandbox: Sandbox) -> StatsResponse | None:
    """What it uses now; None where it does not run, or cannot say."""
    if sandbox.status is not Status.READY or yard.sandboxes.running.here(sandbox.id) is None:
        return None
    try:
        return StatsResponse.of(await yard.sandboxes.sandboxes.stats(caller, sandbox.id))
    except SkillyardError:
        return None


def _page_of(folder: str, origin: Origin) -> str:
    """Where a delivered skill can be looked at; empty where it has no page."""
    if origin.kind == BuiltinSkills.kind:
        return skill_path(f"{SYSTEM}/{folder}")
    if origin.kind == RELEASE:
        return f"/releases/{origin.version}"
    return skill_path(origin.skill) if "/" in origin.skill else ""


def _skills(yard: Yard, sandbox: Sandbox) -> list[dict[str, str]]:
    """The skills that were delivered to it, and where each comes from."""
    return [
        {
            "folder": folder,
            "digest": entry.digest,
            "origin": entry.origin.kind,
            "page": _page_of(folder, entry.origin),
            "version": entry.origin.version,
        }
        for folder, entry in sorted(yard.injection.present_in(sandbox.id).items())
    ]
