"""SQLite for the event loop: each statement is one trip to the thread of its connection.

The driver that SQLAlchemy knows makes four trips for a query (open a cursor, execute, fetch, close), and a trip costs
more than the query.
"""

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self

import aiosqlite


class _Outcome(NamedTuple):
    """What a statement led to, read to its end."""

    rows: list[Any]
    description: Any
    rowcount: int
    lastrowid: int | None


class _Cursor:
    """What SQLAlchemy takes for a cursor: everything was fetched when the statement was executed."""

    arraysize = 1

    def __init__(self, connection: "SqliteConnection") -> None:
        self._connection = connection
        self._outcome = _Outcome([], None, -1, None)

    @property
    def description(self) -> Any:  # noqa: ANN401 -- as PEP 249 has it
        return self._outcome.description

    @property
    def rowcount(self) -> int:
        return self._outcome.rowcount

    @property
    def lastrowid(self) -> int | None:
        return self._outcome.lastrowid

    async def __aenter__(self) -> Self:
        return self

    async def execute(self, statement: str, parameters: Sequence[Any] = ()) -> None:
        self._outcome = await self._connection.run(statement, parameters)

    async def executemany(self, statement: str, parameters: Sequence[Sequence[Any]]) -> None:
        self._outcome = await self._connection.run_many(statement, parameters)

    async def fetchall(self) -> list[Any]:
        return self._outcome.rows

    async def close(self) -> None:
        """There is nothing left to close."""


class SqliteConnection(aiosqlite.Connection):
    """A connection whose cursors need no trips of their own."""

    def __init__(self, path: str, *, busy_seconds: float) -> None:
        super().__init__(lambda: sqlite3.connect(path, timeout=busy_seconds), 64)
        self._thread.daemon = True  # as SQLAlchemy has it: a connection that was not closed keeps no process alive

    def cursor(self) -> Any:  # noqa: ANN401 -- in place of aiosqlite's
        return _Cursor(self)

    async def run(self, statement: str, parameters: Sequence[Any]) -> _Outcome:
        return await self._on_thread(lambda: _outcome(self._conn.execute(statement, parameters)))

    async def run_many(self, statement: str, parameters: Sequence[Sequence[Any]]) -> _Outcome:
        return await self._on_thread(lambda: _outcome(self._conn.executemany(statement, parameters)))

    async def _on_thread(self, work: Callable[[], _Outcome]) -> _Outcome:
        return await self._execute(work)  # pyright: ignore[reportUnknownMemberType] -- aiosqlite says nothing of it


async def connect(path: str, *, busy_seconds: float) -> SqliteConnection:
    connection = SqliteConnection(path, busy_seconds=busy_seconds)
    await connection
    return connection


def _outcome(cursor: sqlite3.Cursor) -> _Outcome:
    try:
        rows = cursor.fetchall() if cursor.description else []
        return _Outcome(rows, cursor.description, cursor.rowcount, cursor.lastrowid)
    finally:
        cursor.close()
