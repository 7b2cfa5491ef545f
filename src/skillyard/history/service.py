"""The history: every change is recorded with it, can be followed in order, and can be undone."""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.db.transaction import Transaction
from skillyard.errors import ConflictError, NotFoundError, SkillyardError
from skillyard.history.entries import Actor, Change, Entry, Why
from skillyard.history.store import add_entry, entries_after, get_entry, mark_undone

Step: TypeAlias = Callable[[Transaction], Awaitable[Change]]
"""Takes one change back within a transaction and answers with the change that this is.

It raises `moved_on` where the subject has changed since.
"""
Undo: TypeAlias = Callable[[Entry], Awaitable[Step]]
"""Prepares to take a change back: fetches what a transaction must not wait for."""
_WINDOW: Final = 1000
"""How many entries one look at the feed examines."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedPage:
    """What a reader may know of the examined stretch of changes."""

    entries: tuple[Entry, ...]
    next: int
    """The last number examined: ask on from here."""


class History:
    """Records changes inside the transactions of the rooms that make them."""

    def __init__(self, database: Database, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._clock = clock
        self._undo: dict[str, Undo] = {}

    def register_undo(self, action: str, undo: Undo) -> None:
        """A room says how one kind of its changes is taken back."""
        self._undo[action] = undo

    def record(self, transaction: Transaction, actor: Actor, change: Change, why: Why) -> int:
        """Note a change that happens with this transaction, and answer with its number."""
        return add_entry(transaction, actor, change, why, at=self._clock())

    def record_refusal(
        self, transaction: Transaction, actor: Actor, change: Change, why: Why, error: SkillyardError
    ) -> int:
        """Note an attempt that was turned down, in a transaction that does nothing else."""
        return add_entry(transaction, actor, change, why, at=self._clock(), error=error.as_dict())

    async def undo(self, actor: Actor, entry: Entry, why: Why) -> int:
        """Take back one change; who may is the caller's to decide."""
        self.require_undoable(entry)
        step = await self._undo[entry.change.action](entry)
        async with self._database.write() as transaction:
            now = await get_entry(transaction.session, entry.number)
            self.require_undoable(now or entry)
            change = replace(await step(transaction), undoes=entry.number)
            number = self.record(transaction, actor, change, why)
            await mark_undone(transaction, entry.number, by=number)
        return number

    def require_undoable(self, entry: Entry) -> None:
        """Refuses what cannot be taken back, with the reason."""
        error = self._objection(entry)
        if error is not None:
            raise error

    def is_undoable(self, entry: Entry) -> bool:
        return self._objection(entry) is None

    def _objection(self, entry: Entry) -> ConflictError | None:
        details: dict[str, Any] = {"number": entry.number, "action": entry.change.action}
        if not entry.done:
            return ConflictError(f"Entry {entry.number} was refused: there is nothing to undo.", details=details)
        if entry.undone_by is not None:
            return ConflictError(
                f"Entry {entry.number} was undone already.",
                hint=f"To bring it back, undo entry {entry.undone_by}.",
                details={**details, "undone_by": entry.undone_by},
            )
        if entry.change.action not in self._undo:
            return ConflictError(f"A change of the kind {entry.change.action!r} cannot be undone.", details=details)
        return None

    async def entry(self, number: int) -> Entry:
        async with self._database.read() as session:
            found = await get_entry(session, number)
        if found is None:
            raise NotFoundError(f"There is no history entry {number}.", hint="List them: skillyard registry history")
        return found

    async def feed(self, audiences: Collection[str], *, since: int, limit: int = _WINDOW) -> FeedPage:
        """The changes after `since` that holders of these keys may know of, in the order of their commits."""
        async with self._database.read() as session:
            examined = await entries_after(session, since, limit=min(limit, _WINDOW))
        seen = tuple(entry for entry in examined if entry.done and _concerns(entry, audiences))
        return FeedPage(entries=seen, next=examined[-1].number if examined else since)


def moved_on(entry: Entry) -> ConflictError:
    """The answer to an undo that would take back more than its entry."""
    return ConflictError(
        f"{entry.change.subject.label!r} has changed since entry {entry.number}.",
        hint="Undo the later changes first.",
        details={"number": entry.number},
    )


def _concerns(entry: Entry, audiences: Collection[str]) -> bool:
    return entry.change.subject.audience in audiences or entry.change.audience_before in audiences
