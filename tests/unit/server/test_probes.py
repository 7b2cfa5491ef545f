import asyncio
from types import SimpleNamespace

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

import skillyard
from skillyard.errors import UnavailableError
from skillyard.server import parts
from skillyard.server.auth import PRINCIPAL
from skillyard.server.errors import install_error_handlers
from skillyard.server.metrics import Metrics
from skillyard.server.parts import Parts
from skillyard.server.probes import router


async def works():
    return None


async def fails():
    raise RuntimeError("password=hunter2")


async def unreachable():
    raise UnavailableError("The database postgresql://secret-host did not answer.")


async def hangs():
    await asyncio.Event().wait()


def client(checks, *, admin=True):
    app = FastAPI()
    install_error_handlers(app)
    app.include_router(router)
    app.state.parts = Parts(checks)
    app.state.metrics = Metrics()
    app.state.read_number = works

    async def asked(scope, receive, send):
        scope.setdefault("state", {})[PRINCIPAL] = SimpleNamespace(admin=admin)
        await app(scope, receive, send)

    return TestClient(asked)


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_living_server_says_so_whatever_else_is_broken(method):
    answer = client({"database": fails}).request(method, "/healthz")
    assert answer.status_code == 200
    if method == "GET":
        assert answer.json()["data"] == {"status": "ok", "version": skillyard.__version__}


def test_a_server_is_ready_when_all_its_parts_work():
    answer = client({"database": works, "blobs": works}).get("/readyz")
    assert answer.json()["data"] == {"status": "ready", "checks": {"database": "ok", "blobs": "ok"}}


def test_a_broken_part_is_named_and_nothing_given_away(monkeypatch):
    monkeypatch.setattr(parts, "_PATIENCE", 0.01)
    checks = {"database": unreachable, "blobs": fails, "search": hangs, "clock": works}
    answer = client(checks).get("/readyz")
    assert answer.status_code == 503
    outcomes = {"database": "unavailable", "blobs": "failed", "search": "too slow", "clock": "ok"}
    assert answer.json()["error"]["details"] == {"checks": outcomes}
    assert "hunter2" not in answer.text
    assert "secret-host" not in answer.text


def test_metrics_are_in_the_form_prometheus_reads():
    answer = client({}).get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert "# TYPE skillyard_requests_in_flight gauge" in answer.text


def test_metrics_are_for_administrators():
    assert client({}, admin=False).get("/metrics").status_code == 403
