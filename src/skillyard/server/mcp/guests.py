"""Whom a request is answered for: the skills in their sight, the tools they asked for, the news they get."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from anyio import CapacityLimiter
from mcp.server.context import ServerRequestContext

from skillyard.agents.materialise import Place
from skillyard.agents.source import SkillSource
from skillyard.server.mcp.manifests import KeptManifests, Manifests
from skillyard.server.mcp.news import News
from skillyard.server.mcp.threads import MOST_CALLS
from skillyard.server.mcp.toolsets import Toolbox

if TYPE_CHECKING:
    from skillyard.remote.client import YardClient


@dataclass(frozen=True, kw_only=True)
class Common:
    """What a client shares with others, of the same person or of all."""

    kept: KeptManifests = field(default_factory=KeptManifests)
    calls: CapacityLimiter = field(default_factory=partial(CapacityLimiter, MOST_CALLS))
    """How many calls of tools run at once."""
    begin: Callable[[], Callable[[], None]] | None = None
    """Counts one more stream, and answers with what ends the count; refuses when there are too many."""


class Guest:
    """One client, with the rights that its requests have; it has none of its own.

    `place` is where it runs scripts of skills, and `local` a folder of the machine that it works on, where that is
    this one.
    """

    def __init__(
        self,
        source: SkillSource,
        toolsets: tuple[str, ...],
        *,
        yard: "Callable[[], YardClient]",
        session: str,
        place: Place,
        local: Path | None = None,
        wait: Callable[[], Awaitable[None]],
        settle: Callable[[], None] | None = None,
        common: Common | None = None,
    ) -> None:
        common = common or Common()
        self.source = source
        self.place = place
        self.calls = common.calls
        self.session = session
        """The name under which uses of skills in one conversation belong together."""
        self._settle = settle
        self.manifests = Manifests(source, common.kept)
        self.toolbox = Toolbox(source, toolsets, yard=yard, session=session, place=place, local=local)
        self.news = News(source, wait, tools=self.toolbox.follows_skills, begin=common.begin)

    def settle(self) -> None:
        """Wait until the uses of skills are counted."""
        if self._settle is not None:
            self._settle()


class Guests(Protocol):
    """Tells whom a request is from."""

    async def guest_of(self, context: ServerRequestContext[Any, Any]) -> Guest: ...


class OneGuest:
    """Everything that comes over one pipe is from the same client."""

    def __init__(self, guest: Guest) -> None:
        self._guest = guest

    async def guest_of(self, context: ServerRequestContext[Any, Any]) -> Guest:  # noqa: ARG002 -- there is but one
        return self._guest
