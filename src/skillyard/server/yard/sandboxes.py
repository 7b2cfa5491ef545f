"""Sandboxes: made, listed, kept alive, stopped and deleted."""

from typing import Annotated

from fastapi import APIRouter, Query

from skillyard.sandbox.sandboxes import Status
from skillyard.server.api.shapes import BEARER
from skillyard.server.yard.caller import Caller, Rooms, failures
from skillyard.server.yard.sandbox_schemas import (
    CargoResponse,
    CreateSandboxRequest,
    ExtendTTLRequest,
    SandboxListResponse,
    SandboxResponse,
    StatsResponse,
    StatusResponse,
)

router = APIRouter(prefix="/v1/sandboxes", tags=["sandboxes"], responses=failures(), dependencies=[BEARER])


@router.post("", status_code=201, summary="Create a sandbox", responses=failures(409))
async def create_sandbox(rooms: Rooms, caller: Caller, body: CreateSandboxRequest | None = None) -> SandboxResponse:
    """Make a sandbox; without a body, with the defaults. The first call that needs it starts it."""
    return SandboxResponse.of(await rooms.sandboxes.create(caller, (body or CreateSandboxRequest()).spec))


@router.get("", summary="List sandboxes")
async def list_sandboxes(
    rooms: Rooms,
    caller: Caller,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: Annotated[str | None, Query(max_length=200)] = None,
    status: Status | None = None,
) -> SandboxListResponse:
    """Yours, the newest first."""
    page = await rooms.sandboxes.page(caller, status=status, limit=limit, cursor=cursor)
    return SandboxListResponse(items=[SandboxResponse.of(each) for each in page.sandboxes], next_cursor=page.next)


@router.get("/{sandbox_id}", summary="Read a sandbox")
async def get_sandbox(sandbox_id: str, rooms: Rooms, caller: Caller) -> SandboxResponse:
    return SandboxResponse.of(await rooms.sandboxes.get(caller, sandbox_id))


@router.delete("/{sandbox_id}", status_code=204, summary="Delete a sandbox")
async def delete_sandbox(sandbox_id: str, rooms: Rooms, caller: Caller) -> None:
    """End what runs in it and take it away, with its cargo if that was made with it."""
    await rooms.sandboxes.delete(caller, sandbox_id)


@router.post("/{sandbox_id}/extend_ttl", summary="Move the end of a sandbox", responses=failures(409))
async def extend_ttl(sandbox_id: str, body: ExtendTTLRequest, rooms: Rooms, caller: Caller) -> SandboxResponse:
    """Let it live longer; one that is expired stays so, and one without an end has none to move."""
    return SandboxResponse.of(await rooms.sandboxes.extend(caller, sandbox_id, body.extend_by))


@router.post("/{sandbox_id}/keepalive", summary="Say that a sandbox is still wanted", responses=failures(409))
async def keep_alive(sandbox_id: str, rooms: Rooms, caller: Caller) -> StatusResponse:
    """Let it be idle for its whole time again. Nothing is started, and its end does not move."""
    await rooms.sandboxes.keep_alive(caller, sandbox_id)
    return StatusResponse(status="ok")


@router.post("/{sandbox_id}/stop", summary="Stop a sandbox")
async def stop_sandbox(sandbox_id: str, rooms: Rooms, caller: Caller) -> StatusResponse:
    """End what runs in it; its files stay, and the next call starts it again."""
    await rooms.sandboxes.stop(caller, sandbox_id)
    return StatusResponse(status="stopped")


@router.post("/{sandbox_id}/snapshot", status_code=201, summary="Copy the files of a sandbox", responses=failures(409))
async def snapshot_sandbox(sandbox_id: str, rooms: Rooms, caller: Caller) -> CargoResponse:
    """Make a cargo with the files as they are now."""
    return CargoResponse.of(await rooms.sandboxes.snapshot(caller, sandbox_id))


@router.get("/{sandbox_id}/stats", summary="What a sandbox uses")
async def get_stats(sandbox_id: str, rooms: Rooms, caller: Caller) -> StatsResponse:
    return StatsResponse.of(await rooms.sandboxes.stats(caller, sandbox_id))
