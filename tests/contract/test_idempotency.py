import asyncio
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import httpx
from fastapi import FastAPI, Request, Response
from sqlalchemy import func, select

from skillyard.db.database import Database
from skillyard.db.idempotency import IdempotencyRow, IdempotencyStore
from skillyard.errors import InputError, NotAllowedError, NotFoundError, UnauthenticatedError, UnavailableError
from skillyard.server.errors import install_error_handlers
from skillyard.server.idempotency import MAX_ANSWER, Idempotency


class Yard:
    """A server process whose one route makes a change, and can be made to fail on the way."""

    def __init__(self, database):
        self.database = database
        self.now = datetime(2030, 1, 1, tzinfo=UTC)
        self.store = IdempotencyStore(database, clock=lambda: self.now)
        self.made = 0
        self.fail_before = self.fail_after = None
        self.hold = None
        self.busy = asyncio.Event()
        self.headers = {}
        self.size = 0
        app = FastAPI()
        install_error_handlers(app)
        app.api_route("/things", methods=["POST", "PUT", "PATCH", "DELETE"])(self.make)
        app.get("/things")(self.make)
        self.app = Idempotency(app, store=self.store, principal=self.principal)

    async def principal(self, scope):
        token = dict(scope["headers"]).get(b"authorization")
        if token == b"revoked":
            raise UnauthenticatedError
        return (token or b"local").decode()

    async def make(self, request: Request):
        await request.body()
        self.busy.set()
        if self.hold is not None:
            await self.hold.wait()
        if self.fail_before is not None:
            raise self.fail_before
        async with self.database.write():
            pass  # what changes nothing, like noting when a token was used, counts for nothing
        async with self.database.write() as tx:
            number = tx.take_number()
        self.made += 1
        if self.fail_after is not None:
            raise self.fail_after
        return Response(
            f"{number}" + "x" * self.size, status_code=201, headers={"X-Number": str(number), **self.headers}
        )

    @asynccontextmanager
    async def client(self):
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            yield client

    async def send(self, key="k", *, method="POST", path="/things", headers=None, **request):
        async with self.client() as client:
            given = {"idempotency-key": key} if key is not None else {}
            return await client.request(method, path, headers={**given, **(headers or {})}, **request)


@asynccontextmanager
async def yards(url, count=1):
    databases = [await Database.open(url) for _ in range(count)]
    try:
        yield [Yard(database) for database in databases]
    finally:
        for database in databases:
            await database.close()


def with_yard(url, scenario, count=1):
    async def go():
        async with yards(url, count) as made:
            await scenario(*made)

    asyncio.run(go())


def test_a_request_sent_again_is_answered_again_and_not_done_again(database_url):
    async def scenario(yard):
        for number, method in enumerate(["POST", "PUT", "PATCH", "DELETE"], start=1):
            first = await yard.send(method, method=method, content=b"a")
            again = await yard.send(method, method=method, content=b"a")
            assert (first.status_code, first.text, yard.made) == (201, str(number), number)
            assert (again.status_code, again.content) == (first.status_code, first.content)
            assert again.headers["x-number"] == str(number)
            assert again.headers["idempotency-replayed"] == "true"
            assert "idempotency-replayed" not in first.headers

    with_yard(database_url, scenario)


def test_without_a_key_and_for_reads_nothing_is_kept(database_url):
    async def scenario(yard):
        for _ in range(2):
            await yard.send(None)
            await yard.send("k", method="GET")
        assert yard.made == 4
        async with yard.database.read() as session:
            assert await session.scalar(select(func.count()).select_from(IdempotencyRow)) == 0

    with_yard(database_url, scenario)


def test_a_key_for_another_request_is_refused(database_url):
    others = [
        {"content": b"b"},
        {"method": "PUT"},
        {"path": "/things?x=1"},
        {"headers": {"if-match": '"1"'}},
        {"headers": {"content-type": "text/plain"}},
    ]

    async def scenario(yard):
        await yard.send(content=b"a")
        for other in others:
            answer = await yard.send(**{"content": b"a", **other})
            assert answer.status_code == 422
            assert answer.json()["error"]["code"] == "idempotency_mismatch"
        assert yard.made == 1

    with_yard(database_url, scenario)


def test_a_form_sent_again_with_another_boundary_is_the_same_request(database_url):
    async def scenario(yard):
        first, second = [await yard.send(files={"file": ("a.zip", b"zip")}) for _ in range(2)]
        assert first.request.headers["content-type"] != second.request.headers["content-type"]
        assert second.headers["idempotency-replayed"] == "true"
        assert (await yard.send(files={"file": ("a.zip", b"other")})).status_code == 422

    with_yard(database_url, scenario)


def test_keys_of_different_people_have_nothing_to_do_with_each_other(database_url):
    async def scenario(yard):
        await yard.send(headers={"authorization": "ann"})
        await yard.send(headers={"authorization": "bob"}, content=b"other")
        assert yard.made == 2

    with_yard(database_url, scenario)


def test_a_kept_answer_is_not_for_those_who_may_no_longer_ask(database_url):
    async def scenario(yard):
        answer = await yard.send(headers={"authorization": "revoked"})
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        assert yard.made == 0

    with_yard(database_url, scenario)


def test_a_request_that_is_still_running_is_not_started_again(database_url):
    async def scenario(yard):
        yard.hold = asyncio.Event()
        running = asyncio.create_task(yard.send())
        await yard.busy.wait()
        answer = await yard.send()
        assert answer.status_code == 409
        assert answer.json()["error"]["code"] == "in_progress"
        assert answer.headers["retry-after"] == "1"
        yard.hold.set()
        assert (await running).status_code == 201
        assert (await yard.send()).headers["idempotency-replayed"] == "true"
        assert yard.made == 1
        assert not yard.app._running

    with_yard(database_url, scenario)


def test_a_failure_after_the_change_does_not_let_it_happen_twice(database_url):
    async def scenario(yard):
        yard.fail_after = RuntimeError("the machine went down")
        assert (await yard.send()).status_code == 500
        yard.fail_after = None
        answer = await yard.send()
        assert answer.status_code == 409
        assert answer.json()["error"]["code"] == "already_done"
        assert answer.json()["error"]["details"] == {"change": 1}
        assert yard.made == 1
        assert (await yard.send(content=b"other")).status_code == 422

    with_yard(database_url, scenario)


def test_a_failure_before_the_change_leaves_the_key_free(database_url):
    async def scenario(yard):
        yard.fail_before = UnavailableError("later")
        assert (await yard.send()).status_code == 503
        yard.fail_before = None
        assert (await yard.send()).status_code == 201

    with_yard(database_url, scenario)


def test_a_refusal_that_changed_nothing_is_not_kept(database_url):
    async def scenario(yard):
        for error in (NotFoundError("none"), NotAllowedError("no"), InputError("wrong")):
            yard.fail_before = error
            assert (await yard.send()).status_code == error.http_status
        yard.fail_before = None
        assert (await yard.send(content=b"put right")).text == "1"
        assert (await yard.send(content=b"put right")).headers["idempotency-replayed"] == "true"

    with_yard(database_url, scenario)


def test_a_refusal_after_a_change_is_told_again(database_url):
    async def scenario(yard):
        yard.fail_after = NotFoundError("gone")
        first = await yard.send()
        yard.fail_after = None
        again = await yard.send()
        assert (again.status_code, again.content) == (404, first.content)
        assert yard.made == 1

    with_yard(database_url, scenario)


def test_two_processes_given_the_same_request_do_it_once(database_url):
    async def scenario(one, other):
        one.hold = other.hold = asyncio.Event()
        tasks = [asyncio.create_task(yard.send()) for yard in (one, other)]
        await asyncio.gather(one.busy.wait(), other.busy.wait())
        one.hold.set()
        answers = await asyncio.gather(*tasks)
        assert sorted(answer.status_code for answer in answers) == [201, 409]
        assert one.made + other.made == 1
        assert await one.database.number() == 1
        for yard in (one, other):
            again = await yard.send()
            assert (again.status_code, again.text) == (201, "1")

    with_yard(database_url, scenario, count=2)


def test_a_secret_in_an_answer_is_not_kept(database_url):
    async def scenario(yard):
        yard.headers = {"Cache-Control": "no-store"}
        assert (await yard.send()).status_code == 201
        assert (await yard.send()).json()["error"]["code"] == "already_done"
        async with yard.database.read() as session:
            assert (await session.scalars(select(IdempotencyRow.body))).all() == [None]

    with_yard(database_url, scenario)


def test_a_long_answer_is_given_but_not_kept(database_url):
    async def scenario(yard):
        yard.size = MAX_ANSWER
        assert len((await yard.send()).content) == MAX_ANSWER + 1
        assert (await yard.send()).json()["error"]["code"] == "already_done"

    with_yard(database_url, scenario)


def test_keys_are_forgotten_after_a_day(database_url):
    async def scenario(yard):
        await yard.send("old")
        yard.now += timedelta(hours=23, minutes=59)
        assert (await yard.send("old")).headers["idempotency-replayed"] == "true"
        yard.now += timedelta(minutes=2)
        assert (await yard.send("old", content=b"other")).text == "2"
        await yard.send("next")
        yard.now += timedelta(days=2)
        await yard.store.sweep()
        async with yard.database.read() as session:
            assert await session.scalar(select(func.count()).select_from(IdempotencyRow)) == 0

    with_yard(database_url, scenario)


def test_old_keys_are_swept_in_passing(database_url):
    async def scenario(yard):
        await yard.send("old")
        yard.now += timedelta(hours=25)
        await yard.send("new")
        async with yard.database.read() as session:
            assert (await session.scalars(select(IdempotencyRow.key))).all() == ["new"]

    with_yard(database_url, scenario)


def test_a_key_that_is_none_is_refused(database_url):
    async def scenario(yard):
        for key in ["", "a b", "a" * 256, "\x7f"]:
            answer = await yard.send(key)
            assert answer.status_code == 400
            assert answer.json()["error"]["details"]["limit"] == 255
        assert yard.made == 0

    with_yard(database_url, scenario)


def test_a_write_that_fails_leaves_no_mark(database_url):
    async def scenario(yard):
        async def broken(_tx):
            raise UnavailableError("the disk is full")

        yard.database.before_commit.append(broken)
        assert (await yard.send()).status_code == 503
        yard.database.before_commit.remove(broken)
        assert (await yard.send()).text == "1"

    with_yard(database_url, scenario)
