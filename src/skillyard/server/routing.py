"""The routes, in groups that are imported when a path of theirs is first asked for: a command needs one or two."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from fastapi import APIRouter, FastAPI

import skillyard
from skillyard.server.asgi import Receive, Scope, Send
from skillyard.server.sign_in.origins import SIGN_IN, SIGN_OUT

_API: Final = "/api/v1"
_SKILL: Final = f"{_API}/skills/[^/]+"
_SANDBOX: Final = "/v1/sandboxes/[^/]+"


@dataclass(frozen=True, kw_only=True)
class RouteGroup:
    """A router, and how the paths of its routes begin; others may begin like that, too."""

    module: str
    name: str
    paths: re.Pattern[str]

    def claims(self, path: str) -> bool:
        return self.paths.match(path) is not None

    def router(self) -> APIRouter:
        return getattr(import_module(self.module), self.name)


def _group(module: str, *paths: str, name: str = "router") -> RouteGroup:
    return RouteGroup(module=f"skillyard.server.{module}", name=name, paths=re.compile("|".join(paths)))


GROUPS: Final = (
    _group("api.skills", f"{_API}/skills"),  # first: a skill may be called like a route of the others
    _group("api.files", f"{_SKILL}/files", f"{_API}/skills/files"),
    _group("api.imports", f"{_API}/skills/import", f"{_SKILL}/export"),
    _group("api.versions", f"{_SKILL}/(versions|tags|diff)"),
    _group("api.search", f"{_API}/search"),
    _group("api.similar", f"{_SKILL}/similar"),
    _group("api.catalog", f"{_API}/catalog"),
    _group("api.graph", f"{_API}/graph", f"{_SKILL}/(references|dependencies)"),
    _group("api.agents", f"{_API}/(agents|tenant/skills)"),
    _group("api.people", f"{_API}/(me|people|tenants|tenant/policy)"),
    _group("api.namespaces", f"{_API}/namespaces"),
    _group("api.tokens", f"{_API}/tokens"),
    _group("api.history", f"{_API}/(history|audit)"),
    _group("api.changes", f"{_API}/changes"),
    _group("api.events", f"{_API}/events"),
    _group("discovery", "/.well-known/agent-skills"),
    _group("marketplace", "/marketplace", "/.claude-plugin"),
    _group("api.usage", f"{_API}/usage", f"{_SKILL}/usage"),
    _group("api.outcomes", f"{_API}/outcomes"),
    _group("api.feedback_taking", f"{_API}/feedback/(take$|[^/]+/)", f"{_API}/lessons/[^/]+/tools"),
    _group("api.feedback", f"{_API}/feedback($|/)", f"{_API}/lessons"),
    _group("api.feedback_sources", f"{_API}/feedback-sources"),
    _group("api.proposals", f"{_API}/proposals"),
    _group("api.memories", f"{_API}/memories"),
    _group("api.rules", f"{_API}/rules"),
    _group("library_api", f"{_API}/library"),
    _group("sign_in.routes", SIGN_IN, SIGN_OUT),
    _group("yard.sandboxes", "/v1/sandboxes"),
    _group("yard.runs", f"{_SANDBOX}/(python|shell|browser)"),
    _group("yard.streams", f"{_SANDBOX}/(python|shell)"),
    _group("yard.filesystem", f"{_SANDBOX}/filesystem"),
    _group("yard.executions", f"{_SANDBOX}/history"),
    _group("yard.sandbox_skills", f"{_SANDBOX}/skills"),
    _group("yard.cargos", "/v1/cargos"),
    _group("yard.skills_payloads", "/v1/skills/payloads"),
    _group("yard.skills_candidates", "/v1/skills/candidates"),
    _group("yard.skills_releases", "/v1/skills/releases"),
    _group("yard.skills_insights", "/v1/skills/(search|insights|gaps|retirements|executions)$"),
    _group("yard.skills_imports", "/v1/skills/executions/import"),
    _group("yard.skills_work", "/v1/skills/(mine|evaluations|benchmarks|candidates/[^/]+/replay)"),
    _group("yard.skills_runs", "/v1/skills/runs", "/v1/skills/.+/(run|kill)", f"{_SANDBOX}/browser/skills"),
    _group("yard.operation", "/v1/(profiles|admin)"),
    _group("yard.operation", "/health", name="health_router"),
    _group("mcp.routes", "/mcp/?$"),
    _group("probes", "/(healthz|readyz|metrics)"),
    _group("index", "/$"),
    _group("web.home", "/home", "/palette"),
    _group("web.set_up", "/set-up"),
    _group("web.static_files", "/static/"),
    _group("web.appearance", "/settings/appearance"),
    _group("web.settings_system", "/settings/(system|doctor)"),
    _group("web.settings_people", "/settings/(namespaces|agents)"),
    _group("web.settings", "/settings"),
    _group("web.history", "/history"),
    _group("web.reviews", "/reviews"),
    _group("web.graph", "/graph"),
    _group("web.releases", "/releases(/candidates|/all)?(.json)?$"),
    _group("web.release_insights", "/releases/(insights|gaps|mine|benchmarks)"),
    _group("web.candidate", "/releases/candidates/."),
    _group("web.evaluation", "/releases/(candidates/[^/]+/(evaluate|verdict)|evaluations)"),
    _group("web.release_runs", "/releases/(runs/|[^/]+/run)"),
    _group("web.release", "/releases/[^/]+(/diff)?(.json)?$"),
    _group("web.release_change", "/releases/[^/]+/."),
    _group("web.sandbox_live", "/sandboxes/([^/]+/)?live$"),
    _group("web.sandboxes", "/sandboxes(.json)?$"),
    _group("web.sandbox_files", "/sandboxes/[^/]+/files"),
    _group("web.sandbox_runs", "/sandboxes/[^/]+/(run$|executions)"),
    _group("web.sandbox", "/sandboxes/."),
    _group("web.learning", "/learning(/import)?(.json)?$"),
    _group("web.lesson", "/learning/(feedback|lessons)/"),
    _group("web.proposals", "/learning/proposals"),
    _group("web.rules", "/learning/rules(/new)?(.json)?$"),
    _group("web.rule", "/learning/rules/."),
    _group("web.memories", "/learning/memories"),
    _group("web.skill_files", "/skills/[^/]+/[^/]+/files"),
    _group("web.skill_versions", "/skills/[^/]+/[^/]+/(versions|diff)"),
    _group("web.skill_edit", "/skills/new", "/skills/[^/]+/[^/]+/edit"),
    _group("web.skill_change", "/skills/[^/]+/[^/]+/(publish|versions/.|visibility|lock|delete)"),
    _group("web.skill", "/skills/[^/]+/."),
    _group("web.skills", "/skills"),
)
"""Every group, in the order in which they are asked whether a request is theirs."""


class LazyApi(FastAPI):
    """An application that has the routes which were needed until now, always in the same order.

    Its groups share their routes with every other application. What these depend on is said where they are made:
    FastAPI would make all of a router's routes once more to include it with anything else.
    """

    def __init__(self) -> None:
        # No pages that would load scripts from another host.
        super().__init__(title="Skillyard", version=skillyard.__version__, docs_url=None, redoc_url=None)
        self._missing = list(GROUPS)
        self._counts: dict[RouteGroup, int] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan" and self._missing:
            self._include([group for group in self._missing if group.claims(scope["path"])])
        await super().__call__(scope, receive, send)

    def openapi(self) -> dict[str, Any]:
        self.complete()
        return super().openapi()

    def complete(self) -> None:
        """Have the routes of every group."""
        self._include(self._missing)

    def _include(self, wanted: Sequence[RouteGroup]) -> None:
        for group in tuple(wanted):
            routes = group.router().routes
            earlier = GROUPS[: GROUPS.index(group)]
            place = sum(self._counts.get(other, 0) for other in earlier)
            self.router.routes[place:place] = routes
            self._counts[group] = len(routes)
            self._missing.remove(group)
