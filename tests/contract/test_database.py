import asyncio

import pytest
from sqlalchemy import MetaData, inspect, text

from skillyard.db.base import Base, new_id
from skillyard.db.database import Database
from skillyard.db.migrate import LOCK, migrate, migration_config, revisions
from skillyard.errors import BusyError, ConflictError, UnavailableError, UsageError
from skillyard.history.entries import Actor, Change, Subject, Why
from skillyard.history.service import History

ACTOR = Actor(tenant_id="t", name="tester")
CHANGE = Change(action="test.done", subject=Subject(kind="test", id="1", label="one", audience="tenant:t"))


def drop_everything(connection):
    present = MetaData()
    present.reflect(connection)
    present.drop_all(connection)


@pytest.fixture(params=["sqlite", "postgresql"])
def untouched(request, tmp_path):
    """The address of a database in which nothing was made yet."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'registry.sqlite'}"
        return
    with request.getfixturevalue("new_postgres_database")() as url:
        yield url


def run(coroutine):
    return asyncio.run(coroutine)


def test_no_acknowledged_update_is_lost_among_concurrent_writers(database_url):
    async def scenario():
        first, second = await Database.open(database_url), await Database.open(database_url)
        async with first.write() as transaction:
            await transaction.session.execute(text("CREATE TABLE tally (total INTEGER)"))
            await transaction.session.execute(text("INSERT INTO tally VALUES (0)"))

        async def add_one(database: Database):
            async with database.write() as transaction:
                total = await transaction.session.scalar(text("SELECT total FROM tally"))
                await asyncio.sleep(0)  # others get their chance to come between
                await transaction.session.execute(text("UPDATE tally SET total = :new"), {"new": total + 1})

        await asyncio.gather(*(add_one(database) for database in [first, second] * 40))
        async with second.read() as session:
            total = await session.scalar(text("SELECT total FROM tally"))
        await first.close()
        await second.close()
        return total

    assert run(scenario()) == 80


def test_change_numbers_have_no_gaps_and_follow_the_order_of_commits(database_url):
    async def scenario():
        first, second = await Database.open(database_url), await Database.open(database_url)
        histories = [History(first), History(second)]
        seen: list[int] = []
        done = asyncio.Event()

        async def follow():
            position = 0
            while not done.is_set() or await second.number() > position:
                page = await histories[1].feed({"tenant:t"}, since=position)
                seen.extend(entry.number for entry in page.entries)
                position = page.next
                await asyncio.sleep(0)

        async def change(index: int):
            try:
                async with (first, second)[index % 2].write() as transaction:
                    histories[index % 2].record(transaction, ACTOR, CHANGE, Why())
                    await asyncio.sleep(0)
                    if index % 5 == 0:
                        raise ConflictError("changed my mind")
            except ConflictError:
                pass

        follower = asyncio.create_task(follow())
        await asyncio.gather(*map(change, range(50)))
        done.set()
        await follower
        await first.close()
        await second.close()
        return seen

    assert run(scenario()) == list(range(1, 41))


def test_a_reader_sees_one_moment_while_others_write(database_url):
    async def scenario():
        database = await Database.open(database_url)
        history = History(database)
        async with database.read() as session:
            before = await session.scalar(text("SELECT count(*) FROM history"))
            async with database.write() as transaction:
                history.record(transaction, ACTOR, CHANGE, Why())
            during = await session.scalar(text("SELECT count(*) FROM history"))
        number = await database.number()
        await database.close()
        return before, during, number

    assert run(scenario()) == (0, 0, 1)


def test_a_follower_wakes_for_changes_of_its_own_and_of_another_process(database_url):
    async def scenario():
        here, there = await Database.open(database_url), await Database.open(database_url)
        for writer in (here, there):
            present = await here.number()
            waiting = asyncio.create_task(here.wait_beyond(present, poll=0.01))
            async with writer.write() as transaction:
                History(writer).record(transaction, ACTOR, CHANGE, Why())
            assert await asyncio.wait_for(waiting, 5) == present + 1
        await here.close()
        await there.close()

    run(scenario())


def test_a_failed_write_leaves_nothing(database_url):
    async def scenario():
        database = await Database.open(database_url)
        try:
            async with database.write() as transaction:
                History(database).record(transaction, ACTOR, CHANGE, Why())
                raise ConflictError("no")
        except ConflictError:
            pass
        page = await History(database).feed({"tenant:t"}, since=0)
        await database.close()
        return page.entries, page.next

    assert run(scenario()) == ((), 0)


def test_migrations_lead_from_nothing_and_from_each_revision_to_what_the_tables_say(database_url):
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext
    from alembic.script import ScriptDirectory

    import skillyard.server.app  # noqa: F401 -- it knows the tables of every room

    async def scenario():
        script = ScriptDirectory.from_config(migration_config())
        assert [step.revision for step in reversed(list(script.walk_revisions()))] == revisions()
        database = await Database.open(database_url)
        engine = database._writer
        for start in revisions()[:-1]:
            async with engine.begin() as connection:
                await connection.run_sync(drop_everything)
            await migrate(engine, start)
            async with engine.begin() as connection:
                tenant = {"id": new_id(), "name": "old", "at": "2026-01-01 00:00:00"}
                await connection.execute(
                    text("INSERT INTO tenants (id, name, created_at) VALUES (:id, :name, :at)"), tenant
                )
            await migrate(engine)
            async with database.read() as session:
                assert await session.scalar(text("SELECT name FROM tenants")) == "old"
        async with engine.connect() as connection:
            difference = await connection.run_sync(
                lambda sync: compare_metadata(
                    MigrationContext.configure(sync, opts={"compare_type": True}), Base.metadata
                )
            )
            names = await connection.run_sync(lambda sync: set(inspect(sync).get_table_names()))
        await database.close()
        return difference, names

    difference, names = run(scenario())
    assert difference == []
    assert {"skills", "versions", "history", "change_counter"} <= names


def test_a_tenant_that_showed_skills_to_the_world_may_go_on_after_an_upgrade(database_url):
    import skillyard.server.app  # noqa: F401 -- it knows the tables of every room

    at = "2026-01-01 00:00:00"

    async def add(connection, table, **values):
        names = ", ".join(values)
        marks = ", ".join(f":{name}" for name in values)
        await connection.execute(text(f"INSERT INTO {table} ({names}) VALUES ({marks})"), values)

    async def scenario():
        database = await Database.open(database_url)
        engine = database._writer
        async with engine.begin() as connection:
            await connection.run_sync(drop_everything)
        await migrate(engine, "0011")
        async with engine.begin() as connection:
            await add(connection, "bundles", digest="sha256:0", size=1, created_at=at)
            for name, visibility in (("open", "discoverable"), ("closed", "public")):
                tenant, namespace = new_id(), new_id()
                await add(connection, "tenants", id=tenant, name=name, created_at=at)
                place = {"id": namespace, "tenant_id": tenant, "name": name, "kind": "team", "policy": "{}"}
                await add(connection, "namespaces", **place, created_at=at)
                skill = {"id": new_id(), "tenant_id": tenant, "namespace_id": namespace, "name": "tool"}
                seen = {"name_key": "tool", "visibility": visibility, "audience": "all", "digest": "sha256:0"}
                words = dict.fromkeys(("description", "content", "license", "compatibility"), "")
                rest = {"fields": "{}", "findings": "[]", "created_at": at, "updated_at": at, "changed": 1}
                await add(connection, "skills", **skill, **seen, **words, **rest, locked=False)
        await migrate(engine)
        async with database.read() as session:
            rows = await session.execute(text("SELECT name, shows_world FROM tenants"))
            found = {name: bool(shown) for name, shown in rows}
        await database.close()
        return found

    assert run(scenario()) == {"open": True, "closed": False}


def test_a_database_of_a_newer_release_is_not_touched(database_url):
    async def scenario():
        database = await Database.open(database_url)
        async with database.write() as transaction:
            await transaction.session.execute(text("UPDATE alembic_version SET version_num = '9999'"))
        await database.close()
        with pytest.raises(ConflictError, match="newer Skillyard"):
            await Database.open(database_url)

    run(scenario())


def test_a_file_that_cannot_be_made_is_told_as_people_name_it():
    with pytest.raises(UnavailableError, match="The database sqlite:////dev/null/yard did not answer") as refused:
        run(Database.open("sqlite:////dev/null/yard"))
    assert "its folder can be written" in refused.value.hint


def test_many_processes_may_open_an_empty_database_at_once(untouched):
    async def scenario():
        opened = await asyncio.gather(*(Database.open(untouched) for _ in range(4)))
        numbers = [await database.number() for database in opened]
        for database in opened:
            await database.close()
        return numbers

    assert run(scenario()) == [0, 0, 0, 0]


def test_a_database_that_is_up_to_date_opens_while_someone_writes(database_url):
    async def scenario():
        first = await Database.open(database_url)
        async with first.write() as transaction:
            History(first).record(transaction, ACTOR, CHANGE, Why())
            second = await asyncio.wait_for(Database.open(database_url), 5)
            during = await second.number()
        after = await second.number()
        await first.close()
        await second.close()
        return during, after

    assert run(scenario()) == (0, 1)


@pytest.mark.parametrize("same_process", [True, False], ids=["in one process", "in another"])
def test_who_waits_too_long_for_the_pen_is_told_to_come_back(database_url, same_process):
    async def scenario():
        first = await Database.open(database_url, busy_seconds=0.05)
        second = first if same_process else await Database.open(database_url, busy_seconds=0.05)
        try:
            async with first.write():
                with pytest.raises(BusyError) as caught:
                    async with second.write():
                        pytest.fail("there are two pens")
            async with second.write() as transaction:  # and can then
                transaction.take_number()
            return caught.value
        finally:
            await first.close()
            await second.close()

    error = run(scenario())
    assert (error.http_status, error.code) == (503, "busy")
    assert error.details == {"retry_after": 2}


def test_a_migration_waits_for_one_that_is_under_way(new_postgres_database):
    async def scenario(url):
        database = await Database.open(url)
        other = await Database.open(url, busy_seconds=0.05)
        async with database._writer.begin() as connection:
            await connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})
            waiting = asyncio.create_task(migrate(other._writer))
            done, _ = await asyncio.wait([waiting], timeout=0.3)
        await waiting
        await database.close()
        await other.close()
        return done

    with new_postgres_database() as url:
        assert run(scenario(url)) == set()


@pytest.mark.parametrize("url", ["mysql://x/y", "nonsense", "sqlite://", ""])
def test_a_url_of_no_database_we_use_is_refused(url):
    with pytest.raises(UsageError, match="no database"):
        run(Database.open(url))


def test_a_database_that_does_not_answer_is_named_without_its_password():
    with pytest.raises(UnavailableError) as refusal:
        run(Database.open("postgresql://someone:hunter2@127.0.0.1:9/x?connect_timeout=2"))
    assert "hunter2" not in str(refusal.value)
    assert "127.0.0.1:9" in str(refusal.value)
