import asyncio
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from skillyard.db.database import Database
from skillyard.db.sqlite_driver import SqliteConnection, connect


def connected(path: Path, work):
    async def run():
        opened = partial(connect, str(path / "a.sqlite"), busy_seconds=1)
        engine = create_async_engine("sqlite+aiosqlite://", async_creator=opened)
        try:
            async with engine.begin() as connection:
                await connection.execute(text("CREATE TABLE t (n INTEGER PRIMARY KEY, word TEXT UNIQUE)"))
                return await work(connection)
        finally:
            await engine.dispose()

    return asyncio.run(run())


def test_rows_counts_and_new_keys_come_back_as_from_any_driver(tmp_path: Path):
    async def work(connection: AsyncConnection):
        one = await connection.execute(text("INSERT INTO t (word) VALUES ('a')"))
        returned = await connection.execute(text("INSERT INTO t (word) VALUES ('b') RETURNING n"))
        many = await connection.execute(text("INSERT INTO t (word) VALUES (:word)"), [{"word": "c"}, {"word": "d"}])
        changed = await connection.execute(text("UPDATE t SET word = word || '!' WHERE n > 2"))
        rows = await connection.execute(text("SELECT n, word FROM t ORDER BY n"))
        return one.lastrowid, returned.scalar_one(), many.rowcount, changed.rowcount, rows.keys(), rows.all()

    lastrowid, returned, many, changed, keys, rows = connected(tmp_path, work)
    assert (lastrowid, returned, many, changed, list(keys)) == (1, 2, 2, 2, ["n", "word"])
    assert rows == [(1, "a"), (2, "b"), (3, "c!"), (4, "d!")]


def test_a_refused_statement_is_told_as_such_and_the_connection_goes_on(tmp_path: Path):
    async def work(connection: AsyncConnection):
        await connection.execute(text("INSERT INTO t (word) VALUES ('a')"))
        with pytest.raises(IntegrityError):
            await connection.execute(text("INSERT INTO t (word) VALUES ('a')"))
        return (await connection.execute(text("SELECT count(*) FROM t"))).scalar_one()

    assert connected(tmp_path, work) == 1


def test_a_statement_is_one_trip_to_the_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    trips: list[object] = []
    execute = SqliteConnection._execute

    async def counted(self: SqliteConnection, function, *args):
        trips.append(function)
        return await execute(self, function, *args)

    async def work(connection: AsyncConnection):
        monkeypatch.setattr(SqliteConnection, "_execute", counted)
        for _ in range(3):
            (await connection.execute(text("SELECT n, word FROM t"))).all()
        return len(trips)

    assert connected(tmp_path, work) == 3


def test_a_read_is_one_trip_for_all_of_its_beginning_and_one_for_its_end(tmp_path: Path, monkeypatch):
    trips: list[object] = []
    execute = SqliteConnection._execute

    async def counted(self: SqliteConnection, function, *args):
        trips.append(function)
        return await execute(self, function, *args)

    async def scenario() -> None:
        database = await Database.open(f"sqlite:///{tmp_path / 'a.sqlite'}")
        async with database.read() as session:
            await session.execute(text("SELECT 1"))
        monkeypatch.setattr(SqliteConnection, "_execute", counted)
        async with database.read() as session:
            await session.execute(text("SELECT 1"))
        monkeypatch.undo()
        await database.close()

    asyncio.run(scenario())
    assert len(trips) == 2


def test_what_is_read_in_one_view_is_of_one_moment(tmp_path: Path):
    async def scenario() -> tuple[int, int]:
        database = await Database.open(f"sqlite:///{tmp_path / 'a.sqlite'}")
        number = text("SELECT number FROM change_counter")
        async with database.read() as session:
            before = (await session.execute(number)).scalar_one()
            async with database.write() as transaction:
                transaction.take_number()
            after = (await session.execute(number)).scalar_one()
        await database.close()
        return before, after

    assert asyncio.run(scenario()) == (0, 0)


def test_a_write_that_is_given_up_while_it_waits_for_its_turn_holds_nobody_up(tmp_path: Path):
    path = tmp_path / "a.sqlite"

    async def scenario() -> int:
        database = await Database.open(f"sqlite:///{path}")

        async def write() -> None:
            async with database.write() as transaction:
                transaction.take_number()

        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            waiting = asyncio.create_task(write())
            for _ in range(50):  # until its statement is with the thread, which waits for the other
                await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.wait([waiting], timeout=0.2)
            other.execute("ROLLBACK")
            with pytest.raises(asyncio.CancelledError):
                await waiting
            other.execute("BEGIN IMMEDIATE")  # waits a while, and fails if the lock is never given back
            other.execute("ROLLBACK")
        await write()
        number = await database.number()
        await database.close()
        return number

    assert asyncio.run(scenario()) == 1


def test_a_write_that_waits_for_another_process_looks_again_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """As SQLite waits, it would find a process that hardly rests between its writes at rest by luck only."""
    path = tmp_path / "a.sqlite"
    pauses: list[float] = []

    async def scenario() -> int:
        database = await Database.open(f"sqlite:///{path}")
        with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
            other.execute("BEGIN IMMEDIATE")

            def sleep(seconds: float) -> None:
                pauses.append(seconds)
                if len(pauses) == 100:
                    other.execute("ROLLBACK")

            monkeypatch.setattr("skillyard.db.sqlite_driver.time.sleep", sleep)
            async with asyncio.timeout(60), database.write() as transaction:
                transaction.take_number()
            monkeypatch.undo()
        number = await database.number()
        await database.close()
        return number

    assert asyncio.run(scenario()) == 1
    assert len(pauses) == 100
    assert max(pauses) <= 0.001


def test_a_write_that_never_gets_its_turn_is_refused_and_the_next_one_waits_as_long(tmp_path: Path):
    path = tmp_path / "a.sqlite"

    async def scenario() -> None:
        connection = await connect(str(path), busy_seconds=0.02)
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            for _ in range(2):
                connection.begin_with("BEGIN IMMEDIATE")
                with pytest.raises(sqlite3.OperationalError, match=r"another process wrote for 0\.02 seconds"):
                    await connection.run("SELECT 1", ())
            other.execute("ROLLBACK")
        connection.begin_with("BEGIN IMMEDIATE")
        assert (await connection.run("SELECT 1", ())).rows == [(1,)]
        assert (await connection.run("PRAGMA busy_timeout", ())).rows == [(20,)]
        await connection.close()

    asyncio.run(scenario())
