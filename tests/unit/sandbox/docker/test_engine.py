import asyncio
import json

import pytest

from skillyard.errors import ConflictError, UnavailableError
from skillyard.sandbox.docker.engine import Engine
from skillyard.sandbox.docker.host import DockerHost

pytestmark = pytest.mark.anyio


@pytest.fixture
async def engine_that_says(tmp_path):
    """Makes an engine on a daemon that has one answer for each path, and 404 for all others."""
    opened = []

    async def make(answers, *, seconds=10.0):
        async def serve(reader, writer):
            while True:
                try:
                    head = await reader.readuntil(b"\r\n\r\n")
                except asyncio.IncompleteReadError:
                    break
                path = head.split()[1].decode().partition("?")[0].removeprefix("/v1.41")
                status, body = answers.get(path, (404, {"message": "no such thing"}))
                if status is None:
                    await reader.read()
                    break
                data = json.dumps(body).encode()
                writer.write(b"HTTP/1.1 %d X\r\nContent-Type: application/json\r\n" % status)
                writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
            writer.close()

        answers.setdefault("/version", (200, {"ApiVersion": "1.41"}))
        path = tmp_path / "docker.sock"
        server = await asyncio.start_unix_server(serve, path)
        engine = Engine(DockerHost(url=f"unix://{path}"), seconds=seconds)
        opened.append((engine, server))
        return engine

    yield make
    for engine, server in opened:
        await engine.close()
        server.close()


async def test_what_a_daemon_says_of_itself_is_taken_at_its_word(engine_that_says):
    said = {
        "ServerVersion": "27.1",
        "OSType": "linux",
        "SecurityOptions": ["name=seccomp,profile=builtin", "name=rootless"],
        "MemoryLimit": False,
        "PidsLimit": True,
    }
    info = await (await engine_that_says({"/info": (200, said)})).info()
    assert (info.version, info.system, info.rootless) == ("27.1", "linux", True)
    assert not info.limits_memory
    assert info.limits_processes


async def test_what_is_not_there_is_none_and_removing_it_is_no_error(engine_that_says):
    engine = await engine_that_says({})
    assert await engine.image_labels("nope") is None
    assert await engine.volume_labels("nope") is None
    await engine.remove("nope")
    await engine.remove_volume("nope")


@pytest.mark.parametrize("status", [409, 500])
async def test_a_name_that_is_taken_is_a_conflict_however_the_daemon_puts_it(engine_that_says, status):
    taken = (status, {"message": 'the container name "x" is already in use'})
    engine = await engine_that_says({"/containers/create": taken})
    with pytest.raises(ConflictError, match="already in use"):
        await engine.create({}, "x")


async def test_a_refusal_carries_the_words_of_the_daemon(engine_that_says):
    engine = await engine_that_says({"/containers/x/start": (500, {"message": "exec: python3: not found"})})
    with pytest.raises(UnavailableError, match="exec: python3: not found"):
        await engine.start("x")


async def test_a_daemon_that_never_answers_is_given_up(engine_that_says):
    engine = await engine_that_says({"/info": (None, None)}, seconds=0.2)
    with pytest.raises(UnavailableError, match="does not answer") as caught:
        await engine.info()
    assert "DOCKER_HOST" in caught.value.hint


async def test_no_daemon_at_all_is_an_error_that_says_how_to_reach_one(tmp_path):
    engine = Engine(DockerHost(url=f"unix://{tmp_path}/none.sock"), seconds=5)
    with pytest.raises(UnavailableError, match="does not answer") as caught:
        await engine.info()
    assert "systemctl start docker" in caught.value.hint
    await engine.close()
