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


FINE = httpx.Response(200, json={"data": 1})
CHANGES = ("POST", "PUT", "DELETE")


@pytest.mark.parametrize("method", CHANGES)
def test_every_change_has_a_key_of_its_own(method):
    connection, asked = answering(FINE)
    for _ in range(2):
        connection.send(method, "/skills")
    connection.upload("/skills/import", "a.skill", b"x")
    connection.get("/skills")
    keys = [request.headers.get("Idempotency-Key") for request in asked]
    assert keys[3] is None
    assert len(set(keys)) == 4


def test_a_yard_in_this_process_needs_no_keys():
    connection, asked = answering(FINE, in_process=True)
    connection.send("POST", "/skills")
    assert "Idempotency-Key" not in asked[0].headers


@pytest.mark.parametrize("method", ["GET", *CHANGES])
@pytest.mark.parametrize("lost", [httpx.ReadError("gone"), httpx.RemoteProtocolError("gone")])
def test_a_request_whose_answer_was_lost_is_sent_again_as_it_was(method, lost):
    waits = []
    connection, asked = answering(lost, lost, FINE, sleep=waits.append)
    assert connection.send(method, "/skills", body={"a": 1})["data"] == 1
    assert len({(request.headers.get("Idempotency-Key"), request.content) for request in asked}) == 1
    assert (len(asked), waits) == (3, [0.2, 1.0])
    connection, asked = answering(lost, sleep=waits.append)
    with pytest.raises(UnavailableError, match="does not answer: gone"):
        connection.send(method, "/skills")
    assert len(asked) == 3


@pytest.mark.parametrize("error", [httpx.ConnectError("refused"), httpx.ReadTimeout("slow")])
def test_a_yard_that_is_not_there_or_too_slow_is_not_asked_again(error):
    connection, asked = answering(error)
    with pytest.raises(UnavailableError):
        connection.send("POST", "/skills")
    assert len(asked) == 1


@pytest.mark.parametrize(("status", "code"), [(409, "in_progress"), (503, "busy")])
def test_a_yard_that_asks_for_a_moment_is_given_one(status, code):
    waits = []
    busy = httpx.Response(status, headers={"Retry-After": "2"}, json={"error": {"code": code, "message": "No."}})
    connection, asked = answering(httpx.ReadError("gone"), busy, FINE, sleep=waits.append)
    assert connection.send("POST", "/skills")["data"] == 1
    assert (len({request.headers["Idempotency-Key"] for request in asked}), waits) == (1, [0.2, 2.0])


@pytest.mark.parametrize(("status", "code"), [(409, "conflict"), (503, "unavailable")])
def test_a_refusal_is_not_argued_with(status, code):
    connection, asked = answering(refusal(status, code))
    with pytest.raises(SkillyardError):
        connection.send("POST", "/skills")
    assert len(asked) == 1


def test_a_connection_that_was_closed_says_so():
    connection, asked = answering(httpx.Response(200, json={"data": {}}))
    connection.close()
    with pytest.raises(UnavailableError, match=r"The connection to http://yard\.example was closed"):
        connection.get("/me")
    with pytest.raises(UnavailableError, match="was closed"), connection.stream("GET", "/events"):
        pass
    assert asked == []
