"""A server on a real socket, asked byte by byte."""

import json
import socket
import threading
from contextlib import contextmanager

import pytest
import uvicorn

from skillyard.server.limits import Patience, RequestLimits
from skillyard.server.protocol import BoundedProtocol
from skillyard.server.run import bind

LONG = 60.0
LARGE = 64 * 1024 * 1024
SOON = 0.15
HEAD = b"POST / HTTP/1.1\r\nHost: yard\r\nContent-Length: 10\r\n\r\n"
GET = b"GET / HTTP/1.1\r\nHost: yard\r\n\r\n"


async def large_answer(scope, receive, send):
    headers = [(b"content-length", b"%d" % LARGE)]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"x" * LARGE, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def length_of_body(scope, receive, send):
    """Answers with the length of the body and the names of the headers after it was read; /early reads nothing."""
    size, more = 0, scope["path"] != "/early"
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        size += len(message["body"])
        more = message["more_body"]
    body = json.dumps([size, *(name.decode() for name, _ in scope["headers"])]).encode()
    headers = [(b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@contextmanager
def serving(app=length_of_body, *, head_seconds=LONG, send_seconds=LONG, **patience):
    patience = Patience(**{"start": LONG, "idle": LONG, **patience})
    listener = bind("127.0.0.1", 0)
    config = uvicorn.Config(
        RequestLimits(app, patience=patience),
        http=type("Protocol", (BoundedProtocol,), {"head_seconds": head_seconds, "send_seconds": send_seconds}),
        ws="none",
        lifespan="off",
        log_config=None,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        with socket.create_connection(listener.getsockname(), timeout=10) as client:
            yield client
    finally:
        server.should_exit = True
        thread.join(timeout=20)
        listener.close()


def rest(client):
    """All that comes until the server hangs up."""
    found = b""
    try:
        while piece := client.recv(65536):
            found += piece
    except ConnectionResetError:
        pass
    return found


def answer(client):
    """The status and body of one answer."""
    found = b""
    while b"\r\n\r\n" not in found:
        found += client.recv(65536)
    head, _, body = found.partition(b"\r\n\r\n")
    size = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
    while len(body) < size:
        body += client.recv(65536)
    return int(head.split()[1]), json.loads(body)


def test_a_body_that_stops_coming_gets_408_and_the_end_of_the_connection():
    with serving(idle=SOON) as client:
        client.sendall(HEAD + b"x" * 9)
        told = rest(client)
        assert told.startswith(b"HTTP/1.1 408 ")
        assert b"connection: close" in told.lower()
        error = json.loads(told.partition(b"\r\n\r\n")[2])["error"]
        assert error["code"] == "limit_exceeded"
        assert error["details"]["received"] == 9


def test_a_body_that_drips_gets_408_though_it_never_stops():
    with serving(start=SOON, bytes_per_second=1_000_000) as client:
        client.sendall(b"POST / HTTP/1.1\r\nHost: yard\r\nContent-Length: 1000000\r\n\r\n")
        client.settimeout(0.01)
        told = b""
        for _ in range(1000):
            client.sendall(b"x")
            try:
                told = client.recv(65536)
            except TimeoutError:
                continue
            break
        assert told.startswith(b"HTTP/1.1 408 ")


def test_a_body_that_comes_quickly_enough_has_all_the_time_it_needs():
    patience = Patience(start=1.0, bytes_per_second=10, idle=5.0)
    assert patience.left(0, 0.0) == 1.0
    assert patience.left(20, 2.5) == 0.5
    assert patience.left(1000, 2.5) == 5.0
    assert patience.left(0, 2.0) == 0.0


def test_nobody_is_hurried_once_the_body_is_whole():
    with serving(idle=SOON, start=SOON) as client:
        for _ in range(2):
            client.sendall(HEAD + b"x" * 10)
            assert answer(client)[1][0] == 10


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost:"], ids=["nothing", "half a head"])
def test_a_head_that_does_not_come_ends_the_connection(sent):
    with serving(head_seconds=SOON) as client:
        client.sendall(sent)
        assert rest(client) == b""


def test_a_second_head_has_no_more_time_than_the_first():
    with serving(head_seconds=SOON) as client:
        client.sendall(GET)
        assert answer(client)[0] == 200
        client.sendall(b"GET / HTTP/1.1\r\n")
        assert rest(client) == b""


def test_the_rest_of_a_body_that_nobody_reads_is_not_waited_for():
    with serving(head_seconds=SOON) as client:
        client.sendall(HEAD.replace(b"POST /", b"POST /early"))
        assert answer(client)[0] == 200
        client.sendall(b"x")
        assert rest(client) == b""


def test_a_head_without_end_is_not_kept():
    with serving() as client:
        client.sendall(b"GET / HTTP/1.1\r\nx: ")
        with pytest.raises(ConnectionError):
            client.sendall(b"x" * (64 * 1024 * 1024))


def test_a_head_just_below_that_is_refused_by_name():
    with serving() as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: yard\r\nx: " + b"x" * 100_000 + b"\r\n\r\n")
        assert answer(client)[0] == 431


CHUNKED = b"POST / HTTP/1.1\r\nHost: yard\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n"


def test_what_follows_a_body_is_no_header():
    with serving() as client:
        client.sendall(CHUNKED + b"Authorization: Bearer late\r\n\r\n")
        assert answer(client) == (200, [1, "host", "transfer-encoding"])


def test_what_follows_a_body_has_an_end():
    with serving() as client:
        client.sendall(CHUNKED)
        with pytest.raises(ConnectionError):
            client.sendall((b"x: " + b"x" * 1024 + b"\r\n") * 64 * 1024)


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="this system cannot tell")
def test_an_answer_that_nobody_takes_is_given_up():
    over = threading.Event()

    async def app(scope, receive, send):
        await large_answer(scope, receive, send)
        over.set()

    with serving(app, send_seconds=SOON) as client:
        client.sendall(GET)
        assert over.wait(timeout=20)
