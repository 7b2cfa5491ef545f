"""Guests over HTTP: whose a request is, and which skills and toolsets it asks for."""

import asyncio
import contextlib
from collections import OrderedDict
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs
from weakref import WeakSet, WeakValueDictionary

from anyio import CapacityLimiter
from mcp.server.context import ServerRequestContext
from starlette.datastructures import State

from skillyard.agents.folder_counts import COUNTS_FILE, FolderCounts
from skillyard.agents.folder_uses import FolderUses
from skillyard.agents.library_source import LibrarySource
from skillyard.agents.materialise import Nowhere, OnThisMachine
from skillyard.agents.yard_source import YardSource
from skillyard.db.database import Database
from skillyard.errors import NotAllowedError, UsageError
from skillyard.identity.principals import Principal
from skillyard.remote.client import YardClient
from skillyard.remote.connection import Connection
from skillyard.remote.in_process import OnLoop
from skillyard.server.asgi import Scope, header
from skillyard.server.mcp.guests import Common, Guest
from skillyard.server.mcp.manifests import KeptManifests
from skillyard.server.mcp.threads import MOST_CALLS, aside
from skillyard.server.mcp.wanted import Wanted, wanted_by
from skillyard.server.streams import Streams
from skillyard.skill.limits import MIB

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from skillyard.agents.source import SkillSource

GUEST: Final = "skillyard.guest"
"""The note in a request's scope of the guest that it was admitted as."""
TOOLSETS_HEADER: Final = b"skillyard-toolsets"
REGISTRY: Final = "registry"
LIBRARY: Final = "library"
MOST_GUESTS: Final = 256
"""Clients that are remembered between their requests; the one that asked longest ago is forgotten first."""
KEPT_BYTES: Final = 2 * MIB
"""Of skills that a client reads; the yard is in this process, and there are many clients."""
LOOK_SECONDS: Final = 0.5
SETTLE_SECONDS: Final = 2.0
_CREDENTIALS: Final = frozenset({b"authorization", b"cookie", b"origin", b"sec-fetch-site"})
"""The headers by which the API knows whom a request is from; they are handed on."""
_HERE: Final = "http://127.0.0.1"


class HttpGuests:
    """Makes a guest of what a request says: whose it is, which skills and which toolsets it wants."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._loop = asyncio.get_running_loop()
        self._known: OrderedDict[tuple[object, ...], Guest] = OrderedDict()
        self._all: WeakSet[Guest] = WeakSet()
        self._leaving: set[asyncio.Task[None]] = set()
        self._calls: WeakValueDictionary[str, CapacityLimiter] = WeakValueDictionary()
        self._kept = {REGISTRY: KeptManifests(), LIBRARY: KeptManifests()}
        self._folders: _Folders | None = None

    async def guest_of(self, context: ServerRequestContext[Any, Any]) -> Guest:
        """The guest that the request which carried a message was admitted as."""
        assert context.request is not None  # noqa: S101 -- every message came by one
        return context.request.scope[GUEST]

    def admit(self, scope: Scope, principal: Principal) -> Guest:
        """The guest that a request is from; it is refused if it wants what is not there, or not for its sender."""
        query = parse_qs(scope["query_string"].decode("latin-1"))
        named = query.get("toolsets") or [(header(scope, TOOLSETS_HEADER) or b"").decode("latin-1")]
        wanted = wanted_by(toolsets=",".join(named), budget=query.get("budget", [""])[-1])
        place = query.get("source", [REGISTRY])[-1]
        credentials = tuple((name, value) for name, value in scope["headers"] if name in _CREDENTIALS)
        session = _session_of(scope, principal)
        key = (credentials, session, wanted, place)
        _require_place(place, principal)
        guest = self._known.get(key)
        if guest is None:
            guest = self._known[key] = self._made(place, wanted, credentials, principal, session)
            self._all.add(guest)
            if len(self._known) > MOST_GUESTS:
                # Let go of beside the loop, which counting its last uses needs.
                leaving = asyncio.create_task(aside(self._known.popitem(last=False)[1].settle))
                self._leaving.add(leaving)
                leaving.add_done_callback(self._leaving.discard)
        self._known.move_to_end(key)
        return guest

    def close(self) -> None:
        for guest in self._all:
            guest.news.close()

    async def settle(self) -> None:
        """Wait a moment until the last uses are counted."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SETTLE_SECONDS):
                await asyncio.gather(*self._leaving, *(aside(guest.settle) for guest in self._all))

    def _made(
        self,
        place: str,
        wanted: Wanted,
        credentials: tuple[tuple[bytes, bytes], ...],
        principal: Principal,
        session: str,
    ) -> Guest:
        transport = OnLoop(self._state.inside, self._loop, credentials)
        client = YardClient(Connection(_HERE, transport=transport, in_process=True))
        source: SkillSource
        wait: Callable[[], Awaitable[None]]
        if place == LIBRARY:
            folders = self._folders = self._folders or _Folders(self._state)
            folders.client = client
            source, settle = folders.source, folders.uses.flush
            wait = partial(asyncio.sleep, LOOK_SECONDS)
        else:
            source = YardSource(client, keep=KEPT_BYTES, label="this yard")
            settle = source.close
            wait = _Changes(self._state.streams, self._state.yard.database).wait
        return Guest(
            source,
            wanted,
            yard=lambda: client,
            session=session,
            place=OnThisMachine(self._state.home) if self._state.home else Nowhere(),
            wait=wait,
            settle=settle,
            common=Common(
                kept=self._kept[place],
                calls=self._calls.setdefault(principal.person_id, CapacityLimiter(MOST_CALLS)),
                begin=partial(self._state.streams.begin, principal.person_id),
            ),
        )


class _Folders:
    """The folders of this machine, for all guests: none of those who may read them sees other ones.

    Uses are counted with the rights of whoever came last.
    """

    def __init__(self, state: State) -> None:
        self.client: YardClient | None = None
        counts = FolderCounts(state.home / COUNTS_FILE) if state.home else None
        self.uses = FolderUses(self._client, counts=counts)
        self.source = LibrarySource(
            state.library, search=lambda: state.search, record=self.uses, uses=counts.read if counts else None
        )

    def _client(self) -> YardClient:
        assert self.client is not None  # noqa: S101 -- whoever uses a skill came before
        return self.client


class _Changes:
    """Waits for the next change of a yard, and misses none that comes while it is not waited for."""

    def __init__(self, streams: Streams, database: Database) -> None:
        self._streams = streams
        self._database = database
        self._number = -1

    async def wait(self) -> None:
        await self._streams.news(self._number)
        self._number = await self._database.number()


def _session_of(scope: Scope, principal: Principal) -> str:
    """What uses in one conversation are counted under: the same for as long as it lasts.

    The protocol of today has no sessions: then it is all that comes with one token.
    """
    whose = (principal.token_id or principal.person_id).encode()
    return f"mcp-{sha256(whose + b' ' + (header(scope, b'mcp-session-id') or b'')).hexdigest()[:32]}"


def _require_place(place: str, principal: Principal) -> None:
    if place not in {REGISTRY, LIBRARY}:
        raise UsageError(
            f"There is no source of skills {place[:100]!r}.",
            hint=f"Use {REGISTRY} or {LIBRARY}.",
            details={"field": "source", "value": place[:100]},
        )
    if place == LIBRARY and not principal.operator:
        raise NotAllowedError(
            "Only the operator of this yard may read the folders of its machine.",
            hint=f"Ask for the skills of the registry: /mcp?source={REGISTRY}",
        )
