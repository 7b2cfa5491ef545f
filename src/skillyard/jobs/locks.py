"""Locks between processes, which end with whoever holds them: on files, or in PostgreSQL where that is the database."""

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from sqlalchemy import URL

from skillyard.cancellation import to_the_end
from skillyard.db.engine import SQLITE

Lost: TypeAlias = Callable[[], None]


class Locks(Protocol):
    """Named locks. One that is held by anyone, this process among them, cannot be taken."""

    async def take(self, name: str, lost: Lost) -> bool:
        """Take a lock unless it is held. `lost` is called if it is lost before it is given back."""
        ...

    async def give_back(self, name: str) -> None: ...

    async def close(self) -> None:
        """Give everything back."""
        ...


async def taken_whole(locks: Locks, name: str, taking: Coroutine[Any, Any, bool]) -> bool:
    """Take a lock to the end, though whoever wants it is cancelled: it would be held by nobody, for good."""
    task = asyncio.ensure_future(taking)
    try:
        return await to_the_end(task)
    except asyncio.CancelledError:
        if not task.cancelled() and not task.exception() and task.result():
            await locks.give_back(name)
        raise


def open_locks(url: URL) -> Locks:
    """The locks of everyone who works on a database."""
    if url.get_backend_name() == SQLITE:
        from skillyard.jobs.file_locks import FileLocks  # noqa: PLC0415 -- one of the two

        return FileLocks(jobs_folder(url))
    from skillyard.jobs.postgres_locks import PostgresLocks  # noqa: PLC0415 -- psycopg is slow to import

    return PostgresLocks(url)


def jobs_folder(url: URL) -> Path:
    """Where what is needed to work on the jobs of a SQLite database is kept: beside it."""
    return Path(str(url.database)).with_suffix(".jobs")
