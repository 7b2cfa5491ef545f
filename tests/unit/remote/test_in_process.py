import asyncio
import threading
from contextlib import asynccontextmanager

import httpx
import pytest

from skillyard.remote.in_process import InProcess


async def echo(scope, receive, send):
    body = (await receive())["body"]
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": scope["path"].encode() + b" " + body})


def opening(told, *, fails=False):
    @asynccontextmanager
    async def application():
        told.append("opened")
        if fails:
            raise RuntimeError("no disk")
        try:
            yield echo
        finally:
            told.append("closed")

    return application


def serving(application):
    @asynccontextmanager
    async def opened():
        yield application

    return opened


def threads_of_yards():
    return {thread for thread in threading.enumerate() if thread.name == "yard"}


def test_an_application_is_opened_once_asked_often_and_closed():
    told = []
    before = threads_of_yards()
    with httpx.Client(base_url="http://here", transport=InProcess(opening(told))) as client:
        assert told == []
        assert client.post("/a", content=b"x").text == "/a x"
        assert client.get("/b").text == "/b "
        assert told == ["opened"]
    assert told == ["opened", "closed"]
    assert threads_of_yards() <= before


def test_one_that_was_never_asked_was_never_opened():
    told = []
    InProcess(opening(told)).close()
    assert told == []


def test_what_goes_wrong_while_opening_is_told_to_whoever_asked():
    before = threads_of_yards()
    transport = InProcess(opening([], fails=True))
    with httpx.Client(base_url="http://here", transport=transport) as client, pytest.raises(RuntimeError, match="disk"):
        client.get("/a")
    assert threads_of_yards() <= before


def test_an_answer_comes_piece_by_piece():
    """The second piece is sent only once the first was read: nothing waits for the whole."""
    go_on = threading.Event()

    async def slow(_scope, _receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"one", "more_body": True})
        assert await asyncio.to_thread(go_on.wait, 10)
        await send({"type": "http.response.body", "body": b"two"})

    with (
        httpx.Client(base_url="http://here", transport=InProcess(serving(slow))) as client,
        client.stream("GET", "/a") as answer,
    ):
        parts = answer.iter_raw()
        assert next(parts) == b"one"
        go_on.set()
        assert b"".join(parts) == b"two"


def test_an_answer_that_nobody_reads_on_is_given_up():
    given_up = threading.Event()

    async def endless(_scope, _receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        try:
            while True:
                await send({"type": "http.response.body", "body": b"more", "more_body": True})
                await asyncio.sleep(0)
        except asyncio.CancelledError:
            given_up.set()
            raise

    with httpx.Client(base_url="http://here", transport=InProcess(serving(endless))) as client:
        with client.stream("GET", "/a") as answer:
            assert next(answer.iter_raw()) == b"more"
        assert given_up.wait(10)


def test_what_goes_wrong_in_the_middle_of_an_answer_is_told():
    async def breaking(_scope, _receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise RuntimeError("no disk")

    client = httpx.Client(base_url="http://here", transport=InProcess(serving(breaking)))
    with client, pytest.raises(RuntimeError, match="disk"):
        client.get("/a")


def test_what_was_given_up_is_finished_before_the_application_is_closed():
    told = []

    async def writing(_scope, _receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        try:
            await send({"type": "http.response.body", "body": b"one", "more_body": True})
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.05)
            told.append("written down")

    @asynccontextmanager
    async def opened():
        yield writing
        told.append("closed")

    with (
        httpx.Client(base_url="http://here", transport=InProcess(opened)) as client,
        client.stream("GET", "/a") as answer,
    ):
        next(answer.iter_raw())
    assert told == ["written down", "closed"]
