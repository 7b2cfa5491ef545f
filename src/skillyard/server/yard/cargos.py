"""Cargos: workspaces that outlive sandboxes."""

from typing import Annotated

from fastapi import APIRouter, Query

from skillyard.server.api.shapes import BEARER
from skillyard.server.yard.caller import Caller, Rooms, failures
from skillyard.server.yard.sandbox_schemas import CargoListResponse, CargoResponse, CreateCargoRequest

router = APIRouter(prefix="/v1/cargos", tags=["cargos"], responses=failures(), dependencies=[BEARER])


@router.post("", status_code=201, summary="Create a cargo")
async def create_cargo(rooms: Rooms, caller: Caller, body: CreateCargoRequest | None = None) -> CargoResponse:
    """Make a workspace that sandboxes can be made on; without a body, one of the default size."""
    size = body.size_limit_mb if body else None
    return CargoResponse.of(await rooms.cargos.create(caller, size_limit_mb=size))


@router.get("", summary="List cargos")
async def list_cargos(
    rooms: Rooms,
    caller: Caller,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: Annotated[str | None, Query(max_length=200)] = None,
    managed: Annotated[bool | None, Query(description="Those that were made with a sandbox and go with it.")] = None,
) -> CargoListResponse:
    """Yours, the newest first; without `managed`, those that were made for themselves."""
    page = await rooms.cargos.page(caller, managed=bool(managed), limit=limit, cursor=cursor)
    return CargoListResponse(items=[CargoResponse.of(each) for each in page.cargos], next_cursor=page.next)


@router.get("/{cargo_id}", summary="Read a cargo")
async def get_cargo(cargo_id: str, rooms: Rooms, caller: Caller) -> CargoResponse:
    return CargoResponse.of(await rooms.cargos.get(caller, cargo_id))


@router.delete("/{cargo_id}", status_code=204, summary="Delete a cargo", responses=failures(409))
async def delete_cargo(cargo_id: str, rooms: Rooms, caller: Caller) -> None:
    """Remove it with its files, unless a sandbox uses it."""
    await rooms.cargos.delete(caller, cargo_id)
