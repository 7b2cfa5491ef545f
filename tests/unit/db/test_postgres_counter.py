import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager

import psycopg
import pytest

from skillyard.db import postgres_counter
from skillyard.db.database import Database
from skillyard.db.engine import database_url
from skillyard.db.postgres_counter import PostgresCounter

NewDatabase = Callable[[], AbstractContextManager[str]]


@asynccontextmanager
async def counter_at(url: str) -> AsyncIterator[PostgresCounter]:
    await (await Database.open(url)).close()
    counter = PostgresCounter(database_url(url))
    try:
        yield counter
    finally:
        await counter.close()


def sql(url: str, statement: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement.encode())


def hang_up_on_others(url: str) -> None:
    others = "datname = current_database() AND pid <> pg_backend_pid()"
    sql(url, f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE {others}")


def test_a_change_of_another_process_is_seen_by_the_next_question(new_postgres_database: NewDatabase):
    async def ask(url: str) -> tuple[int, int]:
        async with counter_at(url) as counter:
            before = await counter.read()
            await asyncio.to_thread(sql, url, "UPDATE change_counter SET number = number + 3")
            return before, await counter.read()

    with new_postgres_database() as url:
        before, after = asyncio.run(ask(url))
    assert after == before + 3


def test_all_who_ask_at_once_get_the_number(new_postgres_database: NewDatabase):
    async def ask(url: str) -> list[int]:
        async with counter_at(url) as counter:
            await asyncio.to_thread(sql, url, "UPDATE change_counter SET number = 7")
            return await asyncio.gather(*(counter.read() for _ in range(50)))

    with new_postgres_database() as url:
        assert asyncio.run(ask(url)) == [7] * 50


def test_a_lost_connection_is_replaced_whether_or_not_the_loss_was_noticed(new_postgres_database: NewDatabase):
    async def ask(url: str) -> list[int]:
        async with counter_at(url) as counter:
            await asyncio.to_thread(sql, url, "UPDATE change_counter SET number = 5")
            numbers = [await counter.read()]
            hang_up_on_others(url)  # blocks the loop: the next question goes out unaware
            numbers.append(await counter.read())
            await asyncio.to_thread(hang_up_on_others, url)
            await asyncio.sleep(0)  # the loop hears of it
            numbers.append(await counter.read())
            return numbers

    with new_postgres_database() as url:
        assert asyncio.run(ask(url)) == [5, 5, 5]


def test_a_counter_that_is_gone_is_an_error_until_it_is_back(new_postgres_database: NewDatabase):
    async def ask(url: str) -> int:
        async with counter_at(url) as counter:
            await counter.read()
            await asyncio.to_thread(sql, url, "ALTER TABLE change_counter RENAME TO elsewhere")
            for _ in range(2):
                with pytest.raises(ConnectionError, match="change_counter"):
                    await counter.read()
            await asyncio.to_thread(sql, url, "ALTER TABLE elsewhere RENAME TO change_counter")
            return await counter.read()

    with new_postgres_database() as url:
        assert asyncio.run(ask(url)) == 0


def test_a_server_that_says_nothing_is_given_up(new_postgres_database: NewDatabase, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(postgres_counter, "_PATIENCE", 0.2)

    async def ask(url: str) -> int:
        async with counter_at(url) as counter:
            await counter.read()
            with psycopg.connect(url) as other:
                other.execute("LOCK TABLE change_counter")
                with pytest.raises(ConnectionError, match="takes too long"):
                    await counter.read()
            return await counter.read()

    with new_postgres_database() as url:
        assert asyncio.run(ask(url)) == 0


def test_a_question_that_was_given_up_does_not_disturb_the_others(new_postgres_database: NewDatabase):
    async def ask(url: str) -> list[int]:
        async with counter_at(url) as counter:
            first, second, third = (asyncio.create_task(counter.read()) for _ in range(3))
            await asyncio.sleep(0)
            second.cancel()
            numbers = [await first, await third]
            fourth = asyncio.create_task(counter.read())
            await asyncio.sleep(0)
            fourth.cancel()
            return [*numbers, await counter.read()]

    with new_postgres_database() as url:
        assert asyncio.run(ask(url)) == [0, 0, 0]


def test_a_counter_that_is_closed_opens_no_other_connection(new_postgres_database: NewDatabase):
    async def ask(url: str) -> None:
        async with counter_at(url) as counter:
            await counter.read()
            given_up, waiting = asyncio.create_task(counter.read()), asyncio.create_task(counter.read())
            await asyncio.sleep(0)
            given_up.cancel()
        for late in (waiting, counter.read()):
            with pytest.raises(ConnectionError, match="it was closed"):
                await late
            assert counter._opening is None

    with new_postgres_database() as url:
        asyncio.run(ask(url))
