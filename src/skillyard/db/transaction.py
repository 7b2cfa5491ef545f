"""One write: a session that holds the only pen, and the numbers of the changes made with it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final, TypeAlias

from sqlalchemy import Insert, bindparam, insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session

from skillyard.db.base import Base
from skillyard.db.models import THE_COUNTER, ChangeCounter

Hook: TypeAlias = Callable[["Transaction"], Awaitable[None]]
Rows: TypeAlias = Sequence[Mapping[str, Any]]

UNSEEN: Final = {"synchronize_session": False}
"""The option of statements that change rows of which no object of the session is looked at afterwards."""
_HOLD: Final = select(ChangeCounter.number).where(ChangeCounter.id == THE_COUNTER).with_for_update()
_COUNT: Final = update(ChangeCounter).where(ChangeCounter.id == THE_COUNTER).values(number=bindparam("last"))


class Transaction:
    """What a writer works with; made by `Database.write`.

    The counter row is held from the first statement on. On PostgreSQL that makes writers wait for each other as
    SQLite's one write lock does, so no update is lost on either, and numbers are committed in order, without gaps.
    """

    def __init__(self, session: AsyncSession, before_commit: Sequence[Hook] = ()) -> None:
        self.session = session
        self.once = False
        """Whether this is what a request asked for, to be done once only, though it takes no number."""
        self._before_commit = before_commit
        self._start = 0
        self._number = 0
        self._last: dict[type[Base], list[Mapping[str, Any]]] = {}
        self._after_commit: list[Callable[[], None]] = []

    @property
    def changed(self) -> bool:
        return self._number != self._start

    @property
    def number(self) -> int:
        """The number of the last change made, here or before."""
        return self._number

    @property
    def next_number(self) -> int:
        """The number that the next change will have."""
        return self._number + 1

    def take_number(self) -> int:
        """The number of one more change."""
        self._number += 1
        return self._number

    async def insert(self, *kinds: tuple[type[Base], Rows]) -> None:
        """Insert rows, kind after kind: a fraction of what it costs to add them as objects to the session."""

        def insert_all(session: Session) -> None:
            for kind, rows in kinds:
                if rows:
                    session.execute(_insertion(kind), rows)

        await self.session.run_sync(insert_all)

    def insert_last(self, kind: type[Base], row: Mapping[str, Any]) -> None:
        """Insert a row with the end of the write, until when nobody in it looks for the row."""
        self._last.setdefault(kind, []).append(row)

    def after_commit(self, action: Callable[[], None]) -> None:
        """Do this once the write is durable, and not at all if it fails."""
        self._after_commit.append(action)

    async def begin(self) -> None:
        self._start = self._number = (await self.session.execute(_HOLD)).scalar_one()

    async def commit(self) -> None:
        for prepare in self._before_commit:
            await prepare(self)
        await self.insert(*self._last.items())
        if self.changed:
            await self.session.execute(_COUNT, {"last": self._number}, execution_options=UNSEEN)
        await self.session.commit()
        for action in self._after_commit:
            action()


@cache
def _insertion(kind: type[Base]) -> Insert:
    return insert(Base.metadata.tables[kind.__tablename__])  # not into the class: that is for objects of the session
