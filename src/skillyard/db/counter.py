"""Reading the change counter: every cached answer asks for it, so it has a connection of its own."""

import sqlite3
from pathlib import Path
from typing import Final, Protocol

from sqlalchemy import URL

from skillyard.db.engine import SQLITE
from skillyard.db.models import THE_COUNTER

QUERY: Final = f"SELECT number FROM change_counter WHERE id = {THE_COUNTER}"  # noqa: S608 -- a constant


class Counter(Protocol):
    """The number of the last committed change; ConnectionError when it cannot be had."""

    async def read(self) -> int: ...

    async def close(self) -> None: ...


def open_counter(url: URL) -> Counter:
    if url.get_backend_name() == SQLITE:
        return SqliteCounter(url)
    from skillyard.db.postgres_counter import PostgresCounter  # noqa: PLC0415 -- psycopg is slow to import

    return PostgresCounter(url)


class SqliteCounter:
    """Reads the file in a few microseconds, without leaving the event loop."""

    def __init__(self, url: URL) -> None:
        place = Path(str(url.database)).absolute().as_uri()
        self._connection = sqlite3.connect(f"{place}?mode=ro", uri=True, isolation_level=None)

    async def read(self) -> int:
        try:
            return self._connection.execute(QUERY).fetchone()[0]
        except sqlite3.Error as error:
            raise ConnectionError(str(error)) from error

    async def close(self) -> None:
        self._connection.close()
