"""What is worked out from all skills, and after a change from those only that it touched."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeAlias, TypeVar

from sqlalchemy import bindparam, select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.db.database import Database
from skillyard.history.entries import Outcome
from skillyard.history.models import EntryRow
from skillyard.skill.requires import name_key

K = TypeVar("K")
V = TypeVar("V")

MOST_TOUCHED: Final = 500
"""After more than these it is quicker to begin again."""

_LATER: Final = (
    select(
        EntryRow.number,
        EntryRow.subject_kind,
        EntryRow.subject_id,
        EntryRow.subject,
        EntryRow.outcome,
        EntryRow.before,
    )
    .where(EntryRow.number > bindparam("number"))
    .order_by(EntryRow.number)
    .limit(MOST_TOUCHED + 1)
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Touched:
    """The skills that something was done to in a stretch of the history, whoever may know of it."""

    ids: frozenset[str]
    names: frozenset[str]
    """What they are called, or were until then, in the form in which names are compared."""
    until: int
    """The number of the last entry of it."""


Make: TypeAlias = Callable[[AsyncSession], Awaitable[V]]
Mend: TypeAlias = Callable[[AsyncSession, V, Touched], Awaitable[V]]


class Followed(Generic[K, V]):
    """Values made from the skills of a registry, each with the number of the change it knows of; the last `size`.

    The history names every skill that changes. A number that it tells nothing of was something greater.
    """

    def __init__(self, database: Database, *, size: int) -> None:
        self._database = database
        self._size = size
        self._values: OrderedDict[K, tuple[int, V]] = OrderedDict()

    async def get(self, key: K, make: Make[V], mend: Mend[V]) -> V:
        """The value of a key as it is now: made, or mended where skills were touched. Neither changes a value."""
        number = await self._database.number()  # read first: what is made then knows of this change and maybe of more
        kept = self._values.get(key)
        if kept is None or kept[0] != number:
            async with self._database.read() as session:
                kept = self._values[key] = await _now(session, kept, number, make, mend)
        self._values.move_to_end(key)
        if len(self._values) > self._size:
            self._values.popitem(last=False)
        return kept[1]


async def touched_since(session: AsyncSession, number: int) -> Touched | None:
    """What was done to skills after a number; None if that was too much, or if a later number has no entry."""
    ids: set[str] = set()
    names: set[str] = set()
    rows = list(await session.execute(_LATER, {"number": number}))
    until = rows[-1].number if rows else number
    if len(rows) > MOST_TOUCHED or until - number != len(rows):
        return None
    for _, kind, skill_id, label, outcome, before in rows:
        if kind == "skill" and outcome == Outcome.DONE:
            ids.add(skill_id)
            names.add(name_key(label.rpartition("/")[2]))
            if before and "name" in before:
                names.add(name_key(before["name"]))
    return Touched(ids=frozenset(ids), names=frozenset(names), until=until)


async def _now(
    session: AsyncSession, kept: tuple[int, V] | None, number: int, make: Make[V], mend: Mend[V]
) -> tuple[int, V]:
    """A value with the number that it is sure to know of."""
    touched = await touched_since(session, kept[0]) if kept is not None and kept[0] < number else None
    if kept is None or touched is None or touched.until < number:
        return number, await make(session)
    return touched.until, await mend(session, kept[1], touched) if touched.ids else kept[1]
