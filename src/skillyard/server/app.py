"""The HTTP application: what is served, and the shape and safety of every answer."""

from fastapi import FastAPI

import skillyard
from skillyard.app.searching import SkillSearch
from skillyard.server.errors import install_error_handlers
from skillyard.server.guard import LoopbackGuard, SafeHeaders
from skillyard.server.library_api import router
from skillyard.server.models import Health, Success
from skillyard.skill.library import Library

LINKS = {
    "health": "/healthz",
    "openapi": "/openapi.json",
    "skills": "/api/v1/library/skills",
    "search": "/api/v1/library/skills?q=",
}


def create_app(library: Library, *, loopback_only: bool = True) -> FastAPI:
    """The application that serves a library. With `loopback_only`, requests must name this machine."""
    number = skillyard.__version__
    # No pages that would load scripts from another host.
    app = FastAPI(title="Skillyard", version=number, docs_url=None, redoc_url=None)
    app.state.library = library
    app.state.search = SkillSearch(library)
    install_error_handlers(app)
    app.include_router(router)
    app.add_middleware(SafeHeaders)
    if loopback_only:
        app.add_middleware(LoopbackGuard)

    @app.get("/", tags=["about"])
    def index() -> Success[dict[str, str]]:
        """Where to go from here."""
        return Success(data=LINKS)

    @app.head("/healthz", include_in_schema=False)
    @app.get("/healthz", tags=["about"])
    def health() -> Success[Health]:
        """Whether the server answers."""
        return Success(data=Health(version=number))

    return app
