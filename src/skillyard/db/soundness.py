"""Whether a database can still be read: a look at every table, and a look at every page."""

from typing import Final

from sqlalchemy import Connection, create_engine, inspect, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.pool import NullPool

from skillyard.db.base import Base
from skillyard.db.engine import SQLITE
from skillyard.db.revision import readable

_SHOWN: Final = 5
_SOUND: Final = "ok"


async def look_at_tables(session: AsyncSession) -> None:
    """Read a row of every table: damage to where a table begins is an error here, and not only for who asks for it."""
    for name in sorted(Base.metadata.tables):
        await session.execute(text(f'SELECT 1 FROM "{name}" LIMIT 1'))  # noqa: S608 -- our own names


def damage(address: str, *, deep: bool = False) -> list[str]:
    """What is wrong with the database of an address, which is only read; deep also compares indexes with tables."""
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
        return [_first_line(error)]
    finally:
        engine.dispose()


def _unreadable(connection: Connection, *, deep: bool) -> list[str]:
    found: list[str] = []
    for name in inspect(connection).get_table_names():
        try:
            read = f'SELECT count(*) FROM "{name}"' if deep else f'SELECT 1 FROM "{name}" LIMIT 1'  # noqa: S608
            connection.execute(text(read))
        except SQLAlchemyError as error:
            connection.rollback()
            found.append(f"{name}: {_first_line(error)}")
    return found[:_SHOWN]


def _first_line(error: Exception) -> str:
    return str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
