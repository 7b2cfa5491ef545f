"""What every kind of sandbox is tried with: a session that the tests of a module share, and new ones on demand."""

import itertools
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

import pytest
from tests.components import missing

from skillyard.sandbox.backend import Backend
from skillyard.sandbox.computer_use.backend import ComputerUseBackend, ComputerUseSettings
from skillyard.sandbox.docker.backend import DockerBackend, DockerSettings
from skillyard.sandbox.link.guest_session import ConnectionHandler
from skillyard.sandbox.local.bwrap import BwrapBackend
from skillyard.sandbox.local.cgroups import Cgroups
from skillyard.sandbox.local.landlock import LandlockBackend
from skillyard.sandbox.local.uids import DEFAULT_UIDS, Users
from skillyard.sandbox.local.unsafe import UnsafeBackend
from skillyard.sandbox.place import Place
from skillyard.sandbox.session import Command, Outcome, Session

Proxy: TypeAlias = Callable[[Place], ConnectionHandler | None]
Factory: TypeAlias = Callable[[pytest.FixtureRequest, Path, Proxy], Awaitable[Backend]]
TESTS = Path(__file__).parents[2]


async def _unsafe(_: pytest.FixtureRequest, home: Path, proxy: Proxy) -> Backend:
    return UnsafeBackend(home, enabled=True, proxy=proxy)


async def _bwrap(_: pytest.FixtureRequest, home: Path, proxy: Proxy) -> Backend:
    backend = BwrapBackend(home, users=Users.of(DEFAULT_UIDS), cgroups=Cgroups.here(), proxy=proxy)
    return await _available(backend)


async def _landlock(_: pytest.FixtureRequest, home: Path, proxy: Proxy) -> Backend:
    return await _available(LandlockBackend(home, users=Users.of(DEFAULT_UIDS), cgroups=Cgroups.here()))


async def _docker(request: pytest.FixtureRequest, home: Path, proxy: Proxy) -> Backend:
    podman = request.getfixturevalue("podman")
    return DockerBackend(DockerSettings(host=podman.url, image=podman.image), yard=home.name, proxy=proxy)


async def _computer_use(request: pytest.FixtureRequest, home: Path, proxy: Proxy) -> Backend:
    url = request.getfixturevalue("computer_use_server")
    return ComputerUseBackend(ComputerUseSettings(url=url), cargos=home / "cargos")


async def _available(backend: Backend) -> Backend:
    """Skip what cannot be had on this machine; where every test must run, fail."""
    offered = await backend.capabilities()
    if not offered.available:
        missing(f"{backend.name}: {offered.reason} {offered.fix}")
    return backend


BACKENDS: dict[str, Factory] = {
    "unsafe": _unsafe,
    "bwrap": _bwrap,
    "landlock": _landlock,
    "docker": _docker,
    "mcp": _computer_use,
}
"""Each makes a backend that keeps its files below a folder; what cannot be had here skips with its reason."""


def _module(name: str) -> ModuleType:
    """One that several suites use."""
    spec = spec_from_file_location(name, TESTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def podman() -> Iterator[Any]:
    """A Docker API of its own, with an image of this machine's files."""
    module = _module("podman")
    reason = module.missing()
    if reason:
        missing(reason)
    with module.podman_service() as service:
        yield service


@pytest.fixture(scope="session")
def computer_use_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a computer-use server whose sessions are folders of this machine."""
    server = _module("computer_use_server").computer_use_server
    with server(tmp_path_factory.mktemp("computer")) as (url, _):
        yield url


class Echo:
    """Stands where the proxy would: answers whatever comes in capitals, and counts."""

    def __init__(self) -> None:
        self.connections = 0

    async def __call__(self, reader: Any, writer: Any) -> None:
        self.connections += 1
        while data := await reader.read(65536):
            writer.write(data.upper())
            await writer.drain()
        writer.close()


@pytest.fixture(scope="module")
def echo() -> Echo:
    return Echo()


@pytest.fixture(scope="module", params=BACKENDS)
async def backend(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, echo: Echo, anyio_backend: str
) -> AsyncIterator[Backend]:
    """Every connection that is let out of its sandboxes ends at the echo."""
    backend = await BACKENDS[request.param](request, tmp_path_factory.mktemp("home"), lambda _: echo)
    yield backend
    await backend.close()


NEED_PROC = {
    "test_what_holds_the_stream_cannot_be_written_to_from_inside",
    "test_commands_start_again_when_somebody_inside_killed_what_starts_them",
    "test_a_daemon_of_a_command_is_killed_with_it_at_its_time",
    "test_the_sandbox_tells_what_it_uses",
}


@pytest.fixture(autouse=True)
def _possible(request: pytest.FixtureRequest, backend: Backend) -> None:
    """Landlock cannot show a process its own children and hide those of the same user outside, so it hides all."""
    if backend.name == "landlock" and os.geteuid() != 0 and request.node.originalname in NEED_PROC:
        pytest.skip("Run by an ordinary user, a sandbox of landlock sees no processes.")


_numbers = itertools.count(1)
Start: TypeAlias = Callable[..., Awaitable[Session]]


@pytest.fixture(scope="module")
async def start(backend: Backend) -> AsyncIterator[Start]:
    """Starts a sandbox of its own; the fields of a place can be given."""
    sessions: list[Session] = []
    cargos: set[str] = set()

    async def start(**fields: Any) -> Session:
        number = next(_numbers)
        place = Place(**{"sandbox_id": f"sandbox-{number}", "cargo_id": f"cargo-{number}", **fields})
        session = await backend.start(place)
        sessions.append(session)
        cargos.add(place.cargo_id)
        return session

    yield start
    for session in sessions:
        await session.close()
    for cargo in cargos:
        await backend.remove_cargo(cargo)


@pytest.fixture(scope="module")
async def session(start: Start) -> Session:
    """One sandbox for all tests of a module: each keeps to files of its own."""
    return await start()


@pytest.fixture
def sh(session: Session) -> Callable[..., Awaitable[Outcome]]:
    """Runs a line of shell in the shared sandbox."""

    async def sh(line: str, **fields: Any) -> Outcome:
        return await session.run(Command(argv=["sh", "-c", line], **fields))

    return sh
