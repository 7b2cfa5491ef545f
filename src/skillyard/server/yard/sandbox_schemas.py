"""The JSON of sandboxes, cargos and profiles."""

from datetime import datetime
from typing import Any, Self

from pydantic import BaseModel, Field

from skillyard.sandbox.capabilities import Ability
from skillyard.sandbox.cargo_ledger import Cargo
from skillyard.sandbox.network import NONE, parse_network
from skillyard.sandbox.place import MIB
from skillyard.sandbox.profiles import DEFAULT_PROFILE, MAX_SIZE_MB, Profile
from skillyard.sandbox.sandboxes import MAX_SECONDS, Sandbox, SandboxSpec, Status, stored_limits
from skillyard.sandbox.session import Stats
from skillyard.server.yard.caller import Body


class CreateSandboxRequest(Body):
    profile: str = Field(default=DEFAULT_PROFILE, max_length=64)
    cargo_id: str | None = Field(default=None, max_length=64, description="A cargo of yours; without it, a new one.")
    ttl: int | None = Field(default=None, ge=0, le=MAX_SECONDS, description="Seconds that it lives; 0 sets no end.")
    idle_ttl: int | None = Field(
        default=None, ge=0, le=MAX_SECONDS, description="Idle seconds after which what runs in it is ended; 0: never."
    )
    network: Any = Field(
        default="none",
        description='`"none"`, or `{"allow": [...]}` with the endpoints that it may reach.',
        examples=["none", {"allow": ["http://127.0.0.1:8080"]}],
    )
    limits: dict[str, int] = Field(
        default_factory=dict[str, int],
        description="Limits that are to be other than the profile's.",
        examples=[{"memory_bytes": 256 * MIB}],
    )
    labels: dict[str, str] = Field(default_factory=dict[str, str], description="Names and values of your own.")
    isolation: str | list[str] | None = Field(
        default=None,
        description="A backend by its name, or what must be enforced, else nothing is made.",
        examples=[["files", "network", "memory_total"], "docker"],
    )

    @property
    def spec(self) -> SandboxSpec:
        return SandboxSpec(
            profile=self.profile,
            cargo_id=self.cargo_id,
            ttl=self.ttl,
            idle_ttl=self.idle_ttl,
            network=NONE if self.network is None else parse_network(self.network),
            limits=self.limits,
            labels=self.labels,
            isolation=self.isolation,
        )


class ExtendTTLRequest(Body):
    extend_by: int = Field(ge=1, le=MAX_SECONDS, description="Seconds.")


class ContainerRuntimeResponse(BaseModel):
    name: str
    runtime_type: str
    status: str
    version: str | None = None
    capabilities: list[str]
    healthy: bool | None = None


class SandboxResponse(BaseModel):
    id: str
    status: Status
    profile: str
    cargo_id: str
    capabilities: list[str]
    created_at: datetime
    expires_at: datetime | None
    idle_expires_at: datetime | None
    containers: list[ContainerRuntimeResponse] | None = None
    backend: str
    isolation: list[str] = Field(description="What was asked to be enforced.")
    network: str | dict[str, list[str]]
    limits: dict[str, int]
    labels: dict[str, str]
    idle_ttl: int
    session_id: str | None = Field(description="Its present life; a new one with each start.")
    error: str | None = Field(description="Why it could not be started.")
    skills_injected_at: datetime | None
    injection_error: str | None

    @classmethod
    def of(cls, sandbox: Sandbox) -> Self:
        runs = sandbox.status in {Status.STARTING, Status.READY}
        place = ContainerRuntimeResponse(
            name=sandbox.id,
            runtime_type=sandbox.backend,
            status="running" if sandbox.status is Status.READY else sandbox.status.value,
            capabilities=list(sandbox.capabilities),
            healthy=sandbox.status is Status.READY or None,
        )
        return cls(
            id=sandbox.id,
            status=sandbox.status,
            profile=sandbox.profile,
            cargo_id=sandbox.cargo_id,
            capabilities=list(sandbox.capabilities),
            created_at=sandbox.created_at,
            expires_at=sandbox.expires_at,
            idle_expires_at=sandbox.idle_expires_at,
            containers=[place] if runs else None,
            backend=sandbox.backend,
            isolation=list(sandbox.isolation),
            network={"allow": list(sandbox.network)} if sandbox.network else "none",
            limits=stored_limits(sandbox.limits),
            labels=dict(sandbox.labels),
            idle_ttl=sandbox.idle_ttl,
            session_id=sandbox.session_id,
            error=sandbox.error,
            skills_injected_at=sandbox.skills_injected_at,
            injection_error=sandbox.hook_error,
        )


class SandboxListResponse(BaseModel):
    items: list[SandboxResponse]
    next_cursor: str | None = None


class StatusResponse(BaseModel):
    status: str


class StatsResponse(BaseModel):
    """What a sandbox uses now."""

    processes: int
    memory_bytes: int
    disk_bytes: int
    cpu_seconds: float

    @classmethod
    def of(cls, stats: Stats) -> Self:
        return cls(
            processes=stats.processes,
            memory_bytes=stats.memory_bytes,
            disk_bytes=stats.disk_bytes,
            cpu_seconds=stats.cpu_seconds,
        )


class CreateCargoRequest(Body):
    size_limit_mb: int | None = Field(default=None, ge=1, le=MAX_SIZE_MB)


class CargoResponse(BaseModel):
    id: str
    managed: bool
    managed_by_sandbox_id: str | None
    backend: str
    size_limit_mb: int
    created_at: datetime
    last_accessed_at: datetime

    @classmethod
    def of(cls, cargo: Cargo) -> Self:
        return cls(
            id=cargo.id,
            managed=cargo.managed_by is not None,
            managed_by_sandbox_id=cargo.managed_by,
            backend=cargo.backend,
            size_limit_mb=cargo.size_limit_mb,
            created_at=cargo.created_at,
            last_accessed_at=cargo.accessed_at,
        )


class CargoListResponse(BaseModel):
    items: list[CargoResponse]
    next_cursor: str | None = None


class ResourceSpecResponse(BaseModel):
    cpus: float
    memory: str


class ContainerInfoResponse(BaseModel):
    name: str
    runtime_type: str
    capabilities: list[str]
    resources: ResourceSpecResponse


class ProfileResponse(BaseModel):
    id: str
    image: str
    resources: ResourceSpecResponse
    capabilities: list[str]
    idle_timeout: int
    description: str | None = None
    containers: list[ContainerInfoResponse] | None = None

    @classmethod
    def of(cls, profile: Profile, *, image: str, idle_timeout: int, detail: bool) -> Self:
        resources = ResourceSpecResponse(cpus=profile.cpus, memory=profile.memory)
        capabilities = [ability.value for ability in profile.abilities]
        part = ContainerInfoResponse(
            name=profile.id,
            runtime_type="browser" if Ability.BROWSER in profile.abilities else "python",
            capabilities=capabilities,
            resources=resources,
        )
        return cls(
            id=profile.id,
            image=image,
            resources=resources,
            capabilities=capabilities,
            idle_timeout=idle_timeout,
            description=profile.description if detail else None,
            containers=[part] if detail else None,
        )


class ProfileListResponse(BaseModel):
    items: list[ProfileResponse]
