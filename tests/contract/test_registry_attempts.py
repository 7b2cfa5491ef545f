"""Attempts: a rehearsal answers like the real thing and leaves nothing; what is refused is told under its name."""

import pytest
from sqlalchemy import func, select

from skillyard.db.base import Base
from skillyard.errors import ConflictError, NotAllowedError, NotFoundError
from skillyard.history.entries import Why
from skillyard.registry.drafts import draft_of
from skillyard.registry.policies import PolicyError
from skillyard.registry.skills import VersionState, Visibility
from skillyard.skill.bundle import BundleFile

pytestmark = pytest.mark.anyio

WHY = Why(reason="a test asked for it")
TABLES = Base.metadata.tables


async def rows(world):
    """How many rows each table has, and the number of the last change."""
    async with world.yard.database.read() as session:
        counts = {name: await session.scalar(select(func.count()).select_from(table)) for name, table in TABLES.items()}
    return counts, await world.yard.database.number()


async def told(world, principal, skill):
    page = await world.yard.registry.chronicle.entries(principal, skill=skill, limit=200)
    return [(entry.change.action, entry.done) for entry in page.entries]


async def test_a_rehearsed_publication_is_what_the_real_one_becomes(world):
    bundle = world.bundle("planned", BundleFile("data.bin", b"\0"))
    before = await rows(world)
    planned = await world.publish_bundle(world.publisher, bundle, visibility=Visibility.PUBLIC, dry_run=True)
    assert await rows(world) == before
    with pytest.raises(NotFoundError):
        await world.yard.registry.bundles.load(bundle.digest)
    real = await world.publish_bundle(world.publisher, bundle, visibility=Visibility.PUBLIC)
    for done in (planned, real):
        assert (done.created, done.changed, done.skill.full_name) == (True, True, "team/planned")
        assert (done.version.version, done.version.state) == ("0.1.0", VersionState.PUBLISHED)
        assert (done.skill.visibility, done.skill.digest, len(done.skill.files)) == (
            Visibility.PUBLIC,
            bundle.digest,
            2,
        )


async def test_rehearsing_what_is_published_finds_nothing_to_change(world):
    bundle = world.bundle("same")
    await world.publish_bundle(world.publisher, bundle)
    before = await rows(world)
    again = await world.publish_bundle(world.publisher, bundle, dry_run=True)
    assert (again.created, again.changed, again.version.version) == (False, False, "0.1.0")
    shown = await world.publish_bundle(world.publisher, bundle, visibility=Visibility.PUBLIC, dry_run=True)
    assert (shown.created, shown.changed, shown.skill.visibility) == (False, True, Visibility.PUBLIC)
    more = await world.publish_bundle(world.publisher, world.bundle("same", body="More.\n"), dry_run=True)
    assert (more.created, more.version.version) == (True, "0.1.1")
    assert await rows(world) == before


async def test_a_rehearsal_is_refused_as_the_real_thing_and_that_is_not_told(world):
    first = await world.publish_bundle(world.publisher, world.bundle("strict"), "1.0.0")
    await world.edit(world.editor, first.skill, "Never published.\n")
    await world.set_policy(max_files=1)
    other = world.bundle("strict", body="Other.\n")
    large = world.bundle("large", BundleFile("more.md", b"x"))
    before = await rows(world)
    for kind, principal, bundle, given in (
        (NotAllowedError, world.editor, other, {}),
        (NotFoundError, world.stranger, other, {}),
        (ConflictError, world.publisher, other, {"version": "1.0.0"}),
        (ConflictError, world.publisher, other, {}),
        (ConflictError, world.publisher, other, {"base": "sha256:" + "0" * 64}),
        (PolicyError, world.publisher, large, {}),
    ):
        with pytest.raises(kind) as rehearsed:
            await world.publish_bundle(principal, bundle, dry_run=True, **given)
        assert await rows(world) == before
        with pytest.raises(kind) as real:
            await world.publish_bundle(principal, bundle, **given)
        assert real.value.as_dict() == rehearsed.value.as_dict()
        before = await rows(world)


async def test_an_import_is_rehearsed_too(world):
    intake = world.yard.registry.intake
    draft = draft_of(world.bundle("taken"))
    before = await rows(world)
    planned = await intake.take(world.editor, draft, namespace=world.team, dry_run=True, why=WHY)
    assert (planned.created, planned.changed) == (True, True)
    assert await rows(world) == before
    await intake.take(world.editor, draft, namespace=world.team, why=WHY)
    again = await intake.take(world.editor, draft, namespace=world.team, dry_run=True, why=WHY)
    assert (again.created, again.changed) == (False, False)


async def test_refused_content_is_told_of_the_skill_that_has_its_name(world):
    skill = await world.create(world.editor, "taken")
    other = draft_of(world.bundle("taken", body="Other.\n"))
    with pytest.raises(ConflictError, match="already"):
        await world.yard.registry.workbench.create(world.editor, other, namespace=world.team, why=WHY)
    with pytest.raises(ConflictError, match="never published"):
        await world.yard.registry.intake.take(world.editor, other, namespace=world.team, why=WHY)
    refused = [("skill.updated", False), ("skill.created", False)]
    assert await told(world, world.viewer, "team/taken") == [*refused, ("skill.created", True)]
    assert await told(world, world.viewer, skill.id) == [*refused, ("skill.created", True)]


async def test_refused_content_of_no_skill_is_told_under_its_name_to_members(world):
    await world.set_policy(max_files=1)
    with pytest.raises(PolicyError):
        await world.publish_bundle(world.publisher, world.bundle("large", BundleFile("more.md", b"x")))
    assert await told(world, world.viewer, "team/large") == [("version.published", False)]
    for name in ("team/large", "large"):
        with pytest.raises(NotFoundError):
            await told(world, world.stranger, name)


@pytest.mark.parametrize("name", ["team/gone", "gone", "Gone"])
async def test_the_history_of_a_deleted_skill_is_found_by_its_name(world, name):
    skill = await world.create(world.publisher, "gone")
    await world.yard.registry.workbench.delete(world.publisher, skill.id, why=WHY)
    for principal in (world.viewer, world.boss):
        assert await told(world, principal, name) == [("skill.deleted", True), ("skill.created", True)]
    for principal in (world.stranger, world.foreigner):
        with pytest.raises(NotFoundError, match="not for you"):
            await told(world, principal, name)
    await world.create(world.publisher, "gone", body="Another.\n")
    assert len(await told(world, world.viewer, name)) == 3


async def test_what_was_public_when_it_was_deleted_stays_known(world):
    skill = await world.create(world.publisher, "seen", visibility=Visibility.PUBLIC)
    await world.yard.registry.workbench.delete(world.publisher, skill.id, why=WHY)
    assert await told(world, world.stranger, "team/seen") == [("skill.deleted", True), ("skill.created", True)]
