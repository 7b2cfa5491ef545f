"""How well sandboxes are isolated on this machine, in words that people can weigh."""

from dataclasses import dataclass
from enum import StrEnum

from skillyard.app.sandboxes import SandboxRooms
from skillyard.errors import SkillyardError
from skillyard.sandbox.capabilities import Barrier


class Level(StrEnum):
    """What can be said in one word."""

    ISOLATED = "isolated"
    PARTLY = "partly"
    OPEN = "open"
    """Nothing keeps what runs in it from anything."""
    MISSING = "missing"
    """No sandbox can be started so."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Isolation:
    """What a backend keeps apart or bounds here."""

    backend: str
    level: Level
    enforced: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    reason: str = ""
    fix: str = ""


async def isolation_by(rooms: SandboxRooms, backend: str | None = None) -> Isolation:
    """That of a backend by its name, or of the one that a new sandbox would have."""
    try:
        offered = await (await rooms.running.backend(backend)).capabilities()
    except SkillyardError as error:
        return Isolation(backend=backend or "", level=Level.MISSING, reason=error.message, fix=error.hint)
    enforced = [barrier for barrier in Barrier if barrier in offered.enforced]
    level = Level.ISOLATED if offered.trusted else Level.PARTLY if enforced else Level.OPEN
    return Isolation(
        backend=offered.backend,
        level=level,
        enforced=tuple(barrier.value for barrier in enforced),
        missing=tuple(barrier.value for barrier in Barrier if barrier not in offered.enforced),
        reason=offered.reason,
        fix=offered.fix,
    )
