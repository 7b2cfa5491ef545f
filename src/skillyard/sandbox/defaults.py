"""The operator's settings for all sandboxes."""

from dataclasses import dataclass

from skillyard.sandbox.place import Limits
from skillyard.sandbox.profiles import HIGHEST


@dataclass(frozen=True, kw_only=True)
class SandboxDefaults:
    """The defaults, and the most that can be asked for."""

    ttl: int = 0
    """Seconds; 0 for no end."""
    idle_ttl: int = 1800
    per_person: int = 100
    """Sandboxes that one person may have; 0 for any number."""
    cargos_per_person: int = 100
    """Cargos made without a sandbox that one person may have; 0 for any number."""
    ceilings: Limits = HIGHEST
    private_network: bool = True
    """Whether everyone may list addresses that are not public; the operator always may."""
