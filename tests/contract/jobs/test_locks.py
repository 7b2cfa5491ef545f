"""Locks between processes: one holder at a time, until it gives back or ends."""

import asyncio
import sys
import threading
from contextlib import asynccontextmanager

import pytest

from skillyard.db.engine import database_url as parsed
from skillyard.jobs.locks import open_locks

pytestmark = pytest.mark.anyio
HOLDER = """
import asyncio, sys
from skillyard.db.engine import database_url
from skillyard.jobs.locks import open_locks

async def hold():
    print(await open_locks(database_url(sys.argv[1])).take("a", lambda: None), flush=True)
    await asyncio.sleep(600)

asyncio.run(hold())
"""


def nothing():
    pass


@pytest.fixture
async def two(database_url):
    """The locks of two processes."""
    both = [open_locks(parsed(database_url)) for _ in range(2)]
    yield both
    for each in both:
        await each.close()


@pytest.fixture
def every_thread_is_busy():
    """The threads of the event loop are all at work in the block, so that whatever is asked of them has to wait."""

    @asynccontextmanager
    async def busy():
        free = threading.Event()
        work = [asyncio.create_task(asyncio.to_thread(free.wait)) for _ in range(40)]
        try:
            yield
        finally:
            free.set()
            await asyncio.gather(*work)

    return busy


async def test_a_lock_has_one_holder_at_a_time(two):
    here, there = two
    assert await here.take("a", nothing)
    assert not await there.take("a", nothing)
    assert not await here.take("a", nothing)
    assert await there.take("b", nothing)
    await here.give_back("a")
    assert await there.take("a", nothing)


async def test_whoever_closes_gives_everything_back(two):
    here, there = two
    assert await here.take("a", nothing)
    await here.close()
    assert await there.take("a", nothing)


async def test_a_lock_that_is_not_held_is_given_back_without_harm(two):
    here, there = two
    assert await here.take("a", nothing)
    await there.give_back("a")
    assert not await there.take("a", nothing)


@pytest.mark.parametrize("turns", [1, 2, 5])
async def test_a_lock_that_is_taken_for_someone_who_is_cancelled_meanwhile_is_given_back(two, turns):
    here, there = two
    taking = asyncio.ensure_future(here.take("a", nothing))
    for _ in range(turns):
        await asyncio.sleep(0)
    taking.cancel()
    await asyncio.gather(taking, return_exceptions=True)
    assert await there.take("a", nothing)


@pytest.mark.parametrize("turns", [1, 2, 5])
async def test_a_lock_is_given_back_though_whoever_does_so_is_cancelled_meanwhile(two, turns, every_thread_is_busy):
    here, there = two
    assert await here.take("a", nothing)
    async with every_thread_is_busy():
        giving = asyncio.ensure_future(here.give_back("a"))
        for _ in range(turns):
            await asyncio.sleep(0)
        giving.cancel()
    await asyncio.gather(giving, return_exceptions=True)
    assert await there.take("a", nothing)


async def test_many_who_want_one_lock_never_have_it_together(two):
    holders = 0

    async def try_often(locks):
        nonlocal holders
        taken = 0
        for _ in range(60):
            if await locks.take("a", nothing):
                holders += 1
                assert holders == 1
                taken += 1
                await asyncio.sleep(0)
                holders -= 1
                await locks.give_back("a")
        return taken

    assert sum(await asyncio.gather(*(try_often(locks) for locks in two * 2))) > 0


async def test_the_locks_of_a_killed_process_are_free(two, database_url):
    here, _ = two
    command = [sys.executable, "-c", HOLDER, database_url]
    holder = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert await holder.stdout.readline() == b"True\n"
    assert not await here.take("a", nothing)
    holder.kill()
    await holder.wait()
    async with asyncio.timeout(60):
        while not await here.take("a", nothing):  # noqa: ASYNC110 -- nothing tells of it
            await asyncio.sleep(0.02)


async def test_who_loses_the_connection_is_told_that_the_locks_are_gone(new_postgres_database, monkeypatch):
    import psycopg

    from skillyard.jobs import postgres_locks

    monkeypatch.setattr(postgres_locks, "_LOOK_SECONDS", 0.02)
    with new_postgres_database() as url:
        locks = open_locks(parsed(url))
        lost = asyncio.Event()
        assert await locks.take("a", lost.set)
        with psycopg.connect(url, autocommit=True) as other:
            ended = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND database = "
            other.execute(ended + "(SELECT oid FROM pg_database WHERE datname = current_database())")
        async with asyncio.timeout(60):
            await lost.wait()
        assert await locks.take("a", nothing)
        await locks.close()
