import httpx
import pytest

from skillyard.errors import (
    ConflictError,
    InputError,
    NotAllowedError,
    NotFoundError,
    SkillyardError,
    TooManyRequestsError,
    UnauthenticatedError,
    UnavailableError,
    UsageError,
)
from skillyard.remote.connection import Connection, error_of


def answering(*answers, **options):
    """A connection to a server that gives these answers in turn, and the requests that it got."""
    left, asked = list(answers), []

    def handle(request):
        asked.append(request)
        answer = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    connection = Connection("http://yard.example/", transport=httpx.MockTransport(handle), **options)
    return connection, asked


def refusal(status, code, **more):
    return httpx.Response(status, json={"success": False, "error": {"code": code, "message": "No.", **more}})


def test_a_list_is_read_page_by_page():
    connection, asked = answering(
        httpx.Response(200, json={"data": [1, 2], "next_cursor": "c"}),
        httpx.Response(200, json={"data": [3], "next_cursor": None}),
    )
    assert list(connection.pages("/skills", q=None, include_public=True)) == [1, 2, 3]
    assert [request.url.query for request in asked] == [b"include_public=true", b"include_public=true&cursor=c"]


def test_the_token_is_sent_and_only_a_real_one():
    connection, asked = answering(httpx.Response(200, json={"data": {}}), token="sky_x")
    connection.get("/me")
    assert asked[0].headers["Authorization"] == "Bearer sky_x"
    for wrong in ("two words", "line\nbreak", "ключ"):
        with pytest.raises(UsageError):
            Connection("http://yard.example", token=wrong)


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (404, "not_found", NotFoundError),
        (403, "not_allowed", NotAllowedError),
        (409, "conflict", ConflictError),
        (422, "invalid_input", InputError),
        (409, "conflict_of_tomorrow", ConflictError),
        (418, "teapot", SkillyardError),
    ],
)
def test_errors_arrive_as_if_they_were_raised_here(status, code, kind):
    connection, _ = answering(refusal(status, code, hint="Do this.", details={"field": "x"}))
    with pytest.raises(kind) as caught:
        connection.get("/me")
    assert (caught.value.code, caught.value.hint, caught.value.details) == (code, "Do this.", {"field": "x"})


def test_who_is_not_known_is_told_how_a_client_says_it():
    connection, _ = answering(refusal(401, "unauthenticated", hint="Send 'Authorization: Bearer TOKEN'."))
    with pytest.raises(UnauthenticatedError) as caught:
        connection.get("/me")
    assert "SKILLYARD_TOKEN" in caught.value.hint


def test_an_error_without_anything_in_it_is_still_one():
    assert error_of({}).exit_code == 1


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200, text="<html>"),
        httpx.Response(502, text="Bad Gateway"),
        httpx.Response(200, json=[1]),
        httpx.Response(200, json={"hello": "world"}),
        httpx.Response(301, headers={"Location": "https://yard.example/"}),
        httpx.ConnectError("refused"),
        httpx.ReadTimeout(""),
    ],
)
def test_what_is_no_yard_is_told_as_such(answer):
    connection, _ = answering(answer)
    with pytest.raises(UnavailableError) as caught:
        connection.get("/me")
    assert "yard.example" in caught.value.message


def test_a_download_that_fails_is_an_error_and_not_a_file():
    connection, _ = answering(refusal(404, "not_found"))
    with pytest.raises(NotFoundError):
        connection.download("/skills/x/export")


def test_a_yard_that_is_asked_too_often_is_asked_again_later():
    waits = []
    busy = httpx.Response(429, headers={"Retry-After": "7"}, json={"error": {"code": "rate_limited", "message": "No."}})
    connection, asked = answering(busy, busy, httpx.Response(200, json={"data": 1}), sleep=waits.append)
    assert connection.get("/me") == 1
    assert waits == [7.0, 7.0]
    connection, asked = answering(busy, sleep=waits.append)
    with pytest.raises(TooManyRequestsError):
        connection.get("/me")
    assert len(asked) == 6


@pytest.mark.parametrize("url", ["yard.example", "ftp://yard.example", "http://", "", "http://x\x00"])
def test_an_address_needs_a_scheme_and_a_host(url):
    with pytest.raises(UsageError):
        Connection(url)
