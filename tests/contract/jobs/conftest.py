"""Servers of one database that work on jobs, on each engine."""

import asyncio
import contextlib
import shutil
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from sqlalchemy import create_engine, inspect, make_url, text
from sqlalchemy.pool import NullPool

from skillyard.jobs.locks import jobs_folder
from skillyard.jobs.service import Jobs

WORKFLOW = "workflow_uuid"
"""The column of whatever is kept of a workflow."""


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def database_url(request, tmp_path_factory):
    """The address of a database for all tests of a file: to make one takes longer than to work on a job."""
    if request.param == "sqlite":
        yield f"sqlite:///{shutil.copy(request.getfixturevalue('empty_registry'), tmp_path_factory.mktemp('jobs'))}"
        return
    empty = request.getfixturevalue("empty_postgres_registry")
    with request.getfixturevalue("new_postgres_database")(empty) as url:
        yield url


def _forget_workflows(database_url):
    """A server that ends right behind a job leaves its workflow open: a job of the same name would go on with it."""
    url, schema = make_url(database_url), "skillyard_jobs"
    if url.get_backend_name() == "sqlite":
        url, schema = make_url(f"sqlite:///{jobs_folder(url) / 'jobs.sqlite'}"), None
        if not url.database or not Path(url.database).exists():
            return
    engine = create_engine(url.set(drivername="postgresql+psycopg") if schema else url, poolclass=NullPool)
    with engine.begin() as connection:
        tables = inspect(connection)
        for table in tables.get_table_names(schema=schema):
            if WORKFLOW in {column["name"] for column in tables.get_columns(table, schema=schema)}:
                connection.execute(text(f"DELETE FROM {schema + '.' if schema else ''}{table}"))


@pytest.fixture
async def ledger(counting, database_url):
    _forget_workflows(database_url)
    async with counting.opened(database_url) as database:
        ledger = counting.Ledger(database)
        await ledger.clear()
        yield ledger


@pytest.fixture
def process(counting, database_url):
    """Opens the jobs of one process, which may serve."""

    @asynccontextmanager
    async def open_one(reach=None, *, serves=False, workers=4):
        async with counting.opened(database_url) as database:
            jobs = Jobs(database, workers=workers)
            jobs.work = counting.Counting(database, reach)
            jobs.register(counting.COUNTING, jobs.work)
            following = asyncio.create_task(jobs.follow()) if serves else None
            await asyncio.sleep(0)
            try:
                yield jobs
            finally:
                if following is not None:
                    following.cancel()
                    with contextlib.suppress(asyncio.CancelledError):
                        await following
                await jobs.close()

    return open_one
