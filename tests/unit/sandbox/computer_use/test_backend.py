"""The computer-use backend against a real server, whose tools run on this machine."""

import asyncio
from pathlib import Path
from runpy import run_path

import pytest

from skillyard.errors import CapabilityError, ConflictError, SandboxDiedError, UnavailableError
from skillyard.sandbox.computer_use.backend import ComputerUseBackend, ComputerUseSettings
from skillyard.sandbox.computer_use.tools import session_id_in
from skillyard.sandbox.network import parse_network
from skillyard.sandbox.place import Mount, Place
from skillyard.sandbox.session import Command

pytestmark = pytest.mark.anyio
serving = run_path(str(Path(__file__).parents[3] / "computer_use_server.py"))["computer_use_server"]


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """Under the longest of the names, and with the plainest of the answers."""
    with serving(tmp_path_factory.mktemp("computer"), "--prefix", "mcp_cursor-computer-use_", "--shape", "text") as (
        url,
        _,
    ):
        yield url


@pytest.fixture
async def remote(url, tmp_path):
    backend = ComputerUseBackend(ComputerUseSettings(url=url), cargos=tmp_path)
    yield backend
    await backend.close()


@pytest.mark.parametrize(
    "said",
    [
        '{"session_id": "abc-1"}',
        '{"result": {"sessionId": "abc-1", "ttl": 600}}',
        '"abc-1"',
        "abc-1\n",
        "Session created. session_id: abc-1, ttl=600",
        "The session ID is `abc-1`",
    ],
)
def test_the_id_of_a_session_is_found_in_whatever_words_it_is_told(said):
    assert session_id_in(said) == "abc-1"


@pytest.mark.parametrize("said", ["", "It went wrong.", "[]", '{"error": "no more sessions"}'])
def test_an_answer_without_an_id_has_none(said):
    assert session_id_in(said) is None


async def test_tools_are_found_under_their_longer_names_and_plain_text_is_understood(remote):
    session = await remote.start(Place(sandbox_id="s", cargo_id="c", environment={"WHERE": "far"}))
    outcome = await session.run(Command(argv=["sh", "-c", "echo $WHERE; echo oh >&2; exit 3"]))
    assert (outcome.stdout, outcome.stderr, outcome.exit_code) == (b"far\n", b"oh\n", 3)
    assert (await session.python("x = 20")).success
    assert (await session.python("x + 1")).output == "21\n"


async def test_a_workspace_is_kept_here_and_sent_again(remote, tmp_path):
    session = await remote.start(Place(sandbox_id="s", cargo_id="c"))
    data = bytes(range(256)) * 4000
    await session.write_file("scripts/run", data, executable=True)
    await session.run(Command(argv=["ln", "-s", "run", "scripts/link"]))
    await session.close()
    assert [file.name for file in tmp_path.iterdir()] == ["c.tar.gz"]
    session = await remote.start(Place(sandbox_id="s", cargo_id="c"))
    assert await session.read_file("scripts/run") == data
    kinds = {entry.name: (entry.kind, entry.executable) for entry in await session.list_folder("scripts")}
    assert kinds["run"] == ("file", True)
    assert kinds["link"][0] == "link"


async def test_a_cargo_is_in_one_sandbox_at_a_time(remote):
    await remote.start(Place(sandbox_id="s", cargo_id="c"))
    with pytest.raises(ConflictError, match="The cargo 'c' is in another sandbox"):
        await remote.start(Place(sandbox_id="other", cargo_id="c"))


async def test_what_the_server_cannot_do_is_refused_and_nothing_is_claimed_to_be_enforced(remote, tmp_path):
    mounts = (Mount(source=tmp_path, target="/mnt"),)
    with pytest.raises(CapabilityError, match="neither mounts nor a list"):
        await remote.start(Place(sandbox_id="s", cargo_id="c", mounts=mounts))
    network = parse_network({"allow": ["http://127.0.0.1:8080"]})
    with pytest.raises(CapabilityError, match="neither mounts nor a list"):
        await remote.start(Place(sandbox_id="s", cargo_id="c", network=network))
    offered = await remote.capabilities()
    assert offered.available
    assert offered.enforced == frozenset()
    assert not offered.trusted


async def test_a_server_that_goes_away_ends_its_sandboxes_at_once(tmp_path):
    (tmp_path / "computer").mkdir()
    with serving(tmp_path / "computer") as (url, process):
        backend = ComputerUseBackend(ComputerUseSettings(url=url), cargos=tmp_path)
        session = await backend.start(Place(sandbox_id="s", cargo_id="c"))
        running = asyncio.create_task(session.run(Command(argv=["sleep", "1000"], timeout=1000)))
        await session.stats()
        process.kill()
        async with asyncio.timeout(60):
            with pytest.raises(SandboxDiedError):
                await running
        assert not session.alive
        await backend.close()


async def test_a_server_without_a_tool_is_told_by_name(tmp_path):
    with serving(tmp_path, "--without", "run_shell") as (url, _):
        offered = await ComputerUseBackend(ComputerUseSettings(url=url), cargos=tmp_path).capabilities()
    assert not offered.available
    assert "has no tool 'run_shell'" in offered.reason
    assert "create_file" in offered.reason


@pytest.mark.parametrize(
    ("url", "reason"), [(None, "No computer-use server is set"), ("http://127.0.0.1:1/mcp", "cannot be reached")]
)
async def test_no_server_is_a_reason_with_a_fix(tmp_path, url, reason):
    backend = ComputerUseBackend(ComputerUseSettings(url=url, seconds=10), cargos=tmp_path)
    offered = await backend.capabilities()
    assert not offered.available
    assert reason in offered.reason
    assert "COMPUTER_USE_MCP_URL" in offered.fix
    with pytest.raises((UnavailableError, CapabilityError), match=reason):
        await backend.start(Place(sandbox_id="s", cargo_id="c"))
