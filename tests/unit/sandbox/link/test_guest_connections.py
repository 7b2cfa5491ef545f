import asyncio

import pytest

from skillyard.sandbox.guest.frames import (
    CLOSE,
    CREDIT,
    DATA,
    END,
    FIRST_CONNECTION,
    MAX_DATA,
    WINDOW,
    FrameError,
    Parser,
)
from skillyard.sandbox.link.connections import Connection


class Sent:
    """What went to the guest."""

    def __init__(self):
        self._stream = b""

    def __call__(self, data):
        self._stream += data

    @property
    def frames(self):
        return Parser(1 << 20).feed(self._stream)

    @property
    def kinds(self):
        return [frame.kind for frame in self.frames]

    @property
    def data(self):
        return b"".join(frame.payload for frame in self.frames if frame.kind == DATA)

    @property
    def credit(self):
        return sum(int.from_bytes(frame.payload, "big") for frame in self.frames if frame.kind == CREDIT)


async def settled():
    """Let everything that can go on do so."""
    for _ in range(50):
        await asyncio.sleep(0)


def run(scenario):
    asyncio.run(scenario())


def test_what_comes_is_read_no_faster_than_its_handler_takes_it():
    async def scenario():
        go = asyncio.Event()
        got = []

        async def slow(reader, _writer):
            await go.wait()
            while data := await reader.read(MAX_DATA):
                got.append(data)

        sent = Sent()
        connection = Connection(FIRST_CONNECTION, slow, sent)
        for _ in range(WINDOW // MAX_DATA):
            connection.received(b"x" * MAX_DATA)
        await settled()
        assert sent.credit < WINDOW
        go.set()
        await settled()
        assert sent.credit == WINDOW == len(b"".join(got))
        connection.ended()
        await settled()
        assert sent.kinds[-2:] == [END, CLOSE]
        assert not connection.over
        connection.peer_closed()
        assert connection.over

    run(scenario)


def test_what_is_written_waits_for_room_and_the_writer_with_it():
    async def scenario():
        written = []

        async def much(_reader, writer):
            for _ in range(20):
                writer.write(b"y" * MAX_DATA)
                written.append(MAX_DATA)
                await writer.drain()

        sent = Sent()
        connection = Connection(FIRST_CONNECTION, much, sent)
        await settled()
        assert len(sent.data) == WINDOW
        assert sum(written) < 20 * MAX_DATA
        for _ in range(20 * MAX_DATA // WINDOW - 1):
            connection.credited(WINDOW)
            await settled()
        assert len(sent.data) == 20 * MAX_DATA
        assert sent.kinds[-2:] == [END, CLOSE]

    run(scenario)


def test_a_connection_closed_inside_ends_its_handler():
    async def scenario():
        met = []

        async def endless(_reader, writer):
            try:
                while True:
                    writer.write(b"z" * MAX_DATA)
                    await writer.drain()
            except ConnectionResetError as error:
                met.append(error)

        sent = Sent()
        connection = Connection(FIRST_CONNECTION, endless, sent)
        await settled()
        connection.peer_closed()
        await settled()
        assert len(met) == 1
        assert connection.task.done()
        assert sent.kinds.count(CLOSE) == 1

    run(scenario)


def test_an_error_of_a_handler_closes_its_connection_and_no_more(caplog):
    async def failing(_reader, _writer):
        raise ValueError("of the handler")

    async def scenario():
        sent = Sent()
        Connection(FIRST_CONNECTION, failing, sent)
        await settled()
        assert sent.kinds == [END, CLOSE]

    run(scenario)
    assert "sandbox.proxy.failed" in caplog.text


@pytest.mark.parametrize(
    "violate",
    [
        lambda connection: connection.received(b""),
        lambda connection: [connection.received(b"x" * MAX_DATA) for _ in range(20)],
        lambda connection: (connection.ended(), connection.received(b"x")),
        lambda connection: (connection.ended(), connection.ended()),
        lambda connection: connection.credited(1),
        lambda connection: connection.credited(0),
    ],
)
def test_a_guest_that_does_not_keep_to_the_rules_is_found_out(violate):
    async def idle(_reader, _writer):
        await asyncio.Event().wait()

    async def scenario():
        connection = Connection(FIRST_CONNECTION, idle, Sent())
        with pytest.raises(FrameError):
            violate(connection)
        connection.task.cancel()

    run(scenario)
