"""The sample history that `skillyard demo` leaves in a yard: noted while it is made, and taken out again."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from skillyard.app.local_person import local_name
from skillyard.app.sample import Keys, keys_of, note_sample, remove_sample
from skillyard.app.seeding import seed_builtin
from skillyard.app.yard import open_yard
from skillyard.cli.demo_scenes import demo_settings
from skillyard.config.settings import Settings


@contextmanager
def noted_as_sample(folder: Path) -> Generator[None]:
    """What is made in that folder's yard meanwhile is a sample, be it that something goes wrong half-way."""
    settings = demo_settings(folder)
    before = asyncio.run(_keys(settings))
    try:
        yield
    finally:
        note_sample(folder, before, asyncio.run(_keys(settings)))


def removed_sample(settings: Settings) -> int:
    """Take the sample out of a yard, and say how many rows that was."""
    return asyncio.run(_removed(settings))


async def _keys(settings: Settings) -> Keys:
    async with open_yard(settings) as yard:
        await seed_builtin(yard, await yard.access.operator(local_name()))
        return await keys_of(yard.database)


async def _removed(settings: Settings) -> int:
    async with open_yard(settings) as yard:
        return await remove_sample(yard, await yard.access.operator(local_name()), settings.home)
