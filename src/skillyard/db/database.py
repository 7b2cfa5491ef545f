"""The database: short reads beside one writer, and the number of the last change."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, Self

from sqlalchemy import URL, text
from sqlalchemy.exc import DatabaseError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.db.counter import Counter, open_counter
from skillyard.db.engine import BUSY_SECONDS, SQLITE, database_url, make_engines, place_of, prepare_file
from skillyard.db.migrate import is_current, migrate
from skillyard.db.soundness import look_at_tables
from skillyard.db.transaction import Hook, Transaction
from skillyard.errors import BusyError, StoreUnavailableError, UnavailableError
from skillyard.files import require_writable

_READ_ONLY: Final = text("SELECT pg_is_in_recovery() OR current_setting('default_transaction_read_only') = 'on'")
_RETRY_AFTER: Final = 2
_LOCK_NOT_AVAILABLE: Final = "55P03"


class Database:
    """Open one with `Database.open`; it belongs to the event loop that opened it."""

    def __init__(self, url: URL, *, busy_seconds: float = BUSY_SECONDS) -> None:
        self.url = url
        self.after_begin: list[Hook] = []
        """What is asked before anything is changed; an error keeps it from being changed."""
        self.before_commit: list[Hook] = []
        """What is added to every write, last: it is kept together with the change or not at all."""
        self._writer, self._reader = make_engines(url, busy_seconds=busy_seconds)
        self._busy_seconds = busy_seconds
        self._pen = asyncio.Lock()
        self._waiting: set[asyncio.Future[None]] = set()
        self._counter: Counter | None = None

    @classmethod
    async def open(cls, url: str, *, busy_seconds: float = BUSY_SECONDS) -> Self:
        """Connect and bring the tables up to date. Who wants to write and has to wait longer gets `BusyError`."""
        parsed = database_url(url)
        is_file = parsed.get_backend_name() == SQLITE
        database = cls(parsed, busy_seconds=busy_seconds)
        try:
            if is_file:
                await asyncio.to_thread(prepare_file, Path(str(parsed.database)))
            if not await is_current(database._reader):
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

    async def require_usable(self) -> None:
        """Read every table, and check that something could be written."""
        async with self.read() as session:
            await look_at_tables(session)
            if self.url.get_backend_name() != SQLITE:
                if await session.scalar(_READ_ONLY):
                    raise StoreUnavailableError(f"The database {place_of(self.url)} can only be read.")
                return
        try:
            await asyncio.to_thread(require_writable, Path(str(self.url.database)).parent)
        except OSError as error:
            raise self._unreachable(error) from error

    @asynccontextmanager
    async def read(self) -> AsyncGenerator[AsyncSession]:
        """One view of the database: everything read in it is of the same moment."""
        try:
            async with AsyncSession(self._reader, expire_on_commit=False) as session:
                yield session
        except DatabaseError as error:
            if isinstance(error, (OperationalError, InterfaceError)) or _is_damaged(error.orig):
                raise self._unreachable(error) from error
            raise
        except PoolTimeoutError as error:
            raise _busy("read") from error

    @asynccontextmanager
    async def write(self, *, bookkeeping: bool = False) -> AsyncGenerator[Transaction]:
        """One write, durable when the block ends; an error in it leaves nothing behind.

        Keep it short: everyone else who writes is waiting. No file, network or model is touched inside.
        `bookkeeping` is what the yard notes for itself, whoever asked: nobody's rights are looked at.
        """
        try:
            async with self._turn(), AsyncSession(self._writer, expire_on_commit=False) as session:
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

    @asynccontextmanager
    async def _turn(self) -> AsyncGenerator[None]:
        """The only pen of this process, waited for but not without end."""
        try:
            async with asyncio.timeout(self._busy_seconds):
                await self._pen.acquire()
        except TimeoutError as error:
            raise _busy("write") from error
        try:
            yield
        finally:
            self._pen.release()

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

    def _unreachable(self, error: Exception) -> UnavailableError:
        if _is_locked(getattr(error, "orig", None)):
            return _busy("write")
        place = place_of(self.url)
        cause = str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
        return StoreUnavailableError(
            f"The database {place} did not answer: {cause}.",
            hint="Check that its folder can be written and has space: skillyard doctor"
            if self.url.get_backend_name() == SQLITE
            else "Check SKILLYARD_DATABASE_URL and that the database runs: skillyard doctor",
            details={"database": place},
        )


def _is_damaged(error: BaseException | None) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def _is_locked(error: BaseException | None) -> bool:
    """Whether a driver says that another process held the pen for too long."""
    # The last byte of SQLite's codes is the kind, whatever the reason.
    locked = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
    return locked or getattr(error, "sqlstate", None) == _LOCK_NOT_AVAILABLE


def _busy(wish: str) -> BusyError:
    return BusyError(
        f"Too many want to {wish} at once.",
        hint=f"Try again in {_RETRY_AFTER} s.",
        details={"retry_after": _RETRY_AFTER},
    )
