"""The HTTP application: what is served, and everything that a request passes on its way there."""

from collections.abc import Mapping
from functools import partial
from typing import Final

from fastapi import APIRouter, Depends, FastAPI
from fastapi.security import HTTPBearer

import skillyard
from skillyard.app.searching import open_search
from skillyard.app.yard import Yard
from skillyard.config.settings import Settings
from skillyard.db.idempotency import IdempotencyStore
from skillyard.server import discovery, marketplace
from skillyard.server.api import (
    agents,
    catalog,
    changes,
    events,
    files,
    graph,
    history,
    imports,
    namespaces,
    people,
    search,
    similar,
    skills,
    tokens,
    usage,
    versions,
)
from skillyard.server.api.shapes import errors
from skillyard.server.asgi import Receive, Scope, Send
from skillyard.server.auth import Authentication, Doorkeeper, administrators_only, not_kept, operator_only
from skillyard.server.errors import install_error_handlers
from skillyard.server.library_api import router as library_router
from skillyard.server.logs import AccessLog
from skillyard.server.metrics import Metrics
from skillyard.server.models import Success
from skillyard.server.probes import Check, probe_router
from skillyard.server.rate import Rate
from skillyard.server.sign_in.desk import Desk
from skillyard.server.sign_in.oidc_settings import OidcSettings
from skillyard.server.sign_in.origins import SIGN_IN, SIGN_OUT
from skillyard.server.sign_in.routes import router as sign_in_router
from skillyard.server.stack import Surroundings, surround
from skillyard.server.streams import Streams
from skillyard.server.yard import cargos, executions, filesystem, operation, runs, sandboxes, streams
from skillyard.skill.library import Library

ROUTERS: Final[tuple[APIRouter, ...]] = (
    skills.router,  # first: a skill may be called like a route of the others
    files.router,
    imports.router,
    versions.router,
    search.router,
    similar.router,
    catalog.router,
    graph.router,
    agents.router,
    people.router,
    namespaces.router,
    tokens.router,
    history.router,
    changes.router,
    events.router,
    discovery.router,
    marketplace.router,
)
YARD_ROUTERS: Final[tuple[APIRouter, ...]] = (
    sandboxes.router,
    runs.router,
    streams.router,
    filesystem.router,
    executions.router,
    cargos.router,
    operation.router,
)
OPEN_PATHS: Final = (f"{discovery.router.prefix}/", *marketplace.OPEN_PATHS, SIGN_IN, SIGN_OUT)
LINKS: Final = {
    "health": "/healthz",
    "openapi": "/openapi.json",
    "me": "/api/v1/me",
    "skills": "/api/v1/skills",
    "changes": "/api/v1/changes",
    "library": "/api/v1/library/skills",
    "search": "/api/v1/search?q=skill",
    "sandboxes": "/v1/sandboxes",
}
_NO_BLOB: Final = "0" * 64
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
        self.api = make_api({"database": self._read_number, "blobs": lambda: yard.blobs.has(_NO_BLOB)}, metrics)
        self.api.state.yard = yard
        self.api.state.library = library
        self.api.state.search = open_search(settings, library)
        self.api.state.streams = self.streams
        self.api.state.desk = _desk(yard, settings) if person is None else None
        self._app = surround(
            self.api,
            Surroundings(
                local=person is not None,
                number=self._read_number,
                keys=IdempotencyStore(yard.database),
                principal=doorkeeper.principal,
                entrance=partial(Authentication, doorkeeper=doorkeeper),
                metrics=metrics,
                rate=None if person is not None else _rate(settings.rate_limit),
                access_log=access_log,
            ),
        )

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


def make_api(checks: Mapping[str, Check], metrics: Metrics) -> FastAPI:
    """The routes alone; the rest of what they need is in `app.state`."""
    # No pages that would load scripts from another host.
    api = FastAPI(title="Skillyard", version=skillyard.__version__, docs_url=None, redoc_url=None)
    install_error_handlers(api)
    # It checks nothing, which was done before: it tells readers of the contract how to come in.
    bearer = Depends(HTTPBearer(auto_error=False, description="An API token, such as `sky_…`."))
    for router in ROUTERS:
        api.include_router(router, dependencies=[bearer])
    api.include_router(usage.router, dependencies=[bearer, Depends(not_kept)])
    api.include_router(library_router, dependencies=[bearer, Depends(operator_only), Depends(not_kept)])
    api.include_router(probe_router(checks, metrics, metrics_for=[Depends(administrators_only)]))
    api.include_router(sign_in_router)
    for router in YARD_ROUTERS:
        api.include_router(router, dependencies=[bearer])
    api.include_router(operation.health_router)

    @api.get("/", tags=["about"], responses=errors())
    async def index() -> Success[dict[str, str]]:
        """Where to go from here."""
        return Success(data=LINKS)

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
