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


def test_an_application_is_opened_once_asked_often_and_closed():
    told = []
    with httpx.Client(base_url="http://here", transport=InProcess(opening(told))) as client:
        assert told == []
        assert client.post("/a", content=b"x").text == "/a x"
        assert client.get("/b").text == "/b "
        assert told == ["opened"]
    assert told == ["opened", "closed"]
    assert "yard" not in {thread.name for thread in threading.enumerate()}


def test_one_that_was_never_asked_was_never_opened():
    told = []
    InProcess(opening(told)).close()
    assert told == []


def test_what_goes_wrong_while_opening_is_told_to_whoever_asked():
    transport = InProcess(opening([], fails=True))
    with httpx.Client(base_url="http://here", transport=transport) as client, pytest.raises(RuntimeError, match="disk"):
        client.get("/a")
    assert "yard" not in {thread.name for thread in threading.enumerate()}
