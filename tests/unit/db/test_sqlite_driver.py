import asyncio
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

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
