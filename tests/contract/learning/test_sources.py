"""Polled sources, on real addresses and real tables."""

import json
import sqlite3
import threading
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from skillyard.errors import ConflictError, InputError, NotAllowedError, NotFoundError, UnavailableError
from skillyard.history.entries import Why
from skillyard.learning.sources import dead_letters, tables
from skillyard.learning.sources.polling import LEASE, Polling
from skillyard.learning.sources.service import FeedbackSources
from skillyard.learning.sources.source import SourceKind

pytestmark = pytest.mark.anyio
WHY = Why(reason="a test asked for it")
START = datetime(2026, 1, 1, tzinfo=UTC)


class Feed:
    """An address that gives what it has, oldest first, a page at a time."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self.page = 100
        self.as_lines = False
        self.status = 200
        self.asked: list[dict[str, str]] = []
        self.headers: dict[str, str] = {}
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/feedback?lang=ko"

    def add(self, key: str, minutes: float, content: str = "", **more: Any) -> None:
        moment = (START + timedelta(minutes=minutes)).isoformat()
        self.items.append({"id": key, "time": moment, "content": content or f"feedback {key}", **more})

    def answer(self, asked: dict[str, str]) -> bytes:
        self.asked.append(asked)
        items = self.items
        if "since" in asked:
            dated = [item for item in items if isinstance(item, dict) and item.get("time", "") >= asked["since"]]
            items = sorted(dated, key=lambda item: item["time"])
            keys = [item["id"] for item in items]
            if asked.get("after") in keys:
                items = items[keys.index(asked["after"]) + 1 :]
        items = items[: self.page]
        if self.as_lines:
            return "\n".join(item if isinstance(item, str) else json.dumps(item) for item in items).encode()
        return json.dumps(items).encode()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        feed = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                feed.headers = {name.lower(): value for name, value in self.headers.items()}
                query = parse_qs(urlsplit(self.path).query)
                body = feed.answer({key: values[0] for key, values in query.items()})
                self.send_response(feed.status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        return Handler


@pytest.fixture
def feed():
    feed = Feed()
    yield feed
    feed.server.shutdown()
    feed.server.server_close()


class Desk:
    """Sources of one tenant, read at a time that the test sets."""

    def __init__(self, world: Any) -> None:
        self.now = START
        self.yard = world.yard
        self.boss = replace(world.boss, operator=True)
        self.sources = FeedbackSources(
            self.yard.database, self.yard.history, self.yard.learning.intake, clock=lambda: self.now
        )
        self.polling = Polling(self.yard.database, self.yard.learning.intake, clock=lambda: self.now)

    async def url(self, feed: Feed, **place: Any) -> Any:
        given = {"name": "desk", "kind": SourceKind.URL, "every_seconds": 60}
        return await self.sources.create(self.boss, place={"url": feed.url, **place}, why=WHY, **given)

    async def poll(self, source: Any) -> tuple[int, int, int]:
        polled = await self.sources.poll(self.boss, source.id)
        return polled.created, polled.known, polled.dead

    async def contents(self) -> list[str]:
        found, _ = await self.yard.learning.intake.page(self.boss, limit=200)
        return sorted(each.content for each in found)

    async def dead(self, source: Any) -> list[str]:
        letters, _ = await self.sources.dead_letters(self.boss, source.id)
        return [letter.reason for letter in letters]


@pytest.fixture
async def desk(world: Any) -> Desk:
    return Desk(world)


async def test_what_an_address_gives_is_taken_in_once(desk: Desk, feed: Feed):
    feed.add("1", 0, "환불은 5일", agents=["support"], user="ana")
    feed.add("2", 1)
    source = await desk.url(feed)
    assert await desk.poll(source) == (2, 0, 0)
    feed.add("3", 2)
    assert await desk.poll(source) == (1, 2, 0)
    assert await desk.contents() == ["feedback 2", "feedback 3", "환불은 5일"]
    assert all(asked["lang"] == "ko" for asked in feed.asked)
    found, _ = await desk.yard.learning.intake.page(desk.boss)
    assert {each.source for each in found} == {"desk"}


async def test_what_comes_late_or_out_of_order_is_not_lost(desk: Desk, feed: Feed):
    feed.add("1", 120)
    source = await desk.url(feed, overlap_seconds=3600)
    await desk.poll(source)
    feed.add("late", 90)
    assert (await desk.poll(source))[0] == 1
    feed.add("very late", 1)
    assert (await desk.poll(source))[0] == 0
    desk.now += timedelta(hours=25)
    assert (await desk.poll(source))[0] == 1


async def test_pages_are_read_to_their_end(desk: Desk, feed: Feed):
    feed.page = 3
    for number in range(10):
        feed.add(f"{number:02}", 0 if number < 5 else number)
    source = await desk.url(feed)
    assert (await desk.poll(source))[0] == 10
    feed.add("10", 10)
    assert (await desk.poll(source))[0] == 1


async def test_what_is_no_feedback_is_kept_with_the_reason(desk: Desk, feed: Feed):
    feed.as_lines = True
    feed.add("1", 0)
    feed.items += ["{broken", {"id": "2", "time": "never", "content": "x"}, {"id": "3", "text": "other"}, 5]
    source = await desk.url(feed)
    assert await desk.poll(source) == (1, 0, 4)
    reasons = await desk.dead(source)
    assert sorted(reason.split(":")[0].split(" ")[0] for reason in reasons) == ["It", "It", "content", "time"]
    assert (await desk.poll(source))[2] == 0
    assert await desk.sources.forget_dead_letters(desk.boss, source.id) == 4


async def test_what_was_said_is_not_changed_by_its_source(desk: Desk, feed: Feed):
    feed.add("1", 0, "Be brief.")
    source = await desk.url(feed)
    await desk.poll(source)
    feed.items[0]["content"] = "Be long."
    assert await desk.poll(source) == (0, 0, 1)
    assert await desk.contents() == ["Be brief."]
    assert "never changed" in (await desk.dead(source))[0]


async def test_ids_of_two_sources_do_not_meet(desk: Desk, feed: Feed):
    feed.add("1", 0, "From the desk.")
    await desk.poll(await desk.url(feed))
    feed.items[0]["content"] = "From the shop."
    other = await desk.sources.create(
        desk.boss, name="shop", kind=SourceKind.URL, place={"url": feed.url}, every_seconds=60, why=WHY
    )
    assert await desk.poll(other) == (1, 0, 0)


async def test_their_names_are_put_in_place_of_ours(desk: Desk, feed: Feed):
    feed.items = [{"key": 7, "when": 0, "comment": "Be brief.", "by": {"id": 1}, "who": "ana"}]
    fields = {"event_id": "key", "time": "when", "content": "comment", "user": "who"}
    assert await desk.poll(await desk.url(feed, fields=fields)) == (1, 0, 0)
    found, _ = await desk.yard.learning.intake.page(desk.boss)
    assert (found[0].user, found[0].time, found[0].event_id.endswith(":7")) == (
        "ana",
        datetime(1970, 1, 1, tzinfo=UTC),
        True,
    )


async def test_a_source_that_cannot_be_read_is_tried_again_more_and_more_seldom(desk: Desk, feed: Feed):
    feed.status = 500
    source = await desk.url(feed)
    waits: list[float] = []
    for _ in range(9):
        with pytest.raises(UnavailableError, match="status 500"):
            await desk.poll(source)
        broken = await desk.sources.get(desk.boss, source.id)
        waits.append((broken.due_at - desk.now).total_seconds())
    assert waits[:3] == [120, 240, 480]
    assert waits[-1] == 3600
    assert (broken.failures, "500" in broken.error) == (9, True)
    feed.status = 200
    await desk.poll(source)
    mended = await desk.sources.get(desk.boss, source.id)
    assert (mended.failures, mended.error, mended.due_at - desk.now) == (0, "", timedelta(minutes=1))


async def test_a_source_is_read_by_one_at_a_time_and_taken_over_when_that_one_is_gone(desk: Desk, feed: Feed):
    feed.add("1", 0)
    source = await desk.url(feed)
    assert source.id in await desk.polling.due()
    assert await desk.polling._lease(source.id, "somebody") is not None
    assert source.id not in await desk.polling.due()
    with pytest.raises(ConflictError, match="being read"):
        await desk.poll(source)
    desk.now += LEASE + timedelta(seconds=1)
    assert await desk.poll(source) == (1, 0, 0)


async def test_only_due_sources_are_polled_and_one_that_fails_stops_no_other(desk: Desk, feed: Feed):
    feed.add("1", 0)
    broken = {"url": "http://127.0.0.1:9/nothing"}
    await desk.sources.create(desk.boss, name="a", kind=SourceKind.URL, place=broken, every_seconds=60, why=WHY)
    source = await desk.url(feed)
    await desk.sources.poll_due()
    assert await desk.contents() == ["feedback 1"]
    asked = len(feed.asked)
    await desk.sources.poll_due()
    assert len(feed.asked) == asked
    desk.now += timedelta(minutes=1)
    await desk.sources.change(desk.boss, source.id, {"enabled": False}, why=WHY)
    await desk.sources.poll_due()
    assert len(feed.asked) == asked


async def test_a_source_that_gives_nothing_but_rubbish_is_stopped(desk: Desk, feed: Feed, monkeypatch: Any):
    monkeypatch.setattr(dead_letters, "MAX_KEPT", 2)
    feed.items = [{"id": str(number)} for number in range(3)]
    source = await desk.url(feed)
    with pytest.raises(InputError, match="dead letters"):
        await desk.poll(source)
    assert (await desk.sources.get(desk.boss, source.id)).failures == 1


async def test_credentials_stand_in_the_environment(desk: Desk, feed: Feed, monkeypatch: Any):
    monkeypatch.setenv("FEEDBACK_SOURCE_TOKEN", "sesame-sesame")
    source = await desk.url(feed, headers={"Authorization": "Bearer ${FEEDBACK_SOURCE_TOKEN}"})
    await desk.poll(source)
    assert feed.headers["authorization"] == "Bearer sesame-sesame"
    assert "sesame" not in repr(await desk.sources.get(desk.boss, source.id))
    monkeypatch.delenv("FEEDBACK_SOURCE_TOKEN")
    with pytest.raises(UnavailableError, match="FEEDBACK_SOURCE_TOKEN is not set"):
        await desk.poll(source)


@pytest.mark.parametrize(
    ("kind", "place", "problem"),
    [
        ("url", {}, "place.url"),
        ("url", {"url": "ftp://x"}, "no address"),
        ("url", {"url": "http://u:secret@x/"}, "password"),
        ("url", {"url": "http://x", "headers": {"X-Api-Key": "secret"}}, "credential"),
        ("url", {"url": "http://x/?k=${SKILLYARD_MODEL_API_KEY}"}, "cannot be used"),
        ("url", {"url": "http://x", "fields": {"text": "t"}}, "no part of feedback"),
        ("url", {"url": "http://x", "overlap_seconds": -1}, "no number"),
        ("url", {"url": "http://x", "every": 1}, "not known"),
        ("table", {"database": "nonsense", "table": "t"}, "no address of a database"),
        ("table", {"database": "postgresql://u:secret@h/d", "table": "t"}, "password"),
        ("table", {"database": "postgresql://h/d?password=secret", "table": "t"}, "password"),
        ("table", {"database": "sqlite:///x", "table": "t", "fields": {"content": "c"}}, "event_id is missing"),
    ],
)
async def test_a_place_that_is_wrong_is_refused(desk: Desk, kind: str, place: dict[str, Any], problem: str):
    given = {"name": "x", "kind": SourceKind(kind), "every_seconds": 60, "why": WHY}
    with pytest.raises(InputError, match=problem) as refused:
        await desk.sources.create(desk.boss, place=place, **given)
    assert "secret" not in refused.value.message


async def test_only_whoever_runs_the_yard_has_feedback_polled(desk: Desk, world: Any, feed: Feed):
    source = await desk.url(feed)
    for attempt in (desk.sources.all(world.boss), desk.sources.get(world.boss, source.id)):
        with pytest.raises(NotAllowedError):
            await attempt
    with pytest.raises(ConflictError, match="already"):
        await desk.url(feed)
    await desk.sources.delete(desk.boss, source.id, why=WHY)
    with pytest.raises(NotFoundError):
        await desk.sources.get(desk.boss, source.id)


FIELDS = {"event_id": "id", "content": "body", "time": "said", "user": "who"}


async def test_a_table_is_read_in_the_order_of_its_time(desk: Desk, tmp_path: Any, monkeypatch: Any):
    monkeypatch.setattr(tables, "PAGE", 10)
    file = tmp_path / "desk.sqlite"
    with closing(sqlite3.connect(file)) as database:
        database.execute("CREATE TABLE comments (id INTEGER PRIMARY KEY, body TEXT, said TEXT, who TEXT)")
        rows = [(None, f"said {at}", f"2026-01-01 10:{at % 20:02}:00", "ana") for at in range(40)]
        database.executemany("INSERT INTO comments VALUES (?, ?, ?, ?)", rows)
        database.commit()
    place = {"database": f"sqlite:///{file}", "table": "comments", "fields": FIELDS, "overlap_rows": 5}
    source = await desk.sources.create(
        desk.boss, name="table", kind=SourceKind.TABLE, place=place, every_seconds=60, why=WHY
    )
    assert await desk.poll(source) == (40, 0, 0)
    with closing(sqlite3.connect(file)) as database:
        database.execute("INSERT INTO comments VALUES (2001, 'new', '2026-01-02 10:00:00', 'ben')")
        database.execute("INSERT INTO comments VALUES (2002, 'a little late', '2026-01-01 10:19:00', 'ben')")
        database.execute("INSERT INTO comments VALUES (2003, 'very late', '2025-01-01 10:00:00', 'ben')")
        database.execute("INSERT INTO comments VALUES (2004, 'whenever', NULL, 'ben')")
        database.commit()
    assert (await desk.poll(source))[0] == 2
    desk.now += timedelta(hours=25)
    assert await desk.poll(source) == (2, 42, 0)


async def test_a_table_on_postgresql_is_only_read(desk: Desk, new_postgres_database: Any):
    import psycopg

    with new_postgres_database() as url:
        with psycopg.connect(url) as database:
            database.execute("CREATE SCHEMA desk")
            database.execute("CREATE TABLE desk.comments (id uuid PRIMARY KEY, body text, said timestamptz, who text)")
            for number in range(3):
                key = f"00000000-0000-0000-0000-{number:012}"
                moment = START + timedelta(minutes=number)
                database.execute(
                    "INSERT INTO desk.comments VALUES (%s, %s, %s, 'ana')", (key, f"said {number}", moment)
                )
        place = {"database": url, "schema": "desk", "table": "comments", "fields": FIELDS, "overlap_rows": 1}
        source = await desk.sources.create(
            desk.boss, name="table", kind=SourceKind.TABLE, place=place, every_seconds=60, why=WHY
        )
        assert await desk.poll(source) == (3, 0, 0)
        assert await desk.poll(source) == (0, 1, 0)
        with psycopg.connect(url) as database:
            database.execute("DROP TABLE desk.comments")
        with pytest.raises(UnavailableError, match="does not exist"):
            await desk.poll(source)
