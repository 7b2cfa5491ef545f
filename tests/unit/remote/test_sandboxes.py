"""The client of `/v1`: its errors as our own, and runs that are followed."""

import json

import httpx
import pytest

from skillyard.errors import (
    ConflictError,
    FileMissingError,
    InputError,
    NotAllowedError,
    QuotaError,
    SandboxExpiredError,
    SandboxFaultError,
    SkillyardError,
    UnauthenticatedError,
    UnavailableError,
)
from skillyard.remote.connection import Connection
from skillyard.remote.sandboxes import SandboxClient


def answering(*answers, **options):
    """A client of a server that gives these answers in turn, and the requests that it got."""
    left, asked = list(answers), []

    def handle(request):
        asked.append(request)
        answer = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    transport = httpx.MockTransport(handle)
    return SandboxClient(Connection("http://yard.example", transport=transport, sleep=lambda _: None, **options)), asked


def refusal(status, code, headers=None, **more):
    error = {"code": code, "message": "No.", "request_id": "r", "details": {"field": "x"}, **more}
    return httpx.Response(status, json={"error": error}, headers=headers)


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (400, "validation_error", InputError),
        (401, "unauthorized", UnauthenticatedError),
        (403, "forbidden", NotAllowedError),
        (404, "file_not_found", FileMissingError),
        (409, "sandbox_expired", SandboxExpiredError),
        (429, "quota_exceeded", QuotaError),
        (502, "ship_error", SandboxFaultError),
        (500, "internal_error", SkillyardError),
    ],
)
def test_errors_arrive_as_if_they_were_raised_here(status, code, kind):
    client, asked = answering(refusal(status, code, hint="Do this."))
    for call in (lambda: client.get("x"), lambda: client.delete("x"), lambda: client.shell("x", "y", on_output=print)):
        with pytest.raises(SkillyardError) as caught:
            call()
        assert type(caught.value) is kind
        assert caught.value.details == {"field": "x"}
        assert caught.value.hint
    assert len(asked) == 3


def test_an_error_without_a_hint_is_still_one():
    client, _ = answering(refusal(409, "conflict"))
    with pytest.raises(ConflictError) as caught:
        client.stop("x")
    assert caught.value.hint == ""


@pytest.mark.parametrize(("status", "code"), [(429, "quota_exceeded"), (409, "conflict")])
def test_only_a_yard_that_says_when_is_asked_again(status, code):
    client, asked = answering(refusal(status, code, {"Retry-After": "1"}), httpx.Response(200, json={"id": "x"}))
    assert client.get("x") == {"id": "x"}
    assert len(asked) == 2


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200, text="<html>"),
        httpx.Response(502, text="Bad Gateway"),
        httpx.Response(500, json={"hello": "world"}),
        httpx.Response(301, headers={"Location": "https://yard.example/"}),
        httpx.ConnectError("refused"),
    ],
)
def test_what_is_no_yard_is_told_as_such(answer):
    client, _ = answering(answer)
    with pytest.raises(UnavailableError):
        client.get("x")
    with pytest.raises(UnavailableError):
        client.shell("x", "y", on_output=print)


def test_ids_cannot_lead_elsewhere():
    client, asked = answering(httpx.Response(200, json={}))
    client.get("../cargos/x?y")
    assert asked[0].url.raw_path == b"/v1/sandboxes/..%2Fcargos%2Fx%3Fy"


def test_a_list_is_read_page_by_page():
    client, asked = answering(
        httpx.Response(200, json={"items": [1, 2], "next_cursor": "c"}),
        httpx.Response(200, json={"items": [3], "next_cursor": None}),
    )
    assert list(client.all(status="ready")) == [1, 2, 3]
    assert [request.url.query for request in asked] == [b"status=ready&limit=200", b"status=ready&limit=200&cursor=c"]


def test_only_what_is_asked_for_is_sent():
    client, asked = answering(httpx.Response(201, json={"id": "x"}))
    client.create()
    client.create(ttl=0, allow=["https://example.org"], isolation=("files",))
    assert [json.loads(request.content) for request in asked] == [
        {},
        {"ttl": 0, "network": {"allow": ["https://example.org"]}, "isolation": ["files"]},
    ]


def followed(*documents):
    return httpx.Response(200, content=b"".join(json.dumps(one).encode() + b"\n" for one in documents))


def test_a_run_is_followed_without_a_key_and_waited_for_with_one():
    client, asked = answering(
        followed({"stream": "stdout", "text": "a\u2028b"}, {"stream": "stderr", "text": "c"}, {"result": {"ok": 1}})
    )
    told = []
    assert client.shell("x", "y", cwd="z", on_output=lambda *piece: told.append(piece)) == {"ok": 1}
    assert told == [("stdout", "a\u2028b"), ("stderr", "c")]
    assert asked[0].url.path == "/v1/sandboxes/x/shell/stream"
    assert "Idempotency-Key" not in asked[0].headers
    client, asked = answering(httpx.Response(200, json={"ok": 2}))
    assert client.python("x", "y") == {"ok": 2}
    assert asked[0].url.path == "/v1/sandboxes/x/python/exec"
    assert "Idempotency-Key" in asked[0].headers


def test_a_run_that_is_silent_is_heard_of_all_the_same():
    told = []
    client, _ = answering(httpx.Response(200, content=b'\n{"result": {"ok": 1}}\n'))
    assert client.shell("x", "y", on_output=lambda *piece: told.append(piece)) == {"ok": 1}
    assert told == [("stdout", "")]


def test_an_error_on_the_way_is_raised():
    client, _ = answering(
        followed({"stream": "stdout", "text": "a"}, {"error": {"code": "ship_error", "message": "No.", "details": {}}})
    )
    with pytest.raises(SandboxFaultError):
        client.python("x", "y", on_output=lambda *_: None)


def test_a_run_whose_end_is_missing_did_not_succeed():
    client, _ = answering(followed({"stream": "stdout", "text": "a"}))
    with pytest.raises(UnavailableError, match="went away"):
        client.shell("x", "y", on_output=lambda *_: None)
