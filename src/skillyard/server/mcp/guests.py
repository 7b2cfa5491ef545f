"""Whom a request is answered for: the skills in their sight, the tools they asked for, the news they get."""

import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from anyio import CapacityLimiter
from mcp.server.context import ServerRequestContext

from skillyard.agents.materialise import Place
from skillyard.agents.source import SkillSource
from skillyard.agents.toolsets.names import SKILLS
from skillyard.server.mcp.manifests import KeptManifests, Manifests
from skillyard.server.mcp.news import News
from skillyard.server.mcp.threads import MOST_CALLS
from skillyard.server.mcp.toolsets import Toolbox
from skillyard.server.mcp.wanted import Wanted

if TYPE_CHECKING:
    from mcp_types import ListToolsResult

    from skillyard.remote.client import YardClient


MOST_AGENTS: Final = 16
"""Programs of one guest whose tools are kept: whoever names itself anew with every request fills no memory."""


@dataclass(frozen=True, kw_only=True)
class Common:
    """What a client shares with others, of the same person or of all."""

    kept: KeptManifests = field(default_factory=KeptManifests)
    calls: CapacityLimiter = field(default_factory=partial(CapacityLimiter, MOST_CALLS))
    """How many calls of tools run at once."""
    begin: Callable[[], Callable[[], None]] | None = None
    """Counts one more stream, and answers with what ends the count; refuses when there are too many."""
    listed: "Callable[[ListToolsResult], None]" = lambda _tools: None
    """Receives the tools that the client knows."""


class Guest:
    """One client, with the rights that its requests have; it has none of its own.

    `place` is where it runs scripts of skills, and `local` a folder of the machine that it works on, where that is
    this one.
    """

    def __init__(
        self,
        source: SkillSource,
        wanted: Wanted,
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
        self.listed = common.listed
        self.source = source
        self.toolsets = wanted.toolsets
        self.place = place
        self.calls = common.calls
        self.session = session
        """The name under which uses of skills in one conversation belong together."""
        self._settle = settle
        self.manifests = Manifests(source, common.kept)
        self._new_toolbox = partial(
            Toolbox, source, wanted, yard=yard, session=session, place=place, local=local, settle=settle
        )
        self._toolboxes: OrderedDict[str, Toolbox] = OrderedDict()
        self._lock = threading.Lock()
        self.news = News(source, wait, tools=SKILLS in wanted.toolsets, begin=common.begin)

    def toolbox(self, agent: str = "") -> Toolbox:
        """The tools for a program of that name: what they use is counted for it."""
        with self._lock:
            toolbox = self._toolboxes.get(agent)
            if toolbox is None:
                toolbox = self._toolboxes[agent] = self._new_toolbox(agent=agent)
            self._toolboxes.move_to_end(agent)
            if len(self._toolboxes) > MOST_AGENTS:
                self._toolboxes.popitem(last=False)
            return toolbox

    def settle(self) -> None:
        """Wait until the uses of skills are counted."""
        if self._settle is not None:
            self._settle()


@dataclass(frozen=True, kw_only=True, slots=True)
class Visit:
    """One request of a guest, and the program that sent it, by the name that it gives itself."""

    guest: Guest
    agent: str

    @property
    def toolbox(self) -> Toolbox:
        return self.guest.toolbox(self.agent)


class Guests(Protocol):
    """Tells whom a request is from."""

    async def guest_of(self, context: ServerRequestContext[Any, Any]) -> Guest: ...


class OneGuest:
    """Everything that comes over one pipe is from the same client."""

    def __init__(self, guest: Guest) -> None:
        self._guest = guest

    async def guest_of(self, context: ServerRequestContext[Any, Any]) -> Guest:  # noqa: ARG002 -- there is but one
        return self._guest
