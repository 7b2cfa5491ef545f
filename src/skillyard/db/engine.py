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

from skillyard.db.sqlite_driver import BEGIN, BEGIN_WRITING
from skillyard.db.sqlite_driver import connect as sqlite_connect
from skillyard.errors import UsageError
from skillyard.files import make_file, make_folder, make_private

SQLITE: Final = "sqlite"
POSTGRESQL: Final = "postgresql"

_DRIVERS: Final = {SQLITE: "sqlite+aiosqlite", POSTGRESQL: "postgresql+psycopg"}
_ALIASES: Final = {"postgres": POSTGRESQL}
BUSY_SECONDS: Final = 15.0
"""How long a writer waits for the others, those of other processes among them."""
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


def place_of(url: URL) -> str:
    """A database as people name it: without the driver, which they did not choose, and without a password."""
    return url.set(drivername=url.get_backend_name()).render_as_string(hide_password=True)


def make_engines(url: URL, *, busy_seconds: float) -> tuple[AsyncEngine, AsyncEngine]:
    """The engine for writing and the one for reading."""
    if url.get_backend_name() == SQLITE:
        make = partial(_sqlite_engine, url, busy_seconds=busy_seconds)
        return make(writes=True), make(writes=False)
    # What a failing statement was about is not for the log: it may be a skill's text, or the hash of a token.
    make = partial(create_async_engine, url, pool_pre_ping=True, hide_parameters=True)
    options = f"{url.query.get('options', '')} -c lock_timeout={busy_seconds * 1000:.0f}".strip()
    writer = make(pool_size=4, max_overflow=4, isolation_level="READ COMMITTED", connect_args={"options": options})
    reader = make(pool_size=_READERS, isolation_level="REPEATABLE READ")
    return writer, reader


def _sqlite_engine(url: URL, *, writes: bool, busy_seconds: float) -> AsyncEngine:
    size = 1 if writes else _READERS
    connect = partial(sqlite_connect, str(url.database), busy_seconds=busy_seconds)
    engine = create_async_engine(url, pool_size=size, max_overflow=0, async_creator=connect, hide_parameters=True)

    def connected(connection: Any, _record: object) -> None:  # noqa: ANN401 -- SQLAlchemy's face of aiosqlite
        cursor = connection.cursor()
        for pragma in ("synchronous=FULL", "foreign_keys=ON", f"query_only={int(not writes)}"):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    def begun(connection: Any) -> None:  # noqa: ANN401 -- as above
        # Deferred, a transaction that reads and then writes loses the race it did not know of.
        connection.connection.driver_connection.begin_with(BEGIN_WRITING if writes else BEGIN)

    event.listen(engine.sync_engine, "connect", connected)
    event.listen(engine.sync_engine, "begin", begun)
    return engine


def prepare_file(path: Path) -> None:
    """Make a SQLite file that many may read while one writes; it stays so.

    The switch needs the file for itself and does not wait for it, so that several who open a new file try in turn.
    What someone's `ANALYZE` once counted is forgotten: SQLite never counts again, and reads a table that was small
    then from end to end when it has grown. Without counts it takes the indexes, which are made for what is asked.
    """
    if not path.parent.exists():
        make_folder(path.parent)
    make_file(path)
    for beside in ("-wal", "-shm"):  # new ones get the mode of the file
        make_private(path.with_name(f"{path.name}{beside}"))
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        with closing(sqlite3.connect(path, timeout=BUSY_SECONDS)) as connection:
            try:
                connection.execute("PRAGMA journal_mode=WAL")
                for counts in ("sqlite_stat1", "sqlite_stat4"):
                    connection.execute(f"DROP TABLE IF EXISTS {counts}")
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
