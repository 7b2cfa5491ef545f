"""One write: a session that holds the only pen, and the numbers of the changes made with it."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.db.models import THE_COUNTER, ChangeCounter

Hook: TypeAlias = Callable[["Transaction"], Awaitable[None]]


class Transaction:
    """What a writer works with; made by `Database.write`.

    The counter row is held from the first statement on. On PostgreSQL that makes writers wait for each other as
    SQLite's one write lock does, so no update is lost on either, and numbers are committed in order, without gaps.
    """

    def __init__(self, session: AsyncSession, before_commit: Sequence[Hook] = ()) -> None:
        self.session = session
        self._before_commit = before_commit
        self._start = 0
        self._number = 0
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

    def after_commit(self, action: Callable[[], None]) -> None:
        """Do this once the write is durable, and not at all if it fails."""
        self._after_commit.append(action)

    async def begin(self) -> None:
        held = select(ChangeCounter.number).where(ChangeCounter.id == THE_COUNTER).with_for_update()
        self._start = self._number = (await self.session.execute(held)).scalar_one()

    async def commit(self) -> None:
        for prepare in self._before_commit:
            await prepare(self)
        if self.changed:
            counter = update(ChangeCounter).where(ChangeCounter.id == THE_COUNTER).values(number=self._number)
            await self.session.execute(counter)
        await self.session.commit()
        for action in self._after_commit:
            action()
