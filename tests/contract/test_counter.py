import asyncio

import psycopg
import pytest
from sqlalchemy import text

from skillyard.db.database import Database
from skillyard.errors import UnavailableError


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_the_counter_comes_back_after_the_server_cut_its_connection(database_url, postgres_server):
    async def scenario():
        database = await Database.open(database_url)
        assert await database.number() == 0
        name = database.url.database
        with psycopg.connect(postgres_server, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()",
                [name],
            )
        number = await database.number()
        await database.close()
        return number

    assert asyncio.run(scenario()) == 0


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_everyone_who_asks_gets_a_number_that_is_no_older_than_their_question(database_url):
    async def scenario():
        database = await Database.open(database_url)
        committed = 0

        async def write():
            nonlocal committed
            for _ in range(40):
                async with database.write() as transaction:
                    number = transaction.take_number()
                committed = number

        async def ask():
            for _ in range(100):
                before = committed
                assert await database.number() >= before

        await asyncio.gather(write(), *(ask() for _ in range(8)))
        number = await database.number()
        await database.close()
        return number

    assert asyncio.run(scenario()) == 40


def test_a_counter_that_is_gone_is_an_error_with_the_place(database_url):
    async def scenario():
        database = await Database.open(database_url)
        async with database.write() as transaction:
            await transaction.session.execute(text("ALTER TABLE change_counter RENAME TO elsewhere"))
        try:
            with pytest.raises(UnavailableError, match="did not answer"):
                await database.number()
        finally:
            await database.close()

    asyncio.run(scenario())
