import asyncio

import httpx
import pytest
from fastapi import FastAPI, Request

from skillyard.server.errors import install_error_handlers
from skillyard.server.limits import MAX_HEADERS, MAX_TARGET, RequestLimits


def send(method, path, **request):
    app = FastAPI()
    install_error_handlers(app)

    @app.post("/raw")
    async def raw(request: Request) -> int:
        return len(await request.body())

    @app.post("/json")
    async def parsed(body: dict[str, str]) -> int:
        return len(body)

    @app.get("/{path:path}")
    async def read(path: str) -> str:
        return path

    async def go():
        transport = httpx.ASGITransport(RequestLimits(app, max_body=1000))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await client.request(method, path, **request)

    return asyncio.run(go())


async def chunks(count):
    for _ in range(count):
        yield b"x" * 100


def test_a_body_at_the_limit_passes():
    assert send("POST", "/raw", content=b"x" * 1000).json() == 1000
    assert send("POST", "/raw", content=chunks(10)).json() == 1000


@pytest.mark.parametrize("content", [b"x" * 1001, chunks(11)], ids=["announced", "streamed"])
@pytest.mark.parametrize("path", ["/raw", "/json"])
def test_a_larger_body_is_refused_and_the_limit_named(path, content):
    if not isinstance(content, bytes):
        content = chunks(11)
    answer = send("POST", path, content=content, headers={"content-type": "application/json"})
    assert answer.status_code == 413
    assert answer.json()["error"]["code"] == "limit_exceeded"
    assert answer.json()["error"]["details"] == {"limit": 1000}


@pytest.mark.parametrize(
    ("path", "advice"),
    [
        ("/api/v1/skills", "leave out files"),
        ("/learning/upload", "Split the file; what came before"),
        ("/api/v1/feedback/import", "Split the file; what came before"),
        ("/v1/sandboxes/s/files", "as a file"),
    ],
)
def test_who_sends_too_much_is_told_what_to_do_about_what_was_sent(path, advice):
    assert advice in send("POST", path, content=b"x" * 1001).json()["error"]["hint"]


def test_a_lie_about_the_length_does_not_help():
    answer = send("POST", "/raw", content=chunks(11), headers={"content-length": "5"})
    assert answer.status_code == 413


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/" + "a" * MAX_TARGET, 414, "limit_exceeded"),
        ("/a?q=" + "a" * MAX_TARGET, 414, "limit_exceeded"),
        ("/a%00b", 422, "invalid_input"),
        ("/a?q=%00", 422, "invalid_input"),
    ],
)
def test_odd_targets_are_refused(path, status, code):
    answer = send("GET", path)
    assert answer.status_code == status
    assert answer.json()["error"]["code"] == code


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([(f"x-{number}", "1") for number in range(MAX_HEADERS + 1)], 431),
        ([("x-long", "a" * 40_000)], 431),
        ([("authorization", "a"), ("authorization", "b")], 400),
        ([("idempotency-key", "a"), ("idempotency-key", "a")], 400),
        ([("origin", "http://a"), ("origin", "http://b")], 400),
        ([("sec-fetch-site", "same-origin"), ("sec-fetch-site", "none")], 400),
        ([("host", "yard.test/x?y=")], 400),
        ([("host", "ana@yard.test")], 400),
        ([("host", '"><script>')], 400),
        ([("host", "[::1")], 400),
        ([("content-length", "ten")], 400),
        ([("content-length", "9" * 5000)], 413),
    ],
)
def test_odd_headers_are_refused(headers, status):
    answer = send("GET", "/a", headers=headers)
    assert answer.status_code == status
    assert answer.json()["success"] is False


@pytest.mark.parametrize(
    "host", ["yard.test", "yard.test:8321", "my_yard", "[::1]:80", "127.0.0.1", "xn--dcken-lva.de."]
)
def test_every_way_to_name_a_host_is_taken(host):
    assert send("GET", "/a", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(("charset", "status"), [("punycode", 422), ('"UTF-7"', 422), ("utf-8", 200), ('"UTF-8"', 200)])
def test_a_form_in_another_charset_is_refused_unread(charset, status):
    kind = f"multipart/form-data; boundary=x; charset={charset}"
    answer = send("POST", "/raw", content=b"--x--", headers={"content-type": kind})
    assert answer.status_code == status
