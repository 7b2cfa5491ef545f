"""The HTTP application: what is served, and everything that a request passes on its way there."""

from functools import partial
from typing import Final

from skillyard.app.searching import open_search
from skillyard.app.yard import Yard
from skillyard.config.settings import Settings
from skillyard.db.idempotency import IdempotencyStore
from skillyard.server.asgi import Receive, Scope, Send
from skillyard.server.auth import Authentication, Doorkeeper
from skillyard.server.errors import install_error_handlers
from skillyard.server.logs import AccessLog
from skillyard.server.mcp.door import McpDoor
from skillyard.server.metrics import Metrics
from skillyard.server.parts import Parts
from skillyard.server.rate import Rate
from skillyard.server.routing import LazyApi
from skillyard.server.sign_in.desk import Desk
from skillyard.server.sign_in.oidc_settings import OidcSettings
from skillyard.server.sign_in.origins import SIGN_IN, SIGN_OUT
from skillyard.server.soundness import Soundness
from skillyard.server.stack import Surroundings, enclose, within
from skillyard.server.streams import Streams
from skillyard.skill.library import Library

OPEN_PATHS: Final = (
    "/.well-known/agent-skills/",
    "/.claude-plugin/",
    "/marketplace.git/",
    "/marketplace/",
    "/static/",
    "/settings/appearance",  # offered at the door, too
    SIGN_IN,
    SIGN_OUT,
)
"""Where callers without a token are served, too."""
_BURST_SECONDS: Final = 10
"""So much of what a caller may ask in the long run may come at once."""


class Application:
    """The routes over an open yard, with everything around them.

    `person` is who asks without a token: the one at this machine. None serves others, who need one.
    """

    def __init__(
        self,
        yard: Yard,
        library: Library,
        settings: Settings,
        *,
        person: str | None,
        soundness: Soundness | None = None,
        access_log: AccessLog | None = None,
    ) -> None:
        metrics = Metrics()
        metrics.watch_number(lambda: self._number)
        sessions = yard.sessions if person is None else None
        doorkeeper = Doorkeeper(yard.access, person=person, sessions=sessions, open_paths=OPEN_PATHS)
        self._database = yard.database
        self._number = 0
        self._own_ports = yard.sandboxes.backends.own_ports
        self.streams = Streams(yard.database)
        self.api = make_api()
        self.api.state.metrics = metrics
        self.api.state.read_number = self._read_number
        self.api.state.parts = Parts(
            {
                "database": yard.database.require_usable,
                "integrity": (soundness or Soundness()).require,
                "blobs": yard.require_blobs,
            }
        )
        self.api.state.yard = yard
        self.api.state.library = library
        self.api.state.search = open_search(settings, library)
        self.api.state.streams = self.streams
        self.api.state.desk = _desk(yard, settings) if person is None else None
        # Paths of this machine are only of use to whoever is at it.
        self.api.state.home = settings.home if person is not None else None
        self.api.state.mcp = self._mcp = McpDoor()
        around = Surroundings(
            local=person is not None,
            number=self._read_number,
            keys=IdempotencyStore(yard.database),
            principal=doorkeeper.principal,
            entrance=partial(Authentication, doorkeeper=doorkeeper),
            metrics=metrics,
            rate=None if person is not None else _rate(settings.rate_limit),
            access_log=access_log,
        )
        self.api.state.inside = inside = within(self.api, around)
        self._app = enclose(inside, around)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        server = scope.get("server")
        if server and server[1]:
            self._own_ports.add(server[1])
        await self._app(scope, receive, send)

    async def _read_number(self) -> int:
        self._number = await self._database.number()
        return self._number

    def close(self) -> None:
        """End what would go on for ever; called when the server begins to stop."""
        self.streams.close()
        self._mcp.close()

    async def ended(self) -> None:
        """Wait until what was ended is over, while the yard is still open."""
        await self._mcp.ended()


def make_api() -> LazyApi:
    """The routes alone; what they need is in `app.state`."""
    api = LazyApi()
    install_error_handlers(api)
    return api


def _desk(yard: Yard, settings: Settings) -> Desk:
    oidc = OidcSettings.read(settings)
    if oidc is None:
        return Desk(yard.sessions, yard.external_people, None)
    from skillyard.server.sign_in.provider import Provider  # noqa: PLC0415 -- its cryptography is slow to import

    return Desk(yard.sessions, yard.external_people, Provider(oidc))


def _rate(per_minute: int) -> Rate | None:
    if not per_minute:
        return None
    return Rate(per_second=per_minute / 60, burst=max(10, per_minute * _BURST_SECONDS // 60))
