"""At which revision the tables of a database are, without changing anything."""

from pathlib import Path
from typing import Final

from sqlalchemy import URL, Connection, create_engine, inspect, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from skillyard.db.engine import SQLITE, database_url, place_of
from skillyard.errors import UnavailableError

_SECONDS: Final = 5


def present_revision(address: str) -> str | None:
    """The revision of the tables; None when nothing was ever kept there. The database is only read."""
    url = database_url(address)
    if url.get_backend_name() == SQLITE and not Path(str(url.database)).exists():
        return None
    readable_url, arguments = readable(address)
    engine = create_engine(readable_url, poolclass=NullPool, connect_args=arguments)
    try:
        with engine.connect() as connection:
            return revision_of(connection)
    except (SQLAlchemyError, UnicodeDecodeError) as error:
        place = place_of(url)
        cause = str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
        raise UnavailableError(f"The database {place} did not answer: {cause}.", details={"database": place}) from error


def readable(address: str) -> tuple[URL, dict[str, int]]:
    """The address and arguments for connecting to a database that is only read."""
    url = database_url(address)
    is_file = url.get_backend_name() == SQLITE
    return _read_only(url) if is_file else url, _patience(is_file)


def revision_of(connection: Connection) -> str | None:
    """The same by a connection that is open already."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.scalar(text("SELECT version_num FROM alembic_version"))


def _read_only(url: URL) -> URL:
    path = Path(str(url.database)).absolute().as_uri()
    return URL.create("sqlite", database=path, query={"mode": "ro", "uri": "true"})


def _patience(is_file: bool) -> dict[str, int]:
    return {"timeout": _SECONDS} if is_file else {"connect_timeout": _SECONDS}
