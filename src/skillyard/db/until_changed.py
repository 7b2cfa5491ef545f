"""What takes long to make, kept until the next change."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from skillyard.db.database import Database

K = TypeVar("K")
V = TypeVar("V")


class UntilChanged(Generic[K, V]):
    """Values made from a database, each with the number of the change it was made after; the last `size` of them."""

    def __init__(self, database: Database, *, size: int) -> None:
        self._database = database
        self._size = size
        self._values: OrderedDict[K, tuple[int, V]] = OrderedDict()

    async def get(self, key: K, make: Callable[[], Awaitable[V]]) -> V:
        """The value of a key, made anew if anything changed since it was made.

        `make` reads on a session of its own: one that began earlier may not see the last change.
        """
        number = await self._database.number()  # read first: what is made then knows of this change and maybe of more
        kept = self._values.get(key)
        if kept is None or kept[0] != number:
            kept = self._values[key] = (number, await make())
        self._values.move_to_end(key)
        if len(self._values) > self._size:
            self._values.popitem(last=False)
        return kept[1]
