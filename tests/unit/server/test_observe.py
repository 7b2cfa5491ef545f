import asyncio
import io
import json
import logging

import httpx
import pytest
from fastapi import APIRouter, FastAPI, Request

from skillyard.server.cache import AnswerCache
from skillyard.server.logs import access_log, configure_logging
from skillyard.server.metrics import Metrics
from skillyard.server.observe import Observe

SECRET = "sky_0123456789abcdefghij"


class Yard:
    def __init__(self, **options):
        self.metrics = Metrics()
        self.log = io.StringIO()
        app = FastAPI()
        router = APIRouter(prefix="/skills")

        @router.get("/{name}")
        async def read(name: str, request: Request) -> dict[str, str]:
            request.state.fresh_until = float("inf")
            request.state.person = "ann"
            return {"id": request.state.request_id}

        @app.get("/broken")
        async def broken():
            raise RuntimeError("broken")

        app.include_router(router, prefix="/api/v1")

        async def number():
            return 1

        cached = AnswerCache(app, number=number)
        self.app = Observe(cached, metrics=self.metrics, access_log=access_log(self.log), **options)

    def ask(self, *paths, method="GET", headers=None):
        async def go():
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
                return [await client.request(method, path, headers=headers) for path in paths]

        return asyncio.run(go())

    def lines(self):
        return [json.loads(line) for line in self.log.getvalue().splitlines()]

    def value(self, name, **labels):
        return self.metrics.registry.get_sample_value(name, labels)


def test_every_request_gets_an_id_that_the_application_the_client_and_the_log_see():
    yard = Yard()
    (answer,) = yard.ask("/api/v1/skills/a")
    assert answer.headers["x-request-id"] == answer.json()["id"] == yard.lines()[0]["request_id"]
    assert yard.ask("/nowhere")[0].headers["x-request-id"] != answer.headers["x-request-id"]


def test_an_answer_from_the_cache_has_an_id_of_its_own():
    first, second = Yard().ask("/api/v1/skills/a", "/api/v1/skills/a")
    assert first.content == second.content
    assert first.headers["x-request-id"] != second.headers["x-request-id"]


@pytest.mark.parametrize(
    ("trusted", "given", "taken"),
    [(True, "proxy-1234", True), (True, "short", False), (True, 'a"b\\nforged', False), (False, "proxy-1234", False)],
)
def test_a_sane_id_of_a_proxy_is_kept_where_proxies_are_allowed(trusted, given, taken):
    (answer,) = Yard(trust_ids=trusted).ask("/api/v1/skills/a", headers={"x-request-id": given})
    assert (answer.headers["x-request-id"] == given) is taken


def test_the_log_tells_the_route_and_the_person_but_nothing_private():
    yard = Yard()
    headers = {"authorization": f"Bearer {SECRET}", "cookie": f"session={SECRET}"}
    yard.ask(f"/api/v1/skills/{SECRET}?token={SECRET}", f"/{SECRET}", headers=headers)
    first, second = yard.lines()
    assert {key: first[key] for key in ("event", "method", "route", "status", "person", "cached")} == {
        "event": "request",
        "method": "GET",
        "route": "/api/v1/skills/{name}",
        "status": 200,
        "person": "ann",
        "cached": False,
    }
    assert first["bytes"] > 0
    assert first["ms"] > 0
    assert second["route"] == "unmatched"
    assert SECRET not in yard.log.getvalue()


def test_an_answer_from_the_cache_is_told_like_any_other():
    yard = Yard()
    yard.ask("/api/v1/skills/a", "/api/v1/skills/a")
    second = yard.lines()[1]
    assert (second["route"], second["person"], second["cached"]) == ("/api/v1/skills/{name}", "ann", True)
    assert yard.value("skillyard_cache_hits_total") == 1


def test_requests_are_counted_and_timed_by_route():
    yard = Yard()
    yard.ask("/api/v1/skills/a", "/api/v1/skills/b", "/x", "/y")
    yard.ask("/z", method="BREW")
    labels = {"method": "GET", "route": "/api/v1/skills/{name}"}
    assert yard.value("skillyard_requests_total", **labels, status="2xx") == 2
    assert yard.value("skillyard_request_seconds_count", **labels) == 2
    assert yard.value("skillyard_requests_total", method="GET", route="unmatched", status="4xx") == 2
    assert yard.value("skillyard_requests_total", method="other", route="unmatched", status="4xx") == 1
    assert yard.value("skillyard_requests_in_flight") == 0


def test_a_crash_is_counted_and_told():
    yard = Yard()
    assert yard.ask("/broken")[0].status_code == 500
    assert yard.lines()[0]["status"] == 500
    assert yard.value("skillyard_requests_total", method="GET", route="/broken", status="5xx") == 1
    assert yard.value("skillyard_requests_in_flight") == 0


def test_the_change_number_is_asked_for_when_read():
    metrics = Metrics()
    metrics.watch_number(lambda: 42)
    assert b"skillyard_change_number 42.0" in metrics.render()


@pytest.fixture
def root_logger():
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield root
    root.handlers, root.level = handlers, level


def test_libraries_write_json_without_secrets_too(root_logger):
    out = io.StringIO()
    configure_logging(out)
    try:
        raise ValueError(f"wrong token {SECRET}")
    except ValueError:
        logging.getLogger("uvicorn.error").exception("failed at %s", "postgresql://me:password1@db/yard")
    line = json.loads(out.getvalue())
    assert line["event"] == "failed at postgresql://me:***@db/yard"
    assert line["logger"] == "uvicorn.error"
    assert "ValueError: wrong token sky_***" in line["exception"]
