"""The host's end of the stream: nothing that comes from a guest hangs it, fills it or gets past it."""

import asyncio
import json
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.errors import SandboxDiedError, SandboxFaultError, SkillyardError
from skillyard.sandbox.guest.frames import (
    CANCEL,
    CREDIT,
    DATA,
    ERR,
    EXTRA,
    FIRST_CONNECTION,
    HEADER,
    HELLO,
    MAX_CONNECTIONS,
    MAX_DATA,
    OPEN,
    OUT,
    REQUEST,
    RESULT,
    VERSION,
    WINDOW,
    Parser,
    pack,
    pack_credit,
    pack_document,
)
from skillyard.sandbox.link import guest_link, guest_session
from skillyard.sandbox.link.guest_session import GuestSession
from skillyard.sandbox.place import Limits
from skillyard.sandbox.session import Command

HELLO_FRAME = pack_document(HELLO, 0, {"version": VERSION})


class Wire:
    """A transport whose other end is the test."""

    def __init__(self, *pieces):
        self._incoming = asyncio.Queue()
        self.written = b""
        self.closed = False
        self.seen = asyncio.Event()
        for piece in pieces:
            self.say(piece)

    def say(self, data):
        self._incoming.put_nowait(data)

    async def read(self, n):
        return await self._incoming.get()

    def write(self, data):
        self.written += data
        self.seen.set()

    async def drain(self):
        pass

    async def close(self):
        self.closed = True

    @property
    def frames(self):
        return Parser(1 << 30).feed(self.written)


class Ended:
    def __init__(self):
        self.count = 0

    async def __call__(self):
        self.count += 1


async def opened(wire, *, proxy=None, limits=None):
    ended = Ended()
    session = await GuestSession.open(wire, limits=limits or Limits(), proxy=proxy, on_close=ended)
    return session, ended


def run(function, *args, **kwargs):
    """Run it, and fail when it takes long: nothing here waits for anything real."""

    async def bounded():
        async with asyncio.timeout(60):
            await function(*args, **kwargs)

    asyncio.run(bounded())


async def gone(session):
    while session.alive:  # noqa: ASYNC110 - whoever ends it tells nobody but those who ask
        await asyncio.sleep(0.001)


async def asked(session, *answer):
    """Ask for a run, and let the guest say something as its answer."""
    task = asyncio.create_task(session.run(Command(argv=["true"])))
    await session._link._transport.seen.wait()
    for piece in answer:
        session._link._transport.say(piece)
    return await task


RESULT_FRAME = pack_document(RESULT, 1, {"ok": True, "ending": "exited", "exit_code": 0})

VIOLATIONS = {
    "too long": HEADER.pack(MAX_DATA + 1, DATA, OUT, 1),
    "far too long": HEADER.pack(2**32 - 1, DATA, OUT, 1),
    "unknown kind": pack(77, 1),
    "a request from the guest": pack(REQUEST, 1, b"{}"),
    "a second hello": HELLO_FRAME,
    "no JSON": pack(RESULT, 1, b"{"),
    "no object": pack(RESULT, 1, b"[]"),
    "deep JSON": pack(RESULT, 1, b"[" * 60_000),
    "not UTF-8": pack(RESULT, 1, b'{"a": "\xff"}'),
    "an unknown channel": pack(DATA, 2, b"x", OUT),
    "a result for nobody": pack_document(RESULT, 7, {}),
    "two results": RESULT_FRAME + RESULT_FRAME,
    "an unknown stream": pack(DATA, 1, b"x", 9),
    "empty data": pack(DATA, 1, b"", OUT),
    "more than the window": pack(DATA, 1, b"x" * MAX_DATA, OUT) * (WINDOW // MAX_DATA * 100),
    "credit that was not used": pack_credit(1, 1),
    "no credit": pack_credit(1, 0),
    "credit of the wrong size": pack(CREDIT, 1, b"x"),
    "a cancel from the guest": pack(CANCEL, 1),
    "a connection without a proxy": pack(OPEN, FIRST_CONNECTION),
    "data of no connection": pack(DATA, FIRST_CONNECTION, b"x"),
}


@pytest.mark.parametrize("said", VIOLATIONS.values(), ids=VIOLATIONS.keys())
def test_a_guest_that_breaks_the_protocol_is_ended_and_every_call_told(said):
    async def scenario():
        wire = Wire(HELLO_FRAME)
        session, ended = await opened(wire, limits=Limits(output_bytes=1_000_000))
        if said == VIOLATIONS["two results"]:
            await asked(session, said)
            await gone(session)
        else:
            with pytest.raises(SandboxDiedError, match="broke the protocol"):
                await asked(session, said)
        assert not session.alive
        with pytest.raises(SandboxDiedError):
            await session.stats()
        await session.close()
        assert (ended.count, wire.closed) == (1, True)

    run(scenario)


@pytest.mark.parametrize(
    "hello", [pack_document(HELLO, 0, {"version": 99}), pack(DATA, 1, b"x", OUT), b"HTTP/1.1 200 OK\r\n", b""]
)
def test_a_stream_that_does_not_begin_as_it_should_is_no_sandbox(hello):
    async def scenario():
        ended = Ended()
        with pytest.raises(SandboxDiedError):
            await GuestSession.open(Wire(hello), limits=Limits(), proxy=None, on_close=ended)
        assert ended.count == 1

    run(scenario)


def test_a_guest_that_never_begins_is_given_up(monkeypatch):
    monkeypatch.setattr(guest_session, "_START_SECONDS", 0.01)

    async def scenario():
        ended = Ended()
        with pytest.raises(SandboxDiedError, match="did not answer"):
            await GuestSession.open(Wire(), limits=Limits(), proxy=None, on_close=ended)
        assert ended.count == 1

    run(scenario)


@pytest.mark.parametrize(
    "ask",
    [
        lambda session: session.run(Command(argv=["true"], timeout=0.001)),
        lambda session: session.run(Command(argv=["true"], timeout=0.001, stdin=b"x" * WINDOW * 3)),
        lambda session: session.python("1", seconds=0.001),
        lambda session: session.read_file("a"),
        lambda session: session.list_folder(),
        lambda session: session.put_tar(b"x" * WINDOW * 3),
        lambda session: anext(aiter(session.get_tar())),
        lambda session: session.digests(["a"]),
    ],
)
def test_a_guest_that_does_not_answer_is_ended_at_the_deadline(monkeypatch, ask):
    for name in ("_GRACE_SECONDS", "_FILE_SECONDS", "_TRANSFER_SECONDS", "_PIECE_SECONDS"):
        monkeypatch.setattr(guest_session, name, 0.02)
    monkeypatch.setattr(GuestSession._ask, "__kwdefaults__", {"receive": None, "max_bytes": 0, "seconds": 0.02})
    monkeypatch.setattr(GuestSession._fetch, "__kwdefaults__", {"seconds": 0.02})

    async def scenario():
        session, ended = await opened(Wire(HELLO_FRAME))
        with pytest.raises(SandboxDiedError, match="did not answer"):
            await ask(session)
        assert (session.alive, ended.count) == (False, 1)

    run(scenario)


def test_a_call_that_does_not_end_after_its_cancelling_ends_the_sandbox(monkeypatch):
    monkeypatch.setattr(guest_link, "_LINGER_SECONDS", 0.01)

    async def scenario():
        wire = Wire(HELLO_FRAME)
        session, ended = await opened(wire)
        task = asyncio.create_task(session.run(Command(argv=["true"])))
        await wire.seen.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert wire.frames[-1].kind == CANCEL
        await gone(session)
        await session.close()
        assert ended.count == 1

    run(scenario)


def test_what_a_cancelled_call_still_says_is_dropped():
    async def scenario():
        wire = Wire(HELLO_FRAME)
        session, _ = await opened(wire)
        task = asyncio.create_task(session.run(Command(argv=["true"])))
        await wire.seen.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        wire.say(pack(DATA, 1, b"late", OUT) + RESULT_FRAME)
        wire.seen.clear()
        again = asyncio.create_task(session.run(Command(argv=["true"])))
        await wire.seen.wait()
        wire.say(pack_document(RESULT, 2, {"ok": True, "ending": "exited", "exit_code": 0}))
        assert (await again).stdout == b""
        await session.close()

    run(scenario)


def test_the_end_of_the_guest_is_told_to_all_calls_at_once():
    async def scenario():
        wire = Wire(HELLO_FRAME)
        session, ended = await opened(wire)
        calls = [asyncio.create_task(session.run(Command(argv=["true"]))) for _ in range(5)]
        calls += [asyncio.create_task(session.python("1")) for _ in range(5)]
        await wire.seen.wait()
        wire.say(b"")
        answers = await asyncio.gather(*calls, return_exceptions=True)
        assert [type(answer) for answer in answers] == [SandboxDiedError] * 10
        await session.close()
        assert ended.count == 1

    run(scenario)


def test_an_error_while_ending_is_logged_and_hides_nothing(caplog):
    async def failing():
        raise RuntimeError("cannot be ended")

    async def scenario():
        session = await GuestSession.open(Wire(HELLO_FRAME), limits=Limits(), proxy=None, on_close=failing)
        await session.close()
        assert not session.alive

    with caplog.at_level(logging.ERROR):
        run(scenario)
    assert "sandbox.close.failed" in caplog.text


@pytest.mark.parametrize("said", [10**30, -1, 256, "0", 1.0, None])
def test_an_exit_code_that_is_none_is_not_believed(said):
    async def scenario():
        wire = Wire(HELLO_FRAME)
        session, _ = await opened(wire)
        task = asyncio.create_task(session.run(Command(argv=["true"])))
        await asyncio.sleep(0)
        wire.say(pack_document(RESULT, 1, {"ok": True, "ending": "exited", "exit_code": said}))
        assert (await task).exit_code is None
        await session.close()

    run(scenario)


STRANGE = [None, 0, -1, 1.5, 10**30, True, "", "x", [], {}, ["x"], {"ok": True}]


@pytest.mark.parametrize("value", STRANGE)
def test_answers_of_any_shape_are_read_or_refused(value):
    strange = {
        "ok": True,
        **dict.fromkeys(("ending", "exit_code", "truncated", "success", "count", "processes"), value),
    }
    more = {"memory_bytes": value, "disk_bytes": value, "cpu_seconds": value, "target": value, "code": value}
    listing = json.dumps(value).encode() + b"\n"

    async def scenario():
        wire = Wire(HELLO_FRAME)
        session, _ = await opened(wire)
        number = 0
        calls = [
            lambda: session.run(Command(argv=["true"])),
            lambda: session.python("1"),
            session.stats,
            lambda: session.digests(["a"]),
            session.list_folder,
        ]
        for call in calls:
            for ok in (True, value):
                number += 1
                task = asyncio.create_task(call())
                await asyncio.sleep(0)
                wire.say(pack(DATA, number, listing, EXTRA))
                wire.say(pack_document(RESULT, number, {**strange, **more, "ok": ok, "message": value}))
                try:
                    await task
                except SandboxDiedError:
                    # More than it may say: then this sandbox is gone, and a new one hears the rest.
                    wire = Wire(HELLO_FRAME)
                    session, _ = await opened(wire)
                    number = 0
                except SkillyardError:
                    pass  # refused, in so many words
        await session.close()

    run(scenario)


def test_a_refusal_of_an_unknown_kind_is_a_fault_of_the_sandbox():
    async def scenario():
        session, _ = await opened(Wire(HELLO_FRAME))
        with pytest.raises(SandboxFaultError, match="strange"):
            await asked(session, pack_document(RESULT, 1, {"ok": False, "code": "?", "message": "strange"}))
        await session.close()

    run(scenario)


async def archived(session):
    return [piece async for piece in session.get_tar()]


frames_said = st.builds(
    lambda kind, stream, channel, payload: pack(kind, channel, payload, stream),
    st.integers(0, 11),
    st.integers(0, 4),
    st.sampled_from([0, 1, 2, 3, FIRST_CONNECTION, FIRST_CONNECTION + 1, 2**32 - 1]),
    st.one_of(
        st.binary(max_size=40),
        st.sampled_from([b"{}", b'{"ok":true}', b'{"ok":true,"ending":"exited"}', b"\0\0\0\1", b"\0\1\0\0", b"[]"]),
    ),
)


@given(st.lists(st.one_of(frames_said, st.binary(max_size=60)), max_size=30), st.integers(1, 200))
def test_whatever_a_guest_says_every_call_ends_and_the_sandbox_with_it(said, size):
    async def echo(reader, writer):
        while data := await reader.read(100):
            writer.write(data)
            await writer.drain()

    async def scenario():
        wire = Wire(HELLO_FRAME)
        session, ended = await opened(wire, proxy=echo)
        asked = (session.run(Command(argv=["x"])), session.read_file("a"), archived(session))
        calls = [asyncio.create_task(call) for call in asked]
        await wire.seen.wait()
        stream = b"".join(said)
        for at in range(0, len(stream), size):
            wire.say(stream[at : at + size])
        wire.say(b"")
        answers = await asyncio.gather(*calls, return_exceptions=True)
        assert all(not isinstance(answer, Exception) or hasattr(answer, "code") for answer in answers)
        await session.close()
        assert (session.alive, ended.count) == (False, 1)

    run(scenario)


def test_connections_beyond_the_bound_end_the_sandbox():
    async def silent(reader, _writer):
        await reader.read()

    async def scenario():
        opening = b"".join(pack(OPEN, FIRST_CONNECTION + number) for number in range(MAX_CONNECTIONS + 1))
        session, _ = await opened(Wire(HELLO_FRAME, opening), proxy=silent)
        await gone(session)
        await session.close()

    run(scenario)


def test_errors_are_not_output():
    async def scenario():
        session, _ = await opened(Wire(HELLO_FRAME))
        outcome = await asked(session, pack(DATA, 1, b"out", OUT) + pack(DATA, 1, b"err", ERR) + RESULT_FRAME)
        assert (outcome.stdout, outcome.stderr, outcome.success) == (b"out", b"err", True)
        await session.close()

    run(scenario)
