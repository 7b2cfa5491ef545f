"""The database: short reads beside one writer, and the number of the last change."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Self

from sqlalchemy import URL
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.db.counter import Counter, open_counter
from skillyard.db.engine import SQLITE, database_url, make_engines, prepare_file
from skillyard.db.migrate import migrate
from skillyard.db.transaction import Hook, Transaction
from skillyard.errors import StoreUnavailableError


class Database:
    """Open one with `Database.open`; it belongs to the event loop that opened it."""

    def __init__(self, url: URL) -> None:
        self.url = url
        self.after_begin: list[Hook] = []
        """What is asked before anything is changed; an error keeps it from being changed."""
        self.before_commit: list[Hook] = []
        """What is added to every write, last: it is kept together with the change or not at all."""
        self._writer, self._reader = make_engines(url)
        self._pen = asyncio.Lock()
        self._waiting: set[asyncio.Future[None]] = set()
        self._counter: Counter | None = None

    @classmethod
    async def open(cls, url: str) -> Self:
        """Connect and bring the tables up to date."""
        parsed = database_url(url)
        is_file = parsed.get_backend_name() == SQLITE
        database = cls(parsed)
        try:
            if is_file:
                await asyncio.to_thread(prepare_file, Path(str(parsed.database)))
            await migrate(database._writer)
            database._counter = open_counter(parsed)
        except BaseException as error:
            await database.close()
            if isinstance(error, (OperationalError, InterfaceError, sqlite3.Error, OSError)):
                raise database._unreachable(error) from error
            raise
        return database

    async def close(self) -> None:
        if self._counter is not None:
            await self._counter.close()
        await self._writer.dispose()
        await self._reader.dispose()

    @asynccontextmanager
    async def read(self) -> AsyncGenerator[AsyncSession]:
        """One view of the database: everything read in it is of the same moment."""
        try:
            async with AsyncSession(self._reader, expire_on_commit=False) as session:
                yield session
        except (OperationalError, InterfaceError) as error:
            raise self._unreachable(error) from error

    @asynccontextmanager
    async def write(self, *, bookkeeping: bool = False) -> AsyncGenerator[Transaction]:
        """One write, durable when the block ends; an error in it leaves nothing behind.

        Keep it short: everyone else who writes is waiting. No file, network or model is touched inside.
        `bookkeeping` is what the yard notes for itself, whoever asked: nobody's rights are looked at.
        """
        try:
            async with self._pen, AsyncSession(self._writer, expire_on_commit=False) as session:
                transaction = Transaction(session, self.before_commit)
                await transaction.begin()
                for hook in () if bookkeeping else self.after_begin:
                    await hook(transaction)
                yield transaction
                await transaction.commit()
        except (OperationalError, InterfaceError) as error:
            raise self._unreachable(error) from error
        if transaction.changed:
            for waiter in self._waiting:
                if not waiter.done():
                    waiter.set_result(None)

    async def number(self) -> int:
        """The number of the last committed change, by whichever process."""
        if self._counter is None:
            raise AssertionError("a database is opened with Database.open")
        try:
            return await self._counter.read()
        except ConnectionError as error:
            raise self._unreachable(error) from error

    async def wait_beyond(self, number: int, *, poll: float = 0.25) -> int:
        """Wait until a later change is committed: at once by this process, within `poll` seconds by another."""
        while True:
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.add(waiter)  # before looking, so that nothing is committed unnoticed in between
            try:
                latest = await self.number()
                if latest > number:
                    return latest
                await asyncio.wait([waiter], timeout=poll)
            finally:
                self._waiting.discard(waiter)

    def _unreachable(self, error: Exception) -> StoreUnavailableError:
        place = self.url.render_as_string(hide_password=True)
        cause = str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
        return StoreUnavailableError(
            f"The database {place} did not answer: {cause}.",
            hint="Check SKILLYARD_DATABASE_URL and that the database runs: skillyard doctor",
            details={"database": place},
        )
