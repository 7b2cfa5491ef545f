"""Who sees what and who may do what; and listing it, page by page."""

import asyncio

import pytest

from skillyard.errors import InputError, NotAllowedError, NotFoundError
from skillyard.history.entries import Why
from skillyard.identity.principals import Scope
from skillyard.registry.drafts import draft_of
from skillyard.registry.skills import Visibility
from skillyard.skill.bundle import BundleFile

pytestmark = pytest.mark.anyio

WHY = Why(reason="a test asked for it")
EVERYONE = ("boss", "publisher", "editor", "viewer", "stranger", "foreigner")
MEMBERS = {"boss", "publisher", "editor", "viewer"}
TENANT = MEMBERS | {"stranger"}
READS = {
    "get": lambda world, who, skill: world.yard.registry.shelf.get(who, skill.id),
    "named": lambda world, who, skill: world.yard.registry.shelf.named(who, skill.name),
    "full": lambda world, who, skill: world.yard.registry.shelf.named(who, skill.name, skill.namespace),
    "file": lambda world, who, skill: world.yard.registry.shelf.file(who, skill.id, "SKILL.md"),
    "file id": lambda world, who, skill: world.yard.registry.shelf.file_with_id(who, skill.files[0].id),
    "versions": lambda world, who, skill: world.yard.registry.versions.all(who, skill.id),
    "version": lambda world, who, skill: world.yard.registry.versions.get(who, skill.id, "1.0.0"),
    "entry": lambda world, who, skill: world.yard.registry.chronicle.entry(who, skill.changed),
}
EDITORS = {"boss", "publisher", "editor"}
PUBLISHERS = {"boss", "publisher"}
WRITES = {
    "edit": (EDITORS, lambda world, who, skill: world.edit(who, skill, "New.\n")),
    "put": (
        EDITORS,
        lambda world, who, skill: world.yard.registry.workbench.put_file(
            who, skill.id, BundleFile("new.md", b"x"), why=WHY
        ),
    ),
    "show": (
        PUBLISHERS,
        lambda world, who, skill: world.yard.registry.workbench.show(who, skill.id, Visibility.DISCOVERABLE, why=WHY),
    ),
    "delete": (PUBLISHERS, lambda world, who, skill: world.yard.registry.workbench.delete(who, skill.id, why=WHY)),
    "publish": (PUBLISHERS, lambda world, who, skill: world.publish(who, skill, "2.0.0")),
    "yank": (PUBLISHERS, lambda world, who, skill: world.yard.registry.versions.yank(who, skill.id, "1.0.0", why=WHY)),
    "tag": (
        PUBLISHERS,
        lambda world, who, skill: world.yard.registry.versions.tag(who, skill.id, "blessed", "1.0.0", why=WHY),
    ),
}


async def published(world, visibility, name="seen"):
    await world.yard.world.allow(world.boss, allowed=True, why=WHY)
    done = await world.publish_bundle(world.publisher, world.bundle(name), "1.0.0", visibility=visibility)
    return done.skill


@pytest.mark.parametrize("visibility", list(Visibility))
async def test_a_skill_is_read_by_those_it_is_for_and_does_not_exist_for_others(world, visibility):
    skill = await published(world, visibility)
    readers = MEMBERS if visibility is Visibility.PRIVATE else TENANT
    for person in EVERYONE:
        principal = getattr(world, person)
        if person in readers:
            for read in READS.values():
                await read(world, principal, skill)
            assert await world.listing(principal) == ["seen"]
            continue
        for read in READS.values():
            with pytest.raises(NotFoundError):
                await read(world, principal, skill)
        assert await world.listing(principal) == []
        assert await world.listing(principal, namespace=world.team) == []
        assert [entry for entry in await world.entries(None, principal) if entry.change.subject.id == skill.id] == []
        feed = await world.yard.registry.chronicle.feed(principal, since=0)
        assert [item for item in feed.items if item.entry.change.subject.id == skill.id] == []


@pytest.mark.parametrize("action", WRITES)
async def test_a_skill_is_changed_by_those_who_may_only(world, action):
    allowed, change = WRITES[action]
    hidden = await published(world, Visibility.PRIVATE, "hidden")
    skill = await published(world, Visibility.PUBLIC)
    number = await world.yard.database.number()
    for person in set(EVERYONE) - allowed:
        with pytest.raises(NotAllowedError if person in MEMBERS else NotFoundError):
            await change(world, getattr(world, person), hidden)
        with pytest.raises(NotAllowedError if person in TENANT else NotFoundError):
            await change(world, getattr(world, person), skill)
    assert await world.yard.database.number() == number
    for person in sorted(allowed):
        too_little = Scope.READ if action in {"edit", "put", "show", "delete"} else Scope.WRITE
        with pytest.raises(NotAllowedError, match="scope"):
            await change(world, await world.with_scope(getattr(world, person), too_little), skill)
    assert await world.yard.database.number() == number
    await change(world, getattr(world, min(allowed - {"boss"})), skill)
    assert await world.yard.database.number() > number


async def test_who_may_put_a_skill_where(world):
    for person in ("viewer", "stranger", "foreigner"):
        with pytest.raises((NotAllowedError, NotFoundError)):
            await world.create(getattr(world, person), "intruder")
    with pytest.raises(NotAllowedError):
        await world.create(world.editor, "loud", visibility=Visibility.PUBLIC)
    with pytest.raises(NotAllowedError):
        await world.publish_bundle(world.editor, world.bundle("early"), "1.0.0")
    with pytest.raises(NotAllowedError):
        await world.create(world.publisher, "official", namespace="system")
    official = await world.create(world.boss, "official", namespace="system")
    assert (official.owner_id, official.visibility) == (None, Visibility.PUBLIC)
    assert await world.listing(world.stranger) == ["official"]
    assert await world.listing(world.foreigner) == []
    with pytest.raises(InputError, match="cannot be private"):
        await world.yard.registry.workbench.show(world.boss, official.id, Visibility.PRIVATE, why=WHY)
    with pytest.raises(NotAllowedError):
        await world.edit(world.publisher, official, "Mine.\n")


async def test_an_owner_is_who_made_the_skill(world):
    skill = await world.create(world.editor, "owned")
    assert skill.owner_id == world.editor.person_id
    edited = await world.edit(world.publisher, skill, "New.\n")
    assert edited.owner_id == world.editor.person_id


async def test_what_is_hidden_again_is_gone_for_strangers_and_its_history_too(world):
    workbench = world.yard.registry.workbench
    skill = await world.create(world.publisher, "fleeting", visibility=Visibility.PUBLIC)
    since = (await world.yard.registry.chronicle.feed(world.stranger, since=0)).next
    await workbench.show(world.publisher, skill.id, Visibility.PRIVATE, why=WHY)
    await world.edit(world.publisher, skill, "Secret.\n")
    assert await world.listing(world.stranger) == []
    assert [entry for entry in await world.entries(None, world.stranger) if entry.change.subject.kind == "skill"] == []
    feed = await world.yard.registry.chronicle.feed(world.stranger, since=since)
    assert [(item.entry.change.action, item.lost) for item in feed.items] == [("skill.visibility", True)]


async def test_a_page_shows_each_audience_in_one_order(world):
    shelf = world.yard.registry.shelf
    expected = []
    for number in range(24):
        name = f"skill-{(number * 7) % 24:02d}"
        place = [{"namespace": None}, {}, {"namespace": "system", "visibility": Visibility.PUBLIC}][number % 3]
        await world.create([world.editor, world.editor, world.boss][number % 3], name, **place)
        expected.append(name)
    expected.sort()
    for limit in (1, 5, 24, 200):
        assert await world.listing(world.editor, limit=limit) == expected
    first = await shelf.page(world.editor, limit=5)
    assert [skill.name for skill in first.skills] == expected[:5]
    last = await shelf.page(world.editor, limit=24)
    assert last.next is None


async def test_the_order_is_that_of_code_points_on_every_engine(world):
    names = ["a-b", "a1", "aa", "ab", "a-c", "b", "zebra", "éclair", "日本", "보고서"]
    for name in names:
        await world.create(world.editor, name)
    assert await world.listing(world.editor, limit=3) == sorted(names)


async def test_a_page_of_large_skills_ends_early_and_goes_on(world, monkeypatch):
    names = [f"skill-{number}" for number in range(6)]
    for name in names:
        await world.create(world.editor, name, body="x" * 10_000 if name != "skill-3" else "x" * 50_000)
    shelf = world.yard.registry.shelf
    assert len((await shelf.page(world.editor)).skills) == 6
    monkeypatch.setattr("skillyard.registry.shelf.MAX_PAGE_BYTES", 25_000)
    sizes, cursor = [], None
    for _ in names:
        page = await shelf.page(world.editor, cursor=cursor)
        sizes.append(len(page.skills))
        cursor = page.next
        if cursor is None:
            break
    # The one that is too large by itself comes alone.
    assert sizes == [2, 1, 1, 2]
    assert await world.listing(world.editor) == names


async def test_the_files_of_a_skill_count_for_the_size_of_a_page(world, monkeypatch):
    for name in ("a", "b"):
        await world.create(world.editor, name, *(BundleFile(f"{number}.txt", b"") for number in range(20)))
    monkeypatch.setattr("skillyard.registry.shelf.MAX_PAGE_BYTES", 10_000)
    assert len((await world.yard.registry.shelf.page(world.editor)).skills) == 1


async def test_equal_names_in_many_namespaces_come_once_each(world):
    for principal in (world.boss, world.publisher, world.editor):
        await world.create(principal, "same", namespace=None, visibility=Visibility.PUBLIC)
    await world.create(world.editor, "same")
    assert await world.listing(world.viewer, limit=1) == ["same"] * 4
    assert await world.listing(world.stranger, limit=1) == ["same"] * 3


async def test_every_skill_that_stays_is_listed_once_while_others_come_and_go(world):
    shelf, workbench = world.yard.registry.shelf, world.yard.registry.workbench
    stay = [f"stay-{number:02d}" for number in range(12)]
    for name in stay:
        await world.create(world.publisher, name)
    passing = [await world.create(world.publisher, f"stay-{number:02d}x") for number in range(0, 12, 2)]
    seen, cursor = [], None
    for step in range(100):
        page = await shelf.page(world.viewer, cursor=cursor, limit=2)
        seen.extend(skill.name for skill in page.skills)
        if page.next is None:
            break
        cursor = page.next
        if passing:
            # The last one listed goes, so that the cursor names what is no longer there.
            await workbench.delete(world.publisher, passing.pop(0).id, why=WHY)
        await world.create(world.publisher, f"stay-{step:02d}-new")
    assert [name for name in seen if name in stay] == stay
    assert len(seen) == len(set(seen))


async def test_a_cursor_of_someone_else_shows_nothing_of_theirs(world):
    for name in ("a", "b", "c"):
        await world.create(world.publisher, name)
    page = await world.yard.registry.shelf.page(world.publisher, limit=1)
    other = await world.yard.registry.shelf.page(world.stranger, cursor=page.next)
    assert other.skills == ()
    for wrong in ("x", "", "W10", "bnVsbA", "!" * 50, "WzEsMl0", "é"):
        if wrong:
            with pytest.raises(InputError, match="cursor"):
                await world.yard.registry.shelf.page(world.publisher, cursor=wrong)


async def test_tags_words_and_namespaces_narrow_a_listing(world):
    await world.create(world.editor, "report-writer", tags=["docs", "text"], description="Writes 100% of Reports")
    await world.create(world.editor, "보고서-작성", tags=["docs"], description="주간 보고서를 씁니다")
    await world.create(world.editor, "other", namespace=None, description="Übungen, under_scored")
    listing = world.listing
    assert await listing(world.editor, tags=["docs"]) == ["report-writer", "보고서-작성"]
    assert await listing(world.editor, tags=["docs", "text"]) == ["report-writer"]
    assert await listing(world.editor, tags=["DOCS"]) == []
    assert await listing(world.editor, q="REPORT") == ["report-writer"]
    assert await listing(world.editor, q="report writes") == ["report-writer"]
    assert await listing(world.editor, q="보고서") == ["보고서-작성"]
    assert await listing(world.editor, q="주간") == ["보고서-작성"]
    assert await listing(world.editor, q="ＲＥＰＯＲＴ") == ["report-writer"]
    assert await listing(world.editor, q="0%") == ["report-writer"]
    assert await listing(world.editor, q="r_s") == ["other"]
    assert await listing(world.editor, q="Übung") == ["other"]
    assert await listing(world.editor, q="nothing") == []
    assert await listing(world.editor, namespace="editor") == ["other"]
    assert await listing(world.editor, namespace="nowhere") == []
    assert await listing(world.editor, q="report", tags=["docs"], limit=1, namespace="team") == ["report-writer"]


async def test_half_a_name_finds_skills_that_one_may_see_the_likeliest_first(world):
    for name in ("deploy", "redeploy", "deploy-all", "wide_open%", "other"):
        await world.create(world.editor, name)
    await world.create(world.stranger, "deploy-secretly", namespace=None)

    async def found(typed, principal=world.viewer, limit=8):
        return [each.name for each in await world.yard.registry.shelf.named_like(principal, typed, limit=limit)]

    assert await found("dep") == ["deploy", "deploy-all", "redeploy"]
    assert await found(" DEP all ") == ["deploy-all"]
    assert await found("team/depl", limit=1) == ["deploy"]
    assert await found("nowhere/depl") == []
    assert await found("%") == ["wide_open%"]
    assert await found("_") == ["wide_open%"]
    assert await found("") == []
    assert await found("dep", world.stranger) == ["deploy-secretly"]


async def test_without_the_public_ones_there_remain_those_of_ones_own_namespaces(world):
    await world.create(world.stranger, "elsewhere", namespace=None, visibility=Visibility.PUBLIC)
    await world.create(world.boss, "official", namespace="system")
    await world.create(world.publisher, "ours-public", visibility=Visibility.PUBLIC)
    await world.create(world.publisher, "ours-private")
    assert await world.listing(world.viewer) == ["elsewhere", "official", "ours-private", "ours-public"]
    assert await world.listing(world.viewer, include_public=False) == ["ours-private", "ours-public"]
    assert await world.listing(world.viewer, include_public=False, limit=1) == ["ours-private", "ours-public"]


async def test_listing_while_many_write_never_fails(world):
    drafts = [draft_of(world.bundle(f"busy-{number}")) for number in range(20)]
    workbench = world.yard.registry.workbench
    writing = [workbench.create(world.editor, draft, namespace=world.team, why=WHY) for draft in drafts]
    looking = [world.listing(world.editor, limit=3) for _ in range(20)]
    done = await asyncio.gather(*writing, *looking)
    assert len(await world.listing(world.editor)) == 20
    for names in done[20:]:
        assert names == sorted(set(names))


async def test_a_role_is_told_to_members_only(world):
    skill = await world.create(world.publisher, "shown", visibility=Visibility.PUBLIC)
    for principal, said, role in (
        (world.viewer, "yours is 'viewer'", "viewer"),
        (world.stranger, "you have none there", None),
    ):
        with pytest.raises(NotAllowedError, match=said) as caught:
            await world.edit(principal, skill, "Mine.\n")
        assert caught.value.details == {"namespace": "team", "needed": "editor", "role": role}


async def test_what_was_read_before_is_seen_as_it_is_now_and_by_nobody_it_is_no_longer_for(world):
    skill = await published(world, Visibility.PUBLIC)
    registry, stranger = world.yard.registry, world.stranger

    async def look(who):
        seen = await registry.shelf.named(who, skill.name, skill.namespace)
        versions = await registry.versions.all(who, skill.id)
        around = await registry.references.around(who, skill.id)
        entries = await registry.chronicle.entries(who, skill=skill.id)
        return seen.content, len(versions), len(around.outgoing), len(entries.entries)

    before = await look(stranger)
    assert await look(stranger) == before
    skill = await world.edit(world.editor, skill, "Go on with [[another]].\n")
    await world.publish(world.publisher, skill, "2.0.0")
    content, versions, outgoing, entries = await look(stranger)
    assert "another" in content
    assert (versions, outgoing) == (before[1] + 1, before[2] + 1)
    assert entries > before[3]
    await registry.workbench.show(world.publisher, skill.id, Visibility.PRIVATE, why=WHY)
    with pytest.raises(NotFoundError):
        await look(stranger)
    with pytest.raises(NotFoundError):
        await registry.versions.all(stranger, skill.id)
    with pytest.raises(NotFoundError):
        await registry.references.around(stranger, skill.id)
    assert not (await registry.chronicle.entries(stranger, skill=skill.id)).entries
    assert (await look(world.viewer))[:3] == (content, versions, outgoing)
