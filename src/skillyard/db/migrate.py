"""Bringing the tables up to date, one process at a time."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import AsyncEngine

from skillyard.db.revision import revision_of
from skillyard.errors import ConflictError

if TYPE_CHECKING:
    from alembic.config import Config

MIGRATIONS: Final = Path(__file__).with_name("migrations")
LOCK: Final = 0x5C111A2D
"""The PostgreSQL advisory lock that one process holds while it migrates."""


def revisions() -> list[str]:
    """Every revision there is, the oldest first: files are named by theirs."""
    return sorted(path.name.partition("_")[0] for path in (MIGRATIONS / "versions").glob("[0-9]*.py"))


async def is_current(engine: AsyncEngine) -> bool:
    """Whether there is nothing to migrate: a look that waits for nobody who writes."""
    async with engine.connect() as connection:
        return await connection.run_sync(revision_of) == revisions()[-1]


async def migrate(engine: AsyncEngine, revision: str | None = None) -> None:
    """Upgrade to a revision, else to the newest, unless someone else did so meanwhile."""
    async with engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            await connection.execute(text("SET LOCAL lock_timeout = 0"))  # a migration may take its time
            await connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})
        await connection.run_sync(_upgrade, revision or revisions()[-1])


def migration_config() -> "Config":
    from alembic.config import Config  # noqa: PLC0415 -- slow to import, and tables are mostly up to date

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    return config


def _upgrade(connection: Connection, revision: str) -> None:
    present = revision_of(connection)
    if present == revision:
        return
    known = revisions()
    if present is not None and present not in known:
        raise ConflictError(
            f"The database was made by a newer Skillyard (its tables are at {present!r}).",
            hint="Install the newer version, or point SKILLYARD_DATABASE_URL at another database.",
            details={"revision": present, "known": known},
        )
    from alembic import command  # noqa: PLC0415 -- as above

    config = migration_config()
    config.attributes["connection"] = connection
    command.upgrade(config, revision)
