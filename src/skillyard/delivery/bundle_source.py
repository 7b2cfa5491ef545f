"""What should be in a place of skills, and who says so: the sources that a delivery is put together from."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeAlias

from skillyard.skill.bundle import Bundle

AGENT_LABEL: Final = "skillyard.agent"
"""The label of a sandbox that names the agent in it, whose skills it is given."""
SKILLS_LABEL: Final = "skillyard.skills"
"""The label that names skills of the registry, such as `team/pdf@stable, notes`."""

LoadBundle: TypeAlias = Callable[[], Awaitable[Bundle]]
"""Fetches the files; asked only for what is not in the place already."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """Where a delivered skill comes from."""

    kind: str
    """The source that wants it: `builtin`, `attached`, `release`…"""
    skill: str = ""
    """The skill as that source names it, which tells it from another skill of the same folder name."""
    version: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.skill}@{self.version}" if self.version else f"{self.kind} {self.skill}".strip()


@dataclass(frozen=True, kw_only=True, slots=True)
class DesiredBundle:
    """A skill that should be in the place, known by its digest before anything of it is read."""

    folder: str
    digest: str
    origin: Origin
    load: LoadBundle
    latest_of: str = ""
    """The id of the skill of the registry that nobody asked for a certain version of: another may be tried instead."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Shortfall:
    """A skill that a source should give and cannot."""

    origin: Origin
    reason: str
    refused: bool = False
    """Whether it is withheld because of its content; people hear of that even if nobody asked for it by name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Desired:
    bundles: tuple[DesiredBundle, ...] = ()
    """The more important ones first: of two that want one folder, the first gets it."""
    shortfalls: tuple[Shortfall, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Receiver:
    """Whose sandbox gets a delivery."""

    owner: str
    sandbox_id: str
    labels: Mapping[str, str] = field(default_factory=dict[str, str])


class BundleSource(Protocol):
    """Something that knows which skills a sandbox should have."""

    @property
    def kind(self) -> str:
        """The kind of all its origins; what has it and is wanted no more is taken away."""
        ...

    async def desired(self, receiver: Receiver) -> Desired:
        """What should be there now. An error leaves there what this source delivered before."""
        ...
