import asyncio
import io
import json
import math

import httpx
import pytest
from fastapi import FastAPI, Request

from skillyard.db.database import Database
from skillyard.db.idempotency import IdempotencyStore
from skillyard.server.errors import install_error_handlers
from skillyard.server.logs import access_log
from skillyard.server.rate import Rate
from skillyard.server.stack import Surroundings, enclose, within


class Yard:
    """A small application with everything around it."""

    def __init__(self, path, **options):
        self.path = path
        self.options = options
        self.log = io.StringIO()
        self.reads = 0

    def visit(self, visitor):
        async def go():
            database = await Database.open(f"sqlite:///{self.path / 'yard.sqlite'}")
            try:
                transport = httpx.ASGITransport(self.app(database), client=("127.0.0.1", 9), raise_app_exceptions=False)
                async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8321") as client:
                    return await visitor(client)
            finally:
                await database.close()

        return asyncio.run(go())

    def app(self, database):
        app = FastAPI()
        install_error_handlers(app)

        @app.get("/api/v1/things")
        async def read(request: Request) -> dict[str, int]:
            request.state.fresh_until = math.inf
            request.state.person = "ann"
            self.reads += 1
            return {"number": await database.number()}

        @app.post("/api/v1/things")
        async def make(body: dict[str, str]) -> dict[str, int]:
            async with database.write() as tx:
                return {"number": tx.take_number()}

        @app.get("/broken")
        async def broken():
            raise RuntimeError("broken")

        async def principal(_scope):
            return "ann"

        around = {
            "local": True,
            "number": database.number,
            "keys": IdempotencyStore(database),
            "principal": principal,
            "access_log": access_log(self.log),
            "max_body": 1000,
            **self.options,
        }
        surroundings = Surroundings(**around)
        return enclose(within(app, surroundings), surroundings)


def test_a_write_is_seen_by_the_next_read_and_not_made_twice(tmp_path):
    yard = Yard(tmp_path)

    async def visitor(client):
        numbers = []
        for _ in range(2):
            numbers.extend([(await client.get("/api/v1/things")).json()["number"] for _ in range(2)])
            made = await client.post("/api/v1/things", json={"a": "b"}, headers={"idempotency-key": "k"})
            assert made.json() == {"number": 1}
        return numbers

    assert yard.visit(visitor) == [0, 0, 1, 1]
    assert yard.reads == 2


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        ({"method": "GET", "url": "/api/v1/things"}, 200),
        ({"method": "GET", "url": "/nowhere"}, 404),
        ({"method": "GET", "url": "/broken"}, 500),
        ({"method": "GET", "url": "/api/v1/things", "headers": {"origin": "https://evil.example"}}, 403),
        ({"method": "GET", "url": "/api/v1/things?%00"}, 422),
        ({"method": "POST", "url": "/api/v1/things", "content": b"x" * 1001}, 413),
        ({"method": "POST", "url": "/api/v1/things", "json": {"a": "\0"}}, 422),
        ({"method": "POST", "url": "/api/v1/things", "json": {}, "headers": {"idempotency-key": "a b"}}, 400),
    ],
)
def test_every_answer_has_an_id_safe_headers_and_a_line_in_the_log(tmp_path, request_, status):
    yard = Yard(tmp_path)

    async def visitor(client):
        return [await client.request(**request_) for _ in range(2)]

    for answer in yard.visit(visitor):
        assert answer.status_code == status
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "sandbox" in answer.headers["content-security-policy"]
        assert len(answer.headers.get_list("x-request-id")) == 1
        if status >= 400:
            assert answer.json()["success"] is False
    assert [json.loads(line)["status"] for line in yard.log.getvalue().splitlines()] == [status] * 2


def test_a_server_for_others_takes_any_host_but_not_any_pace(tmp_path):
    yard = Yard(tmp_path, local=False, rate=Rate(per_second=0.001, burst=2))

    async def visitor(client):
        return [await client.get("/api/v1/things", headers={"host": "yard.example"}) for _ in range(3)]

    answers = yard.visit(visitor)
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[1].headers["ratelimit-remaining"] == "0"
    assert answers[2].headers["x-content-type-options"] == "nosniff"
