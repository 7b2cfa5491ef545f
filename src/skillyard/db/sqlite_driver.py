"""SQLite for the event loop: each statement is one trip to the thread of its connection.

The driver that SQLAlchemy knows makes four trips for a query (open a cursor, execute, fetch, close), and a trip costs
more than the query.
"""

import sqlite3
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, Self

import aiosqlite

BEGIN: Final = "BEGIN"
BEGIN_WRITING: Final = "BEGIN IMMEDIATE"
_LOOK_AGAIN_SECONDS: Final = 0.001
_PRIMARY: Final = 0xFF
"""The bits of an error code that say which kind it is, whatever the cause."""


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
    """A connection whose cursors need no trips of their own, nor does the beginning of a transaction."""

    def __init__(self, path: str, *, busy_seconds: float) -> None:
        # Transactions begin where we say, and nowhere else.
        super().__init__(lambda: sqlite3.connect(path, timeout=busy_seconds, isolation_level=None), 64)
        self._thread.daemon = True  # as SQLAlchemy has it: a connection that was not closed keeps no process alive
        self._busy_seconds = busy_seconds
        self._begin = ""
        self._begun = False
        """Whether there may be a transaction to end, be it that its beginning is still on the way to the thread."""

    def cursor(self) -> Any:  # noqa: ANN401 -- in place of aiosqlite's
        return _Cursor(self)

    def begin_with(self, statement: str) -> None:
        """Begin a transaction like this, together with what is executed first in it."""
        self._begin = statement

    async def run(self, statement: str, parameters: Sequence[Any]) -> _Outcome:
        return await self._on_thread(lambda: self._conn.execute(statement, parameters))

    async def run_many(self, statement: str, parameters: Sequence[Sequence[Any]]) -> _Outcome:
        return await self._on_thread(lambda: self._conn.executemany(statement, parameters))

    async def commit(self) -> None:
        if self._begun:
            await super().commit()
            self._begun = False
        self._begin = ""

    async def rollback(self) -> None:
        if self._begun:
            self._begun = False
            await super().rollback()
        self._begin = ""

    async def _on_thread(self, execute: Callable[[], sqlite3.Cursor]) -> _Outcome:
        begin, self._begin = self._begin, ""
        self._begun = self._begun or bool(begin)

        def work() -> _Outcome:
            if begin == BEGIN_WRITING:
                self._take_turn()
            elif begin:
                self._conn.execute(begin)
            return _outcome(execute())

        return await self._execute(work)  # pyright: ignore[reportUnknownMemberType] -- aiosqlite says nothing of it

    def _take_turn(self) -> None:
        """Begin to write once no other process does.

        SQLite would look again ever more rarely, ten times in a second at last, and another process that writes one
        change after the other rests for a moment only: it was seen to keep others waiting for seconds.
        """
        deadline = time.monotonic() + self._busy_seconds
        self._conn.execute("PRAGMA busy_timeout=0")
        try:
            while not self._began_to_write():
                if time.monotonic() > deadline:
                    error = sqlite3.OperationalError(f"another process wrote for {self._busy_seconds:g} seconds")
                    error.sqlite_errorcode = sqlite3.SQLITE_BUSY
                    raise error
                time.sleep(_LOOK_AGAIN_SECONDS)
        finally:
            self._conn.execute(f"PRAGMA busy_timeout={self._busy_seconds * 1000:.0f}")

    def _began_to_write(self) -> bool:
        try:
            self._conn.execute(BEGIN_WRITING)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & _PRIMARY != sqlite3.SQLITE_BUSY:
                raise
            return False
        return True


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
