"""The two engines behind a database: one that writes, one that only reads."""

import sqlite3
import time
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, Final

from sqlalchemy import URL, event, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from skillyard.db.sqlite_driver import connect as sqlite_connect
from skillyard.errors import UsageError

SQLITE: Final = "sqlite"
POSTGRESQL: Final = "postgresql"

_DRIVERS: Final = {SQLITE: "sqlite+aiosqlite", POSTGRESQL: "postgresql+psycopg"}
_ALIASES: Final = {"postgres": POSTGRESQL}
_BUSY_SECONDS: Final = 15
"""How long a writer waits for one of another process."""
_RETRY_SECONDS: Final = 0.02
_READERS: Final = 8


def database_url(text: str) -> URL:
    """The URL of a database we know how to use, with the driver we use for it."""
    try:
        url = make_url(text)
    except ArgumentError:
        raise _unusable(text.partition("://")[0]) from None
    kind = url.drivername.partition("+")[0]
    kind = _ALIASES.get(kind, kind)
    if kind not in _DRIVERS or (kind == SQLITE and not url.database):
        raise _unusable(url.drivername)
    return url.set(drivername=_DRIVERS[kind])


def make_engines(url: URL) -> tuple[AsyncEngine, AsyncEngine]:
    """The engine for writing and the one for reading."""
    if url.get_backend_name() == SQLITE:
        return _sqlite_engine(url, writes=True), _sqlite_engine(url, writes=False)
    # What a failing statement was about is not for the log: it may be a skill's text, or the hash of a token.
    make = partial(create_async_engine, url, pool_pre_ping=True, hide_parameters=True)
    writer = make(pool_size=4, max_overflow=4, isolation_level="READ COMMITTED")
    reader = make(pool_size=_READERS, isolation_level="REPEATABLE READ")
    return writer, reader


def _sqlite_engine(url: URL, *, writes: bool) -> AsyncEngine:
    size = 1 if writes else _READERS
    connect = partial(sqlite_connect, str(url.database), busy_seconds=_BUSY_SECONDS)
    engine = create_async_engine(url, pool_size=size, max_overflow=0, async_creator=connect, hide_parameters=True)

    def connected(connection: Any, _record: object) -> None:  # noqa: ANN401 -- SQLAlchemy's face of aiosqlite
        connection.isolation_level = None  # transactions begin where we say
        cursor = connection.cursor()
        for pragma in ("synchronous=FULL", "foreign_keys=ON", f"query_only={int(not writes)}"):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    def begun(connection: Any) -> None:  # noqa: ANN401 -- as above
        # Deferred, a transaction that reads and then writes loses the race it did not know of.
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    event.listen(engine.sync_engine, "connect", connected)
    event.listen(engine.sync_engine, "begin", begun)
    return engine


def prepare_file(path: Path) -> None:
    """Make a SQLite file that many may read while one writes; it stays so.

    The switch needs the file for itself and does not wait for it, so that several who open a new file try in turn.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    deadline = time.monotonic() + _BUSY_SECONDS
    while True:
        with closing(sqlite3.connect(path, timeout=_BUSY_SECONDS)) as connection:
            try:
                connection.execute("PRAGMA journal_mode=WAL")
            except sqlite3.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(_RETRY_SECONDS)
            else:
                return


def _unusable(driver: str) -> UsageError:
    return UsageError(
        f"{driver!r} names no database that Skillyard can use.",
        hint="Set SKILLYARD_DATABASE_URL to sqlite:////path/to/file or postgresql://user@host/database.",
        details={"field": "database_url", "value": driver},
    )
