import asyncio

import pytest

from skillyard.errors import UnavailableError
from skillyard.sandbox.docker.host import DockerHost
from skillyard.sandbox.docker.stream import DockerStream, attach

pytestmark = pytest.mark.anyio


@pytest.fixture
async def daemon(tmp_path):
    """Starts something that answers every connection with the same bytes after it was asked."""
    servers = []

    async def start(answer, *, then_close=True):
        async def serve(reader, writer):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answer)
            if not then_close:
                await reader.read()
            writer.close()

        path = tmp_path / f"{len(servers)}.sock"
        servers.append(await asyncio.start_unix_server(serve, path))
        return DockerHost(url=f"unix://{path}")

    yield start
    for server in servers:
        server.close()


def stream_of(data):
    reader = asyncio.StreamReader()
    reader.feed_data(data)
    reader.feed_eof()
    return DockerStream(reader, None)


def frame(kind, data):
    return bytes([kind, 0, 0, 0]) + len(data).to_bytes(4, "big") + data


async def test_what_is_read_is_stdout_and_stderr_is_kept_apart():
    stream = stream_of(frame(1, b"one") + frame(2, b"oh no\n") + frame(1, b"") + frame(1, b"two"))
    assert [await stream.read(100), await stream.read(100), await stream.read(100)] == [b"one", b"two", b""]
    assert stream.diagnostics == "oh no"


async def test_a_frame_comes_in_as_many_pieces_as_it_is_read_in():
    stream = stream_of(frame(1, b"abcdef"))
    assert [await stream.read(4), await stream.read(4), await stream.read(4)] == [b"abcd", b"ef", b""]


async def test_of_endless_stderr_only_the_end_is_kept():
    stream = stream_of(frame(2, b"x" * 100_000 + b"the end"))
    assert await stream.read(10) == b""
    assert stream.diagnostics.endswith("the end")
    assert len(stream.diagnostics) == 4096


async def test_a_stream_that_breaks_within_a_frame_has_ended():
    stream = stream_of(frame(1, b"abcdef")[:-2])
    assert [await stream.read(100), await stream.read(100)] == [b"abcd", b""]
    assert await stream_of(b"\1\0\0").read(10) == b""


@pytest.mark.parametrize("status", ["101 UPGRADED", "200 OK"])
async def test_both_ways_in_which_daemons_hand_over_the_stream_are_understood(daemon, status):
    head = f"HTTP/1.1 {status}\r\nContent-Type: x\r\n\r\n".encode()
    stream = await attach(await daemon(head + frame(1, b"hi")), "c", api_version="1.41", seconds=5)
    assert await stream.read(10) == b"hi"
    await stream.close()


@pytest.mark.parametrize("answer", [b"HTTP/1.1 404 Not Found\r\n\r\n", b"HTTP/1.1 200", b"x" * 200_000])
async def test_another_answer_is_an_error_that_names_the_daemon(daemon, answer):
    host = await daemon(answer)
    with pytest.raises(UnavailableError, match=f"Cannot attach to a container on {host.url}"):
        await attach(host, "c", api_version="1.41", seconds=5)


async def test_a_daemon_that_says_nothing_is_given_up(daemon):
    with pytest.raises(UnavailableError, match="no answer"):
        await attach(await daemon(b"", then_close=False), "c", api_version="1.41", seconds=0.05)
