"""Doing many things at once, but not all of them."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Final, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

AT_ONCE: Final = 8


async def bounded(action: Callable[[Item], Awaitable[Result]], items: Iterable[Item]) -> list[Result]:
    """What the action answered for each item, in their order."""
    places = asyncio.Semaphore(AT_ONCE)

    async def one(item: Item) -> Result:
        async with places:
            return await action(item)

    return await asyncio.gather(*(one(item) for item in items))
