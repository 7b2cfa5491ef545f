"""Sandboxes as values: what is asked for, and what is known of one."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from skillyard.errors import CapabilityError, InputError, NotFoundError, SandboxExpiredError
from skillyard.sandbox.capabilities import Ability, Barrier
from skillyard.sandbox.models import SandboxRow
from skillyard.sandbox.network import NONE, NetworkPolicy
from skillyard.sandbox.place import LABEL_LENGTH, Limits
from skillyard.sandbox.profiles import DEFAULT_PROFILE, PROFILES

MAX_SECONDS: Final = 10 * 365 * 24 * 3600
"""Of a TTL."""
_MAX_LABELS: Final = 64


class State(StrEnum):
    """What a sandbox was last known to do; whether it still does is a question of who holds it."""

    IDLE = "idle"
    STARTING = "starting"
    READY = "ready"
    STOPPING = "stopping"
    """Told to stop, while another process holds it."""
    FAILED = "failed"


class Status(StrEnum):
    """What people are told of a sandbox."""

    IDLE = "idle"
    """Nothing runs; the next call starts it."""
    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"
    """The last start failed; the next call tries again."""
    EXPIRED = "expired"


@dataclass(frozen=True, kw_only=True)
class SandboxSpec:
    """A sandbox that someone asks for."""

    profile: str = DEFAULT_PROFILE
    cargo_id: str | None = None
    """None: a new cargo, which goes with the sandbox."""
    ttl: int | None = None
    """Seconds; 0 for one without an end, None for what the yard has set."""
    idle_ttl: int | None = None
    network: NetworkPolicy = NONE
    limits: Mapping[str, int] = field(default_factory=dict[str, int])
    """Those that are to be other than the profile's."""
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    isolation: str | Sequence[str] | None = None
    """The backend, by its name, or the barriers that must be enforced."""

    def __post_init__(self) -> None:
        for name, seconds in (("ttl", self.ttl), ("idle_ttl", self.idle_ttl)):
            if seconds is not None and not 0 <= seconds <= MAX_SECONDS:
                raise InputError(
                    f"{name} cannot be {seconds} seconds.",
                    hint=f"Use 1 to {MAX_SECONDS}, or 0 for no end.",
                    details={"field": name, "value": seconds, "limit": MAX_SECONDS},
                )
        lengths = [len(text) for label in self.labels.items() for text in label]
        if len(self.labels) > _MAX_LABELS or max(lengths, default=0) > LABEL_LENGTH:
            raise InputError(
                f"There can be {_MAX_LABELS} labels, of {LABEL_LENGTH} characters each.",
                hint="Use fewer or shorter ones.",
                details={"field": "labels", "limit": _MAX_LABELS},
            )

    @property
    def backend(self) -> str | None:
        return self.isolation if isinstance(self.isolation, str) else None

    @property
    def barriers(self) -> tuple[Barrier, ...]:
        if self.isolation is None or isinstance(self.isolation, str):
            return ()
        return barriers_named(self.isolation)


@dataclass(frozen=True, kw_only=True)
class Sandbox:
    """What is known of a sandbox."""

    id: str
    tenant_id: str
    owner_id: str
    status: Status
    profile: str
    cargo_id: str
    backend: str
    capabilities: tuple[str, ...]
    isolation: tuple[str, ...]
    network: tuple[str, ...]
    """The endpoints that it may reach."""
    limits: Limits
    labels: Mapping[str, str]
    created_at: datetime
    expires_at: datetime | None
    idle_ttl: int
    idle_expires_at: datetime | None
    active_at: datetime
    session_id: str | None
    error: str | None
    skills_injected_at: datetime | None
    hook_error: str | None

    def require(self, ability: Ability) -> None:
        if ability.value not in self.capabilities:
            profile = PROFILES.get(self.profile)
            lacks = profile is None or ability not in profile.abilities
            raise CapabilityError(
                f"The sandbox {self.id} cannot do {ability.value!r}: "
                f"not with the profile {self.profile!r} on the backend {self.backend!r}.",
                hint="Make one that can: skillyard sandbox create --profile browser-python"
                if lacks
                else "See what this machine lacks for it: skillyard doctor",
                details={"capability": ability.value, "available": list(self.capabilities)},
            )

    def require_unexpired(self) -> None:
        if self.status is Status.EXPIRED:
            raise expired(self.id, self.expires_at)


def sandbox_of(row: SandboxRow, *, now: datetime, dead: Collection[str]) -> Sandbox:
    """A row as a value; `dead` are the processes that are known to hold nothing any more."""
    return Sandbox(
        id=row.id,
        tenant_id=row.tenant_id,
        owner_id=row.owner_id,
        status=status_of(row, now=now, dead=dead),
        profile=row.profile,
        cargo_id=row.cargo_id,
        backend=row.backend,
        capabilities=tuple(row.capabilities),
        isolation=tuple(row.isolation),
        network=tuple(row.network),
        limits=Limits(**row.limits),
        labels=dict(row.labels),
        created_at=row.created_at,
        expires_at=row.expires_at,
        idle_ttl=row.idle_ttl,
        idle_expires_at=row.idle_expires_at if row.holder and row.holder not in dead else None,
        active_at=row.active_at,
        session_id=row.session_id,
        error=row.error,
        skills_injected_at=row.skills_injected_at,
        hook_error=row.hook_error,
    )


def status_of(row: SandboxRow, *, now: datetime, dead: Collection[str]) -> Status:
    if row.expires_at is not None and row.expires_at <= now:
        return Status.EXPIRED
    if row.state == State.FAILED:
        return Status.FAILED
    if row.holder is None or row.holder in dead or row.state not in {State.STARTING, State.READY}:
        return Status.IDLE
    return Status(row.state)


def stored_limits(limits: Limits) -> dict[str, int]:
    return asdict(limits)


def barriers_named(names: Sequence[str]) -> tuple[Barrier, ...]:
    known = [barrier.value for barrier in Barrier]
    for name in names:
        if name not in known:
            raise InputError(
                f"{name!r} is nothing that a sandbox keeps apart or bounds.",
                hint=f"Use some of: {', '.join(known)}.",
                details={"field": "isolation", "value": name, "known": known},
            )
    return tuple(Barrier(name) for name in names)


def no_sandbox(sandbox_id: str) -> NotFoundError:
    return NotFoundError(
        f"There is no sandbox {sandbox_id!r}, or it is not yours.",
        hint="See which there are: skillyard sandbox ls",
        details={"sandbox_id": sandbox_id},
    )


def expired(sandbox_id: str, at: datetime | None) -> SandboxExpiredError:
    moment = at.isoformat() if at else None
    return SandboxExpiredError(
        f"The time of the sandbox {sandbox_id} was over at {moment}.",
        hint="Make a new one: skillyard sandbox create",
        details={"sandbox_id": sandbox_id, "expires_at": moment},
    )
