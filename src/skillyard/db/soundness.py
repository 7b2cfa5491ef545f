"""Checks whether a database can still be read: every table, and every page."""

import sqlite3
from typing import Final

from sqlalchemy import Connection, create_engine, inspect, text
from sqlalchemy.exc import ProgrammingError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.pool import NullPool

from skillyard.db.base import Base
from skillyard.db.engine import SQLITE, place_of
from skillyard.db.revision import readable
from skillyard.errors import UnavailableError

_SHOWN: Final = 5
_SOUND: Final = "ok"
_UNREACHED: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_CANTOPEN})
"""The last byte of SQLite's codes for a file that others hold, or that cannot be opened."""
_DAMAGE: Final = ("XX", "58")
"""How PostgreSQL's codes begin for what is corrupt, and for files that cannot be read."""


async def look_at_tables(session: AsyncSession) -> None:
    """Read a row of every table, so that damage at the start of any table is an error here."""
    for name in sorted(Base.metadata.tables):
        await session.execute(text(f'SELECT 1 FROM "{name}" LIMIT 1'))  # noqa: S608 -- our own names


def damage(address: str, *, deep: bool = False) -> list[str]:
    """What is wrong with the database of an address, which is only read; deep also compares indexes with tables.

    Raises `UnavailableError` where the database does not answer, which says nothing of what is in it.
    """
    url, arguments = readable(address)
    engine = create_engine(url, poolclass=NullPool, connect_args=arguments)
    try:
        with engine.connect() as connection:
            if url.get_backend_name() == SQLITE:
                kind = "integrity_check" if deep else "quick_check"
                said = [str(row[0]) for row in connection.execute(text(f"PRAGMA {kind}({_SHOWN})"))]
                return [line for line in said if line != _SOUND]
            return _unreadable(connection, deep=deep)
    except (SQLAlchemyError, UnicodeDecodeError) as error:
        if _tells_damage(error):
            return [_first_line(error)]
        place = place_of(url)
        raise UnavailableError(
            f"The database {place} did not answer: {_first_line(error)}.", details={"database": place}
        ) from error
    finally:
        engine.dispose()


def _unreadable(connection: Connection, *, deep: bool) -> list[str]:
    found: list[str] = []
    for name in inspect(connection).get_table_names():
        try:
            read = f'SELECT count(*) FROM "{name}"' if deep else f'SELECT 1 FROM "{name}" LIMIT 1'  # noqa: S608
            connection.execute(text(read))
        except ProgrammingError:  # another program's, which this one may not read, or gone by now
            connection.rollback()
        except SQLAlchemyError as error:
            if not _tells_damage(error):
                raise
            connection.rollback()
            found.append(f"{name}: {_first_line(error)}")
    return found[:_SHOWN]


def _tells_damage(error: Exception) -> bool:
    """Whether it is about what is stored, and not about reaching it."""
    cause = getattr(error, "orig", None) or error
    code: int | None = getattr(cause, "sqlite_errorcode", None)
    if code is not None:
        return code & 0xFF not in _UNREACHED
    return isinstance(cause, UnicodeDecodeError) or (getattr(cause, "sqlstate", None) or "").startswith(_DAMAGE)


def _first_line(error: Exception) -> str:
    return str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
