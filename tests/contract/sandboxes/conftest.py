"""Server processes with sandboxes of their own, on one database: what the tests of sandboxes run on."""

import asyncio
import contextlib
import os
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from skillyard.app.sandboxes import sandbox_rooms
from skillyard.config.settings import Settings
from skillyard.sandbox.local.unsafe import UnsafeBackend
from skillyard.sandbox.models import SandboxRow

NOON = datetime(2026, 5, 20, 12, tzinfo=UTC)


class Choice:
    """Gives the one backend that these tests have, or fails as the real choice does."""

    def __init__(self, backend):
        self.backend = backend
        self.failure = None

    async def choose(self, requested, required):
        if self.failure is not None:
            raise self.failure
        return self.backend


class Process:
    """The sandboxes of one server process; several may share a database and a home."""

    def __init__(self, world, folder, files, clock, **settings):
        self.choice = Choice(UnsafeBackend(files, enabled=True))
        self.clock = clock
        self.rooms = sandbox_rooms(
            world.yard.database,
            world.yard.blobs,
            Settings(home=folder, **settings),
            choosing=self.choice,
            clock=clock,
        )
        for name in ("sandboxes", "cargos", "runs", "browsing", "workspace", "log", "sweep", "running"):
            setattr(self, name, getattr(self.rooms, name))

    async def used(self):
        """Wait until a run is under way."""
        async with asyncio.timeout(60):
            while not any(held.users for held in self.running.all):  # noqa: ASYNC110 -- nothing tells of it
                await asyncio.sleep(0)

    async def kill(self):
        """What `kill -9` leaves: nothing runs, nobody let go of anything, and the lock is free."""
        await self.choice.backend.close()
        host = self.running.host
        if host._beating is not None:
            host._beating.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await host._beating
        if host._lock is not None:
            os.close(host._lock)
            host._lock = None


class Time:
    """A clock that is moved by hand."""

    def __init__(self):
        self.noon = self.now = NOON

    def __call__(self):
        return self.now

    def pass_by(self, **amount):
        self.now += timedelta(**amount)


class Tables:
    """What the database holds."""

    def __init__(self, world):
        self._database = world.yard.database

    async def all(self, kind):
        async with self._database.read() as session:
            return list(await session.scalars(select(kind)))

    async def of(self, person, kind):
        return [row for row in await self.all(kind) if row.owner_id == person.person_id]

    async def sandbox(self, sandbox):
        async with self._database.read() as session:
            return await session.get(SandboxRow, sandbox.id)


@pytest.fixture
def clock():
    return Time()


@pytest.fixture
def tables(world):
    return Tables(world)


@pytest.fixture
async def start(world, tmp_path, clock):
    """Starts a server process on one home; `files` is where its backend keeps cargos, if that is elsewhere."""
    started = []

    def new(folder="home", files=None, **settings):
        started.append(Process(world, tmp_path / folder, tmp_path / (files or folder), clock, **settings))
        return started[-1]

    yield new
    for process in started:
        await process.rooms.close()


@pytest.fixture
def here(start):
    return start()
