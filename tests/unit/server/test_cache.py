import asyncio
import gzip
import hashlib
import json
import math

import httpx
import pytest
from fastapi import FastAPI, Request, Response
from fastapi.responses import StreamingResponse

from skillyard.server.cache import MAX_BODY, AnswerCache, accepts_gzip
from skillyard.server.etags import is_known

LONG = json.dumps({"success": True, "data": ["skill"] * 1000}).encode()


class Yard:
    """An application that counts how often it is asked, and a change number that can be moved."""

    def __init__(self, **options):
        self.number = 1
        self.now = 1000.0
        self.calls = 0
        self.fresh_until = math.inf
        self.seen_if_match = None
        self.app = FastAPI()
        self.app.get("/api/v1/long")(self.long)
        self.app.get("/api/v1/who")(self.who)
        self.app.get("/api/v1/stream")(self.stream)
        self.app.get("/api/v1/huge")(self.huge)
        self.app.get("/api/v1/answer")(self.answer)
        self.app.get("/api/v1/here")(self.here)
        self.app.put("/api/v1/long")(self.edit)
        self.app.get("/other")(self.long)
        self.answer_headers = {}
        self.answer_status = 200
        self.cache = AnswerCache(self.app, number=self.read_number, clock=lambda: self.now, **options)

    async def read_number(self):
        return self.number

    def note(self, request):
        self.calls += 1
        if self.fresh_until is not None:
            request.state.fresh_until = self.fresh_until
        request.state.person = "ann"

    async def long(self, request: Request):
        self.note(request)
        return Response(LONG, media_type="application/json")

    async def who(self, request: Request):
        self.note(request)
        return {"token": request.headers.get("authorization"), "host": request.headers["host"]}

    async def stream(self, request: Request):
        self.note(request)
        return StreamingResponse(iter([b"a" * 2000, b"b"]), media_type="text/plain")

    async def huge(self, request: Request):
        self.note(request)
        return Response(b"x" * (MAX_BODY + 1), media_type="text/plain")

    async def answer(self, request: Request):
        self.note(request)
        return Response(b"short", status_code=self.answer_status, headers=self.answer_headers)

    async def here(self, request: Request):
        self.note(request)
        return Response(str(request.base_url), media_type="text/plain", headers={"Vary": "Authorization, Host"})

    async def edit(self, request: Request):
        self.seen_if_match = request.headers.get("if-match")
        return {}


def visit(yard, *requests, encoding="identity"):
    """The answers to requests made one after the other; a function among them is called in between."""

    async def go():
        transport = httpx.ASGITransport(yard.cache)
        answers = []
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            for request in requests:
                if callable(request):
                    request()
                    continue
                method, path, headers = (*request, {})[:3] if isinstance(request, tuple) else ("GET", request, {})
                answers.append(await client.request(method, path, headers={"accept-encoding": encoding, **headers}))
        return answers

    return asyncio.run(go())


def test_a_repeated_read_does_not_reach_the_application():
    yard = Yard()
    first, second = visit(yard, "/api/v1/long", "/api/v1/long")
    assert first.content == second.content == LONG
    assert first.headers == second.headers
    assert second.headers["etag"] == f'"{hashlib.sha256(LONG).hexdigest()}"'
    assert second.headers["cache-control"] == "private, no-cache"
    assert second.headers["vary"] == "authorization, cookie, accept-encoding"
    assert second.headers["content-length"] == str(len(LONG))
    assert yard.calls == 1


def test_any_change_makes_every_answer_old():
    yard = Yard()
    visit(yard, "/api/v1/long", lambda: setattr(yard, "number", 2), "/api/v1/long", "/api/v1/long")
    assert yard.calls == 2


def test_a_change_during_the_answer_makes_it_old_at_once():
    yard = Yard()

    async def changing(scope, receive, send):
        yard.number = 2
        await yard.app(scope, receive, send)

    yard.cache.app = changing
    visit(yard, "/api/v1/long", "/api/v1/long", "/api/v1/long")
    assert yard.calls == 2


def test_a_right_that_runs_out_ends_the_answer():
    yard = Yard()
    yard.fresh_until = 1010.0
    visit(yard, "/api/v1/long", lambda: setattr(yard, "now", 1009.9), "/api/v1/long")
    assert yard.calls == 1
    visit(yard, lambda: setattr(yard, "now", 1010.0), "/api/v1/long")
    assert yard.calls == 2


def test_an_answer_that_nobody_vouched_for_is_not_kept():
    yard = Yard()
    yard.fresh_until = None
    first, second = visit(yard, "/api/v1/long", "/api/v1/long")
    assert yard.calls == 2
    assert first.headers["etag"] == second.headers["etag"]


@pytest.mark.parametrize("name", ["authorization", "cookie", "host"])
def test_callers_with_other_credentials_or_names_never_share_an_answer(name):
    yard = Yard()
    visit(yard, ("GET", "/api/v1/who", {name: "a"}), ("GET", "/api/v1/who", {name: "b"}), "/api/v1/who")
    assert yard.calls == 3


def test_an_address_in_an_answer_is_told_to_those_who_asked_there_only():
    yard = Yard()
    hosts = ["one.test", "two.test", "one.test:81"]
    asked = [("GET", "/api/v1/here", {"host": host}) for host in hosts]
    answers = visit(yard, *asked, *reversed(asked))
    assert [answer.text for answer in answers] == [f"http://{host}/" for host in [*hosts, *reversed(hosts)]]
    assert yard.calls == 3
    assert {answer.headers["vary"] for answer in answers} == {"authorization, cookie, accept-encoding, host"}


def test_without_a_host_the_address_that_was_reached_tells_answers_apart():
    yard = Yard()

    async def ask(address):
        told = []

        async def send(message):
            told.append(message.get("body", b""))

        scope = {
            "type": "http",
            "method": "GET",
            "path": "/api/v1/here",
            "raw_path": b"/api/v1/here",
            "query_string": b"",
            "headers": [],
            "scheme": "http",
            "server": (address, 80),
        }
        await yard.cache(scope, None, send)
        return b"".join(told).decode()

    async def go():
        return [await ask(address) for address in ("10.0.0.1", "10.0.0.2", "10.0.0.1")]

    assert asyncio.run(go()) == ["http://10.0.0.1/", "http://10.0.0.2/", "http://10.0.0.1/"]
    assert yard.calls == 2


def test_the_query_and_the_spelling_of_the_path_are_part_of_the_question():
    yard = Yard()
    visit(yard, "/api/v1/long?a=1", "/api/v1/long?a=2", "/api/v1/%6cong?a=1")
    assert yard.calls == 3


@pytest.mark.parametrize("spelling", ["{}", "W/{}", '"a", {}', '"a,b" , W/{}', "*"])
def test_a_client_that_has_the_answer_gets_no_body(spelling):
    yard = Yard()
    etag = visit(yard, "/api/v1/long")[0].headers["etag"]
    (answer,) = visit(yard, ("GET", "/api/v1/long", {"if-none-match": spelling.format(etag)}))
    assert (answer.status_code, answer.content) == (304, b"")
    assert answer.headers["etag"] == etag
    assert answer.headers["cache-control"] == "private, no-cache"
    assert "vary" in answer.headers
    assert "content-length" not in answer.headers
    assert yard.calls == 1


def test_a_condition_holds_for_an_answer_that_was_not_kept_too():
    yard = Yard()
    yard.fresh_until = None
    etag = visit(yard, "/api/v1/long")[0].headers["etag"]
    assert visit(yard, ("GET", "/api/v1/long", {"if-none-match": etag}))[0].status_code == 304


def test_a_client_with_another_answer_gets_this_one():
    yard = Yard()
    (answer,) = visit(yard, ("GET", "/api/v1/long", {"if-none-match": '"other", W/"more"'}))
    assert (answer.status_code, answer.content) == (200, LONG)


def test_a_tag_of_the_application_is_kept():
    yard = Yard()
    yard.answer_headers = {"ETag": '"sha256:1"', "Cache-Control": "public, max-age=60"}
    first, second = visit(yard, "/api/v1/answer", "/api/v1/answer")
    assert first.headers["etag"] == second.headers["etag"] == '"sha256:1"'
    assert second.headers["cache-control"] == "public, max-age=60"


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        (200, {"Cache-Control": "no-store"}),
        (200, {"Set-Cookie": "a=b"}),
        (200, {"Vary": "Accept-Language"}),
        (200, {"Vary": "*"}),
        (404, {}),
        (500, {}),
        (206, {}),
    ],
)
def test_what_must_not_be_told_again_passes_untouched(status, headers):
    yard = Yard()
    yard.answer_status, yard.answer_headers = status, headers
    first, _ = visit(yard, "/api/v1/answer", "/api/v1/answer")
    assert yard.calls == 2
    assert first.content == b"short"
    assert "etag" not in first.headers


@pytest.mark.parametrize("path", ["/api/v1/stream", "/api/v1/huge", "/other"])
def test_streams_large_bodies_and_other_paths_pass_through(path):
    yard = Yard()
    first, second = visit(yard, path, path)
    assert first.status_code == 200
    assert first.content == second.content != b""
    assert yard.calls == 2


def test_a_part_of_a_body_is_asked_of_the_application():
    yard = Yard()
    visit(yard, "/api/v1/long", ("GET", "/api/v1/long", {"range": "bytes=0-1"}))
    assert yard.calls == 2


def test_text_is_compressed_once_and_named_apart():
    yard = Yard()
    plain = visit(yard, "/api/v1/long")[0]
    first, second = visit(yard, "/api/v1/long", "/api/v1/long", encoding="br;q=1, gzip;q=0.5")
    assert yard.calls == 2
    assert first.headers["content-encoding"] == second.headers["content-encoding"] == "gzip"
    assert first.content == second.content == LONG
    assert int(second.headers["content-length"]) < len(LONG) / 10
    assert second.headers["etag"] == plain.headers["etag"][:-1] + '-gzip"'
    assert len(gzip.compress(LONG, 5, mtime=0)) == int(second.headers["content-length"])


def test_an_edit_may_name_the_compressed_form_it_saw():
    yard = Yard()
    visit(yard, ("PUT", "/api/v1/long", {"if-match": '"sha256:1-gzip"'}))
    assert yard.seen_if_match == '"sha256:1"'


def test_short_answers_are_not_compressed():
    yard = Yard()
    assert "content-encoding" not in visit(yard, "/api/v1/who", encoding="gzip")[0].headers


@pytest.mark.parametrize("warm", [True, False])
def test_head_answers_as_get_without_a_body(warm):
    yard = Yard()
    if warm:
        visit(yard, "/api/v1/long")
    (answer,) = visit(yard, ("HEAD", "/api/v1/long"))
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-length"] == str(len(LONG))
    visit(yard, "/api/v1/long")
    assert yard.calls == 1


def test_head_of_a_stream_has_no_body():
    (answer,) = visit(Yard(), ("HEAD", "/api/v1/stream"))
    assert (answer.status_code, answer.content) == (200, b"")


def test_the_answers_longest_unused_make_room():
    yard = Yard(capacity=2 * (len(LONG) + 2048))
    a, b, c = (f"/api/v1/long?{name}" for name in "abc")
    visit(yard, a, b, a, c)
    assert yard.calls == 3
    visit(yard, a, c)
    assert yard.calls == 3
    visit(yard, b)
    assert yard.calls == 4


def test_the_cache_never_holds_more_than_its_capacity():
    yard = Yard(capacity=3000)
    visit(yard, "/api/v1/long", "/api/v1/long")
    assert yard.calls == 2
    assert yard.cache._bytes == 0


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (b"gzip", True),
        (b"GZIP", True),
        (b"br, gzip;q=0.1", True),
        (b"gzip;q=0", False),
        (b"gzip; q=0.000", False),
        (b"xgzip", False),
        (b"", False),
    ],
)
def test_gzip_is_used_only_for_those_who_take_it(header, expected):
    assert accepts_gzip(header) is expected


def test_tags_with_commas_inside_are_read_as_one():
    assert is_known(b'"a,b", "c"', b'"a,b"')
    assert not is_known(b'"a,b"', b'"b"')
    assert is_known(b'"x"', b'W/"x"')


@pytest.mark.parametrize("path", ["/api/v1/long", "/api/v1/stream"])
def test_a_head_is_known_by_its_route_and_person(path):
    yard = Yard()
    seen = {}

    async def outer(scope, receive, send):
        await cache(scope, receive, send)
        seen.update(scope["state"])

    cache, yard.cache = yard.cache, outer
    visit(yard, ("HEAD", path))
    assert (seen["route"], seen["person"]) == (path, "ann")
