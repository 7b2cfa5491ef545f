"""Servers of one database that work on jobs, on each engine."""

import asyncio
import contextlib
from contextlib import asynccontextmanager

import pytest

from skillyard.jobs.service import Jobs


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def database_url(request, tmp_path_factory):
    """The address of a database for all tests of a file: to make one takes longer than to work on a job."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path_factory.mktemp('jobs') / 'registry.sqlite'}"
        return
    with request.getfixturevalue("new_postgres_database")() as url:
        yield url


@pytest.fixture
async def ledger(counting, database_url):
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
