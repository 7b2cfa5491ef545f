import asyncio

import pytest
from fastapi import Depends, FastAPI
from fastapi.testclient import TestClient

import skillyard
from skillyard.errors import NotAllowedError, UnavailableError
from skillyard.server import probes
from skillyard.server.errors import install_error_handlers
from skillyard.server.metrics import Metrics
from skillyard.server.probes import probe_router


async def works():
    return None


async def fails():
    raise RuntimeError("password=hunter2")


async def unreachable():
    raise UnavailableError("The database postgresql://secret-host did not answer.")


async def hangs():
    await asyncio.Event().wait()


def client(checks, **options):
    app = FastAPI()
    install_error_handlers(app)
    app.include_router(probe_router(checks, Metrics(), **options))
    return TestClient(app)


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
    monkeypatch.setattr(probes, "_PATIENCE", 0.01)
    checks = {"database": unreachable, "blobs": fails, "search": hangs, "clock": works}
    answer = client(checks).get("/readyz")
    assert answer.status_code == 503
    outcomes = {"database": "unavailable", "blobs": "failed", "search": "too slow", "clock": "ok"}
    assert answer.json()["error"]["details"] == {"checks": outcomes}
    assert "hunter2" not in answer.text
    assert "secret-host" not in answer.text


def test_all_who_ask_at_once_are_answered_by_one_look():
    looks = []
    now = [100.0]
    found = asyncio.Event()

    async def look():
        looks.append(now[0])
        await found.wait()

    async def go():
        parts = probes._Parts({"database": look}, clock=lambda: now[0])
        asked = [asyncio.create_task(parts.outcomes()) for _ in range(5)]
        await asyncio.sleep(0)
        asked[0].cancel()  # whoever asked first may be gone before the answer
        found.set()
        assert [await one for one in asked[1:]] == [{"database": "ok"}] * 4
        now[0] += 0.9
        await parts.outcomes()
        assert looks == [100.0]
        now[0] += 0.1
        await parts.outcomes()

    asyncio.run(go())
    assert looks == [100.0, 101.0]


def test_metrics_are_in_the_form_prometheus_reads():
    answer = client({}).get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert "# TYPE skillyard_requests_in_flight gauge" in answer.text


def test_metrics_can_be_kept_for_some():
    def nobody():
        raise NotAllowedError("not yours")

    assert client({}, metrics_for=[Depends(nobody)]).get("/metrics").status_code == 403
