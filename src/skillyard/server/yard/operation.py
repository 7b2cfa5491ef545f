"""What the operator of the control plane asks: its profiles, its sweep, and whether it lives."""

from typing import Annotated, Self

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from skillyard.sandbox.profiles import PROFILES
from skillyard.sandbox.sweep import SWEEP_SECONDS, Sweeping, Swept
from skillyard.server.api.shapes import BEARER
from skillyard.server.yard.caller import Body, Caller, Rooms, failures
from skillyard.server.yard.sandbox_schemas import ProfileListResponse, ProfileResponse, StatusResponse

router = APIRouter(prefix="/v1", tags=["operation"], responses=failures(), dependencies=[BEARER])
health_router = APIRouter(tags=["about"])


class GCRunRequest(Body):
    tasks: list[str] | None = Field(
        default=None, max_length=20, description="Only these; without it, all. Unknown ones are ignored."
    )


class GCTaskResult(BaseModel):
    task_name: str
    cleaned_count: int
    skipped_count: int
    errors: list[str]

    @classmethod
    def of(cls, swept: Swept) -> Self:
        return cls(
            task_name=swept.task,
            cleaned_count=swept.cleaned,
            skipped_count=swept.skipped,
            errors=list(swept.errors),
        )


class GCRunResponse(BaseModel):
    results: list[GCTaskResult]
    total_cleaned: int
    total_errors: int
    duration_ms: int

    @classmethod
    def of(cls, sweeping: Sweeping) -> Self:
        return cls(
            results=[GCTaskResult.of(task) for task in sweeping.tasks],
            total_cleaned=sum(task.cleaned for task in sweeping.tasks),
            total_errors=sum(len(task.errors) for task in sweeping.tasks),
            duration_ms=sweeping.milliseconds,
        )


class GCStatusResponse(BaseModel):
    enabled: bool
    is_running: bool
    instance_id: str
    interval_seconds: int
    tasks: dict[str, dict[str, bool]]


@router.get("/profiles", summary="List profiles")
async def list_profiles(
    rooms: Rooms, detail: Annotated[bool, Query(description="Also what each is for.")] = False
) -> ProfileListResponse:
    """The kinds of sandboxes that can be made."""
    idle = rooms.sandboxes.defaults.idle_ttl
    items = [
        ProfileResponse.of(profile, image=rooms.image, idle_timeout=idle, detail=detail)
        for profile in PROFILES.values()
    ]
    return ProfileListResponse(items=items)


@router.post("/admin/gc/run", summary="Sweep now")
async def run_sweep(rooms: Rooms, caller: Caller, body: GCRunRequest | None = None) -> GCRunResponse:
    """Take away what is over, and wait for that; for administrators."""
    caller.require_admin()
    wanted = body.tasks if body else None
    tasks = None if wanted is None else [task for task in rooms.sweep.tasks if task in wanted]
    return GCRunResponse.of(await rooms.sweep.run(tasks))


@router.get("/admin/gc/status", summary="How the sweep goes")
async def get_sweep_status(rooms: Rooms, caller: Caller) -> GCStatusResponse:
    """What is swept and how often; for administrators."""
    caller.require_admin()
    return GCStatusResponse(
        enabled=True,
        is_running=rooms.sweep.is_running,
        instance_id=rooms.host_id,
        interval_seconds=int(SWEEP_SECONDS),
        tasks={task: {"enabled": True} for task in rooms.sweep.tasks},
    )


@health_router.get("/health", summary="Whether the server answers")
async def health() -> StatusResponse:
    return StatusResponse(status="ok")
