"""The rooms of identity over a real database, with a clock that is moved by hand."""

import shutil
from datetime import UTC, datetime, timedelta

import pytest

from skillyard.db.database import Database
from skillyard.history.entries import Why
from skillyard.history.service import History
from skillyard.identity.access import Access
from skillyard.identity.namespaces import Namespaces
from skillyard.identity.people import People
from skillyard.identity.principals import Scope
from skillyard.identity.tokens import Tokens

WHY = Why(reason="a test")


class World:
    """One process at a database."""

    def __init__(self, database, clock, admin_token=None):
        self.database = database
        self.history = History(database, clock=clock)
        self.people = People(database, self.history, clock=clock)
        self.namespaces = Namespaces(database, self.history, clock=clock)
        self.tokens = Tokens(database, self.history, clock=clock)
        self.access = Access(database, self.people, admin_token=admin_token, clock=clock)

    async def root(self):
        """The one at this machine."""
        return await self.access.operator("root")

    async def person(self, name, *, admin=False, scope=Scope.ADMIN, tenant="default"):
        """A principal of that name as they are now, made if need be."""
        place = await self.people.ensure_tenant(tenant)
        row = await self.people.ensure_person(place, name, admin=admin)
        return await self.access.of_person(row, scope=scope)

    async def token(self, name, **given):
        """The text of a new token of a person."""
        root = await self.root()
        return (await self.tokens.create(root, label="test", person=name, why=WHY, **given)).secret

    async def team(self, name, owner, **roles):
        """A team of `owner` and of others by name; the owner as they are afterwards."""
        await self.namespaces.create_team(await self.person(owner), name, why=WHY)
        for person, role in roles.items():
            await self.person(person)
            await self.namespaces.set_member(await self.person(owner), name, person, role, why=WHY)
        return await self.person(owner)

    async def entries(self, *, since=0):
        """Everything that was recorded."""
        everyone = _Everyone()
        return list((await self.history.feed(everyone, since=since)).entries)


class _Everyone(set):
    def __contains__(self, key):
        return True


class Clock:
    def __init__(self):
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self):
        return self.now

    def pass_by(self, **time):
        self.now += timedelta(**time)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def url(tmp_path, empty_registry):
    return f"sqlite:///{shutil.copy(empty_registry, tmp_path)}"


@pytest.fixture
async def another(url, clock):
    """Open one more process at the same database."""
    opened = []

    async def _another(**given):
        database = await Database.open(url)
        opened.append(database)
        return World(database, clock, **given)

    yield _another
    for database in opened:
        await database.close()


@pytest.fixture
async def world(another):
    return await another()
