"""Searching the registry: who finds what, how fresh it is, and that the index is never more than a copy."""

import asyncio
import shutil
import threading
import time
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from skillyard.app import registry_index
from skillyard.app.yard import open_yard, search_folder
from skillyard.config.settings import Settings
from skillyard.errors import InputError, UnavailableError
from skillyard.history.entries import Why
from skillyard.registry.drafts import draft_of
from skillyard.registry.search_documents import Mark, Narrowed, Stage
from skillyard.registry.skills import Visibility
from skillyard.search import engine
from skillyard.search.index_folder import BrokenIndexError, View

pytestmark = pytest.mark.anyio

WHY = Why(reason="a test asked for it")
EVERYONE = ("boss", "publisher", "editor", "viewer", "stranger", "foreigner")
MEMBERS = {"boss", "publisher", "editor", "viewer"}
TENANT = MEMBERS | {"stranger"}


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """However slow the machine is, what was just written is waited for."""
    monkeypatch.setattr(registry_index, "PATIENCE", 60.0)


async def names(yard, who, query, **narrowed):
    found = await yard.search.search(who, query, narrowed=Narrowed(**narrowed))
    assert found.total == len(found.best)
    return sorted(one.skill.name for one in found.best)


@pytest.mark.parametrize("visibility", list(Visibility))
async def test_a_skill_is_found_by_those_it_is_for(world, visibility):
    creator = world.boss if visibility is Visibility.DISCOVERABLE else world.publisher
    await world.create(creator, "walrus-feeder", description="Feeds a walrus.", visibility=visibility)
    readers = MEMBERS if visibility is Visibility.PRIVATE else TENANT
    found = {person for person in EVERYONE if await names(world.yard, getattr(world, person), "feed a walrus")}
    assert found == readers


async def test_who_joins_and_who_leaves_finds_accordingly(world):
    await world.create(world.publisher, "walrus-feeder", description="Feeds a walrus.")
    people = {person.name: person for person in await world.yard.people.everyone(world.boss)}
    await world.yard.namespaces.set_member(
        world.boss, world.team, "stranger", world.viewer.role_in(_team(world)), why=WHY
    )
    assert await names(world.yard, await world.yard.access.of_person(people["stranger"]), "walrus") == ["walrus-feeder"]
    await world.yard.namespaces.set_member(world.boss, world.team, "stranger", None, why=WHY)
    assert await names(world.yard, await world.yard.access.of_person(people["stranger"]), "walrus") == []


def _team(world):
    return next(iter(world.viewer.roles.keys() & world.editor.roles.keys() & world.publisher.roles.keys()))


async def test_every_change_is_searched_at_once_where_it_was_made(world):
    yard, workbench = world.yard, world.yard.registry.workbench
    skill = await world.create(world.publisher, "walrus-feeder", description="Feeds a walrus.")
    assert await names(yard, world.viewer, "walrus") == ["walrus-feeder"]
    await workbench.edit(world.publisher, skill.id, fields={"description": "Feeds a pelican."}, body="x", why=WHY)
    assert await names(yard, world.viewer, "pelican") == ["walrus-feeder"]
    await workbench.edit(world.publisher, skill.id, fields={"name": "bird-feeder"}, why=WHY)
    assert await names(yard, world.viewer, "walrus") == []
    assert await names(yard, world.stranger, "pelican") == []
    await workbench.show(world.publisher, skill.id, Visibility.PUBLIC, why=WHY)
    assert await names(yard, world.stranger, "pelican") == ["bird-feeder"]
    await workbench.show(world.publisher, skill.id, Visibility.PRIVATE, why=WHY)
    assert await names(yard, world.stranger, "pelican") == []
    await workbench.delete(world.publisher, skill.id, why=WHY)
    assert await names(yard, world.viewer, "pelican") == []
    entry = await yard.history.entry(await yard.database.number())
    await yard.history.undo(world.publisher.actor, entry, WHY)
    assert await names(yard, world.viewer, "pelican") == ["bird-feeder"]
    entry = await yard.history.entry(await yard.database.number())
    await yard.history.undo(world.publisher.actor, entry, WHY)
    assert await names(yard, world.viewer, "pelican") == []


async def test_bodies_tags_and_other_languages_are_searched(world):
    await world.create(
        world.editor, "one", description="보고서를 작성합니다", body="Mentions an okapi.\n", tags=["ledger"]
    )
    yard = world.yard
    assert await names(yard, world.viewer, "okapi") == ["one"]
    assert await names(yard, world.viewer, "ledger") == ["one"]
    assert await names(yard, world.viewer, "보고서 작성") == ["one"]
    (found,) = (await yard.search.search(world.viewer, "okapi")).best
    (start, end) = found.snippet.marks[0]
    assert found.snippet.text[start:end] == "okapi"


async def test_a_search_is_narrowed_to_namespace_tags_visibility_and_stage(world):
    yard = world.yard
    await world.create(world.publisher, "walrus-a", tags=["sea", "big"])
    await world.create(world.publisher, "walrus-b", tags=["sea"], visibility=Visibility.PUBLIC)
    own = await world.create(world.publisher, "walrus-c", namespace=None)
    await world.publish(world.publisher, own, "1.0.0")

    async def found(**narrowed):
        return await names(yard, world.publisher, "walrus", **narrowed)

    assert await found() == ["walrus-a", "walrus-b", "walrus-c"]
    assert await found(namespace=world.team) == ["walrus-a", "walrus-b"]
    assert await found(namespace="publisher") == ["walrus-c"]
    assert await found(namespace="nowhere") == []
    assert await found(tags=("sea",)) == ["walrus-a", "walrus-b"]
    assert await found(tags=("sea", "big")) == ["walrus-a"]
    assert await found(tags=("SEA",)) == []
    assert await found(visibility=Visibility.PUBLIC) == ["walrus-b"]
    assert await found(visibility=Visibility.DISCOVERABLE) == []
    assert await found(stage=Stage.DRAFT) == ["walrus-a", "walrus-b"]
    assert await found(stage=Stage.PUBLISHED) == ["walrus-c"]
    assert await found(namespace=world.team, tags=("sea",), visibility=Visibility.PRIVATE, stage=Stage.DRAFT) == [
        "walrus-a"
    ]


async def test_the_stage_follows_the_versions(world):
    yard, versions = world.yard, world.yard.registry.versions
    skill = await world.create(world.publisher, "walrus")

    async def stage():
        stages = [stage for stage in Stage if await names(yard, world.viewer, "walrus", stage=stage)]
        assert len(stages) == 1
        return stages[0]

    assert await stage() == "draft"
    await world.publish(world.publisher, skill, "1.0.0")
    assert await stage() == "published"
    await versions.yank(world.publisher, skill.id, "1.0.0", why=WHY)
    assert await stage() == "yanked"
    await versions.restore(world.publisher, skill.id, "1.0.0", why=WHY)
    assert await stage() == "published"
    await world.set_policy(review=True)
    other = await world.create(world.publisher, "other")
    await world.publish(world.publisher, other, "1.0.0")
    assert await names(yard, world.viewer, "other", stage=Stage.PENDING) == ["other"]
    await versions.review(world.boss, other.id, "1.0.0", approve=False, why=WHY)
    assert await names(yard, world.viewer, "other", stage=Stage.DRAFT) == ["other"]


@pytest.mark.parametrize("query", ["", " ", "\n\t", "\N{IDEOGRAPHIC SPACE}"])
async def test_an_empty_query_is_an_error_that_says_so(world, query):
    with pytest.raises(InputError) as caught:
        await world.yard.search.search(world.viewer, query)
    assert caught.value.details["field"] == "q"
    assert caught.value.hint


HOSTILE = [
    "\0",
    "\x1b[2J\x07",
    "key:* OR seen_by:*",
    'name:"walrus" AND NOT (',
    "\x00mark",
    "*",
    "a" * 100_000,
    "a " * 50_000,
    "산" * 50_000,
    "\ud800 walrus",
    "\N{PILE OF POO}" * 1000,
    "../../etc/passwd",
    "walrus" * 20_000,
    "".join(map(chr, range(1, 3000))),
]


@pytest.mark.parametrize("query", HOSTILE, ids=[ascii(query)[:30] for query in HOSTILE])
async def test_a_hostile_query_is_answered_in_time_and_breaks_nothing(world, query):
    await world.create(world.publisher, "walrus")
    started = time.monotonic()
    found = await world.yard.search.search(world.viewer, query, narrowed=Narrowed(namespace=query, tags=(query,)))
    assert found.best == ()
    found = await world.yard.search.search(world.viewer, query)
    assert {one.skill.name for one in found.best} <= {"walrus"}
    assert time.monotonic() - started < 5
    assert await names(world.yard, world.viewer, "walrus") == ["walrus"]


def homed(settings, home):
    """The same registry for a server that has another home."""
    places = {"database_url": settings.database, "blobs_url": settings.blobs, "home": settings.home / home}
    return settings.model_copy(update=places)


async def until(check, *, seconds=5):
    """Wait for something that is to become true."""
    end = time.monotonic() + seconds
    while not await check():
        assert time.monotonic() < end, "it did not come true"
        await asyncio.sleep(0.02)


@asynccontextmanager
async def followed(yard):
    task = asyncio.create_task(yard.search.index.follow(asyncio.sleep))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


async def test_who_does_not_write_the_index_finds_what_another_wrote_within_a_second(world, yard_settings):
    yard = world.yard
    assert await names(yard, world.viewer, "walrus") == []  # now it has the pen
    async with open_yard(yard_settings) as other, followed(yard), followed(other):
        await names(other, world.viewer, "walrus")
        for maker, name in ((yard, "walrus-one"), (other, "walrus-two")):
            await maker.registry.publishing.publish_bundle(
                world.publisher, draft_of(world.bundle(name)), namespace=world.team, version="1.0.0", why=WHY
            )
            for reader in (yard, other):
                await until(lambda reader=reader, name=name: _finds(reader, world.viewer, name), seconds=1)


async def _finds(yard, who, name):
    return name in await names(yard, who, name)


async def test_an_index_that_lags_behind_shows_nobody_what_is_no_longer_theirs(world, yard_settings):
    workbench = world.yard.registry.workbench
    shown = [
        await world.create(world.publisher, f"walrus-{number}", visibility=Visibility.PUBLIC) for number in range(3)
    ]
    assert len(await names(world.yard, world.stranger, "walrus")) == 3
    async with open_yard(yard_settings) as other:
        assert len(await names(other, world.stranger, "walrus")) == 3
        await workbench.show(world.publisher, shown[0].id, Visibility.PRIVATE, why=WHY)
        await workbench.delete(world.publisher, shown[1].id, why=WHY)
        found = await other.search.search(world.stranger, "walrus")
        assert [one.skill.id for one in found.best] == [shown[2].id]
        assert found.total == 1
        assert not found.is_fresh


async def test_whoever_is_left_takes_the_pen(world, yard_settings):
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(open_yard(homed(yard_settings, "shared")))
        other = await stack.enter_async_context(open_yard(homed(yard_settings, "shared")))
        await names(first, world.viewer, "walrus")
        await world.create(world.publisher, "walrus")
        assert await names(other, world.viewer, "walrus") == []
        await first.search.index.close()
        assert await names(other, world.viewer, "walrus") == ["walrus"]


async def test_an_index_is_closed_when_what_is_being_written_is_written(world, yard_settings, monkeypatch):
    writing, going_on = threading.Event(), threading.Event()
    usual = engine.put

    def put(*given):
        writing.set()
        assert going_on.wait(20)
        usual(*given)

    async with open_yard(homed(yard_settings, "closing")) as yard:
        await names(yard, world.viewer, "walrus")
        monkeypatch.setattr(engine, "put", put)
        await world.create(world.publisher, "walrus")
        searching = asyncio.create_task(names(yard, world.viewer, "walrus"))
        assert await asyncio.to_thread(writing.wait, 20)
        closing = asyncio.create_task(yard.search.index.close())
        await asyncio.wait([closing], timeout=0.1)
        assert not closing.done()
        going_on.set()
        await closing
        await asyncio.wait([searching])
        assert searching.cancelled()


async def test_each_home_has_its_own_index_of_one_database(world, yard_settings):
    await world.create(world.publisher, "walrus")
    async with open_yard(homed(yard_settings, "elsewhere")) as other:
        assert await names(other, world.viewer, "walrus") == ["walrus"]
        assert search_folder(yard_settings.home / "elsewhere").is_dir()


def indexes(settings):
    folder = search_folder(settings.home) / f"v{engine.FORMAT}"
    return sorted(path for path in folder.iterdir() if path.name.isdecimal())


async def test_an_index_is_opened_again_and_not_made_again(world, yard_settings):
    settings = homed(yard_settings, "again")
    await world.create(world.publisher, "walrus")
    for _ in range(3):
        async with open_yard(settings) as yard:
            assert await names(yard, world.viewer, "walrus") == ["walrus"]
        assert [path.name for path in indexes(settings)] == ["00000001"]


async def broken_meta(path):
    path.joinpath("meta.json").write_text("{")


async def no_segments(path):
    for file in path.glob("*.*"):
        if file.name != "meta.json":
            file.unlink()


async def no_folder(path):
    shutil.rmtree(path.parent)


async def of_another_database(path):
    _remark(path, str(Mark(number=3, entry="another")))


async def ahead_of_the_database(path):
    _remark(path, str(Mark(number=10**9, entry="later")))


async def without_a_mark(path):
    _remark(path, "[")


def _remark(path, text):
    writer = engine.writer(engine.new_index(str(path)))
    engine.set_mark(writer, text)
    writer.commit()
    writer.wait_merging_threads()


@pytest.mark.parametrize(
    "spoil", [broken_meta, no_segments, no_folder, of_another_database, ahead_of_the_database, without_a_mark]
)
async def test_an_index_that_cannot_be_used_is_made_anew(world, yard_settings, spoil):
    settings = homed(yard_settings, spoil.__name__)
    await world.create(world.publisher, "walrus")
    async with open_yard(settings) as yard:
        assert await names(yard, world.viewer, "walrus") == ["walrus"]
    await spoil(indexes(settings)[0])
    async with open_yard(settings) as yard:
        assert await names(yard, world.viewer, "walrus") == ["walrus"]


async def test_an_index_that_breaks_while_it_is_used_is_made_anew_under_way(world, yard_settings):
    settings = homed(yard_settings, "under-way")
    await world.create(world.publisher, "walrus")
    async with open_yard(settings) as yard:
        assert await names(yard, world.viewer, "walrus") == ["walrus"]
        await no_segments(indexes(settings)[0])
        await world.create(world.publisher, "pelican")
        assert await names(yard, world.viewer, "pelican") == ["pelican"]
        assert await names(yard, world.viewer, "walrus") == ["walrus"]


async def test_an_index_that_fails_in_a_search_is_made_anew_but_not_again_and_again(world, yard_settings, monkeypatch):
    settings = homed(yard_settings, "failing")
    await world.create(world.publisher, "walrus")
    search = View.search
    failures = iter([True, False, True])

    def fail(view, query, **given):
        if next(failures, False):
            raise BrokenIndexError("wrong bytes")
        return search(view, query, **given)

    async with open_yard(settings) as yard:
        await names(yard, world.viewer, "walrus")
        monkeypatch.setattr(View, "search", fail)
        assert await names(yard, world.viewer, "walrus") == ["walrus"]
        (made,) = indexes(settings)
        with pytest.raises(BrokenIndexError):
            await names(yard, world.viewer, "walrus")
        assert await names(yard, world.viewer, "walrus") == ["walrus"]
        assert indexes(settings) == [made]


async def test_a_database_that_went_back_in_time_is_searched_as_it_is_now(tmp_path):
    settings = Settings(home=tmp_path)
    database, backup = tmp_path / "registry.sqlite", tmp_path / "backup"

    async def make(yard, name):
        who = await yard.access.operator("me")
        fields = {"name": name, "description": f"Does {name}."}
        await yard.registry.workbench.create_written(who, fields, "Text.", why=WHY)
        return who

    async with open_yard(settings) as yard:
        await make(yard, "walrus")
    shutil.copy(database, backup)
    async with open_yard(settings) as yard:
        who = await make(yard, "pelican")
        assert await names(yard, who, "pelican") == ["pelican"]
    for file in tmp_path.glob("registry.sqlite*"):
        file.unlink()
    backup.replace(database)
    async with open_yard(settings) as yard:  # at this number another thing had happened
        who = await make(yard, "okapi")
        await make(yard, "lemur")
        assert await names(yard, who, "pelican") == []
        assert await names(yard, who, "walrus") == ["walrus"]
        assert await names(yard, who, "okapi") == ["okapi"]


async def test_searches_go_on_while_the_index_is_made_anew(world, yard_settings):
    settings = homed(yard_settings, "going-on")
    await world.create(world.publisher, "walrus")
    async with open_yard(settings) as yard:
        await names(yard, world.viewer, "walrus")

        async def search():
            return await names(yard, world.viewer, "walrus")

        async def spoil():
            indexes(settings)[-1].joinpath("meta.json").unlink()
            await world.create(world.publisher, "pelican")

        done = await asyncio.gather(*(search() for _ in range(5)), spoil(), *(search() for _ in range(20)))
        assert [found for found in done if found is not None] == [["walrus"]] * 25
        assert await names(yard, world.viewer, "pelican") == ["pelican"]


async def test_without_a_place_to_keep_it_there_is_no_search_and_the_error_says_so(world, yard_settings):
    home = yard_settings.home / "blocked"
    home.mkdir()
    (home / "search").write_text("in the way")
    async with open_yard(homed(yard_settings, "blocked")) as yard:
        with pytest.raises(UnavailableError, match="search index"):
            await names(yard, world.viewer, "walrus")


async def test_changes_that_concern_no_skill_are_passed_over(world):
    yard = world.yard
    skill = await world.create(world.publisher, "walrus")
    assert await names(yard, world.viewer, "walrus") == ["walrus"]
    for number in range(3):
        await yard.people.create(world.boss, f"person-{number}", why=WHY)
        found = await yard.search.search(world.viewer, "walrus")
        assert found.is_fresh
        assert [one.skill.id for one in found.best] == [skill.id]
