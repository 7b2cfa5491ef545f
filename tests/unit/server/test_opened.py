from contextlib import asynccontextmanager

import pytest

from skillyard.errors import UnavailableError
from skillyard.server.opened import Opened

pytestmark = pytest.mark.anyio


class Inner:
    def __init__(self, log):
        self.log = log

    async def __call__(self, scope, receive, send):
        self.log.append(scope["type"])

    def close(self):
        self.log.append("close")


def opening(log, *, before=None, after=None):
    @asynccontextmanager
    async def _opening():
        if before:
            raise before
        log.append("open")
        yield Inner(log)
        log.append("closed")
        if after:
            raise after

    return _opening


async def live(app, sent):

    async def receive():
        if sent:
            await app({"type": "http"}, None, None)
            app.stop()
        return {"type": "lifespan"}

    async def send(message):
        sent.append(message["type"])

    await app({"type": "lifespan"}, receive, send)


async def test_the_application_lives_from_start_to_stop():
    log = []
    app = Opened(opening(log))
    sent = []
    await live(app, sent)
    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
    assert log == ["open", "http", "close", "closed"]
    assert app.failure is None


async def test_what_keeps_it_from_starting_is_kept_for_whoever_started_it():
    error = UnavailableError("The database did not answer.")
    app = Opened(opening([], before=error))
    sent = []
    with pytest.raises(UnavailableError):
        await live(app, sent)
    assert sent == ["lifespan.startup.failed"]
    assert app.failure is error
    app.stop()


async def test_what_fails_at_the_end_is_kept_too():
    error = UnavailableError("The disk is full.")
    app = Opened(opening([], after=error))
    sent = []
    with pytest.raises(UnavailableError):
        await live(app, sent)
    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.failed"]
    assert app.failure is error


async def test_before_the_start_nothing_is_answered():
    with pytest.raises(RuntimeError):
        await Opened(opening([]))({"type": "http"}, None, None)
