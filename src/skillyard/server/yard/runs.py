"""Running things in sandboxes: python, shell and browser."""

from fastapi import APIRouter

from skillyard.server.api.shapes import BEARER
from skillyard.server.yard.caller import Caller, Rooms, failures
from skillyard.server.yard.run_schemas import (
    BrowserBatchExecRequest,
    BrowserBatchExecResponse,
    BrowserExecRequest,
    BrowserExecResponse,
    BrowserTraceResponse,
    PythonExecRequest,
    PythonExecResponse,
    ShellExecRequest,
    ShellExecResponse,
)

router = APIRouter(
    prefix="/v1/sandboxes/{sandbox_id}", tags=["runs"], responses=failures(409, 502), dependencies=[BEARER]
)


@router.post("/python/exec", summary="Run Python")
async def exec_python(sandbox_id: str, body: PythonExecRequest, rooms: Rooms, caller: Caller) -> PythonExecResponse:
    """Run code in a context that lasts as long as the sandbox runs: what it defines is there for the next call."""
    done = await rooms.runs.python(caller, sandbox_id, body.code, body.wish())
    return PythonExecResponse.of(done, code=body.include_code)


@router.post("/shell/exec", summary="Run a shell command")
async def exec_shell(sandbox_id: str, body: ShellExecRequest, rooms: Rooms, caller: Caller) -> ShellExecResponse:
    """Run a command line in the workspace."""
    done = await rooms.runs.shell(caller, sandbox_id, body.command, body.wish(), cwd=body.cwd, environment=body.env)
    return ShellExecResponse.of(done, code=body.include_code)


@router.post("/browser/exec", summary="Take a step in the browser")
async def exec_browser(sandbox_id: str, body: BrowserExecRequest, rooms: Rooms, caller: Caller) -> BrowserExecResponse:
    """Take one step, such as `open https://example.org`, `snapshot -i` or `click @e2`."""
    wish = body.wish()
    done = await rooms.browsing.step(caller, sandbox_id, body.cmd, wish, trace=body.include_trace)
    return BrowserExecResponse.of(done, trace=body.include_trace)


@router.post("/browser/exec_batch", summary="Take several steps in the browser")
async def exec_browser_batch(
    sandbox_id: str, body: BrowserBatchExecRequest, rooms: Rooms, caller: Caller
) -> BrowserBatchExecResponse:
    """Take steps one after the other, in the time of the whole."""
    done = await rooms.browsing.batch(
        caller,
        sandbox_id,
        body.commands,
        body.wish(),
        stop_on_error=body.stop_on_error,
        trace=body.include_trace,
    )
    return BrowserBatchExecResponse.of(done, total=len(body.commands), trace=body.include_trace)


@router.get("/browser/traces/{trace_ref}", summary="Read what a run of the browser left")
async def get_trace(sandbox_id: str, trace_ref: str, rooms: Rooms, caller: Caller) -> BrowserTraceResponse:
    await rooms.sandboxes.get(caller, sandbox_id)
    return BrowserTraceResponse(trace_ref=trace_ref, trace=await rooms.log.trace(sandbox_id, trace_ref))
