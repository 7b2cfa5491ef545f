"""The registry read and counted through sessions that somebody else's program makes."""

import asyncio

import pytest
from sqlalchemy import NullPool
from sqlalchemy.ext.asyncio import async_sessionmaker, create_async_engine

from skillyard.agents.database_skills import DatabaseSkills
from skillyard.db.session_database import SessionDatabase, database_of
from skillyard.errors import NotAllowedError, StoreUnavailableError
from skillyard.usage.events import UsageKind

pytestmark = pytest.mark.anyio


@pytest.fixture
async def sessions(yard):
    engine = create_async_engine(yard.database.url, poolclass=NullPool)
    yield async_sessionmaker(engine)
    await engine.dispose()


def skills_of(world, sessions, person, skill_ids=None, **more):
    return DatabaseSkills(
        user_id=person.person_id, skill_ids=skill_ids, sessions=sessions, blobs=world.yard.blobs, **more
    )


async def published(world, name, version="1.0.0", **more):
    return await world.publish_bundle(world.publisher, world.bundle(name), version, **more)


async def test_a_person_gets_what_they_may_see(world, sessions):
    made = await published(world, "pdf")
    skills = skills_of(world, sessions, world.viewer)
    look = await skills.look()
    (folder,) = look.skills
    found = look.skills[folder]
    assert (folder, found.full_name, found.version) == ("pdf", "team/pdf", "1.0.0")
    assert await skills.bundle(found) == world.bundle("pdf")
    for other in (world.stranger, world.foreigner):
        assert not (await skills_of(world, sessions, other).look()).skills
        asked = await skills_of(world, sessions, other, [made.skill.id]).look()
        assert not asked.skills
        assert len(asked.problems) == 1


async def test_who_is_not_there_gets_nothing(world, sessions):
    skills = DatabaseSkills(user_id="nobody", skill_ids=None, sessions=sessions, blobs=world.yard.blobs)
    with pytest.raises(NotAllowedError):
        await skills.look()


async def test_uses_are_counted_beside_what_the_yard_itself_writes(world, sessions):
    made = await published(world, "pdf")
    skills = skills_of(world, sessions, world.viewer)
    found = (await skills.look()).skills["pdf"]
    number = await world.yard.database.number()

    async def report(kind):
        await skills.report(kind, [found], session="s", agent="a")

    async def change(at):
        await world.create(world.publisher, f"other-{at}")

    await asyncio.gather(*(report(UsageKind.LOADED) for _ in range(5)), *map(change, range(5)))
    days = await world.yard.registry.usage.of_skill(world.viewer, made.skill.id)
    assert [(day.event, day.version, day.agent, day.count) for day in days] == [(UsageKind.LOADED, "1.0.0", "a", 5)]
    assert await world.yard.database.number() == await database_of(sessions).number() == number + 5


async def test_an_open_database_is_used_as_it_is(world, sessions):
    assert database_of(world.yard.database.read) is world.yard.database
    assert isinstance(database_of(sessions), SessionDatabase)
    await database_of(sessions).close()


async def test_a_database_without_tables_is_told_of(tmp_path):
    engine = create_async_engine(f"sqlite+aiosqlite:///{tmp_path / 'empty'}", poolclass=NullPool)
    with pytest.raises(StoreUnavailableError, match="did not answer: no such table"):
        await database_of(async_sessionmaker(engine)).number()
