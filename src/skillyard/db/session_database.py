"""The database as somebody else's program reaches it: by sessions that the program makes."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Final, TypeAlias

from sqlalchemy import select, update
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.db.database import Database
from skillyard.db.models import THE_COUNTER, ChangeCounter
from skillyard.db.transaction import Transaction
from skillyard.errors import StoreUnavailableError

SessionFactory: TypeAlias = Callable[[], AbstractAsyncContextManager[AsyncSession]]
"""An `async_sessionmaker` of SQLAlchemy, or `Database.read`."""

_NUMBER: Final = select(ChangeCounter.number).where(ChangeCounter.id == THE_COUNTER)
# It changes nothing, but takes the pen: SQLite refuses one that has read before it wants to write.
_TAKE_PEN: Final = update(ChangeCounter).where(ChangeCounter.id == THE_COUNTER).values(number=ChangeCounter.number)


def database_of(sessions: SessionFactory) -> Database:
    """The database behind a session factory; it is neither opened, migrated nor closed here."""
    owner = getattr(sessions, "__self__", None)
    return owner if isinstance(owner, Database) else SessionDatabase(sessions)


class SessionDatabase(Database):
    """Reads and writes with sessions of a factory, in the event loop that the factory belongs to."""

    def __init__(self, sessions: SessionFactory) -> None:
        self.after_begin = []
        self.before_commit = []
        self._sessions = sessions

    async def close(self) -> None:
        """Nothing is its own."""

    @asynccontextmanager
    async def read(self) -> AsyncGenerator[AsyncSession]:
        try:
            async with self._sessions() as session:
                yield session
        except (OperationalError, InterfaceError) as error:
            raise _unreachable(error) from error

    @asynccontextmanager
    async def write(self, *, bookkeeping: bool = False) -> AsyncGenerator[Transaction]:  # noqa: ARG002 -- nobody's rights are looked at
        async with self.read() as session:
            transaction = Transaction(session, self.before_commit)
            await session.execute(_TAKE_PEN, execution_options={"synchronize_session": False})
            await transaction.begin()
            yield transaction
            await transaction.commit()

    async def number(self) -> int:
        async with self.read() as session:
            return (await session.execute(_NUMBER)).scalar_one()


def _unreachable(error: Exception) -> StoreUnavailableError:
    cause = str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
    return StoreUnavailableError(
        f"The database behind these sessions did not answer: {cause}.",
        hint="Give sessions of a database that Skillyard has made: skillyard serve makes its tables.",
    )
