"""How places are made: each kind of isolation is one backend."""

from collections.abc import Collection
from typing import Protocol

from skillyard.sandbox.capabilities import Capabilities
from skillyard.sandbox.place import Place
from skillyard.sandbox.session import Session


class Backend(Protocol):
    """Makes sandboxes of one kind, and keeps the files of cargos where they can use them."""

    name: str

    async def capabilities(self) -> Capabilities:
        """What it can do here; cheap, and the same until the machine changes. Proof is in `probes`."""
        ...

    async def start(self, place: Place) -> Session:
        """Start a sandbox on its cargo, which is made when it is not there. Raises `UnavailableError` with the fix."""
        ...

    async def home(self) -> str:
        """The id of the place that keeps the files of its cargos."""
        ...

    async def has_cargo(self, cargo_id: str) -> bool:
        """Whether it has files of a cargo."""
        ...

    async def remove_cargo(self, cargo_id: str) -> None:
        """Remove a cargo's files; nothing happens when there are none."""
        ...

    async def copy_cargo(self, source: str, target: str) -> None:
        """Make a new cargo with the files of another: a snapshot."""
        ...

    async def sweep(self, keep: Collection[str]) -> int:
        """End sandboxes that no living server holds and whose ids are not to be kept; answers how many."""
        ...

    async def close(self) -> None:
        """End every sandbox that this process started."""
        ...
