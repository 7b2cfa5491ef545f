"""Undo: every kind of change is taken back, an undo too, and nothing that came later is lost by it."""

import pytest

from skillyard.errors import ConflictError, NotAllowedError, NotFoundError
from skillyard.history.entries import Why
from skillyard.identity.principals import Role, Scope
from skillyard.registry.drafts import draft_of
from skillyard.registry.skills import Visibility
from skillyard.skill.bundle import Bundle, BundleFile

pytestmark = pytest.mark.anyio

WHY = Why(reason="a test asked for it")


async def is_there(world, skill):
    try:
        await world.get(skill)
    except NotFoundError:
        return False
    return True


async def test_undoing_a_creation_takes_the_skill_away_and_undoing_that_brings_it_back(world):
    bundle = world.bundle("made", BundleFile("a.bin", b"\0\1"))
    skill = await world.create(world.publisher, "made", BundleFile("a.bin", b"\0\1"))
    undone = await world.undo(world.publisher, (await world.last(skill)).number)
    assert (undone.change.action, await is_there(world, skill)) == ("skill.deleted", False)
    again = await world.undo(world.publisher, undone.number)
    assert again.change.action == "skill.created"
    assert await world.stored(skill) == bundle
    assert (await world.get(skill)).changed == again.number
    await world.undo(world.publisher, again.number)
    assert not await is_there(world, skill)


async def test_undoing_an_edit_brings_the_files_before_it_back(world):
    skill = await world.create(world.editor, "edited", BundleFile("data.bin", b"\0"), tags=["old"])
    edited = await world.yard.registry.workbench.edit(
        world.editor, skill.id, fields={"tags": ["new"]}, body="New.\n", files=(), why=WHY
    )
    undone = await world.undo(world.editor, (await world.last(skill)).number)
    now = await world.get(skill)
    assert (now.digest, now.tags, now.changed) == (skill.digest, ("old",), undone.number)
    assert await world.listing(world.editor, tags=["old"]) == ["edited"]
    await world.undo(world.editor, undone.number)
    assert (await world.get(skill)).digest == edited.digest


async def test_undoing_a_rename_gives_the_name_back(world):
    skill = await world.create(world.editor, "first-name")
    await world.yard.registry.workbench.edit(world.editor, skill.id, fields={"name": "second-name"}, why=WHY)
    renaming = await world.last(skill)
    other = await world.create(world.publisher, "first-name")
    with pytest.raises(ConflictError, match="already"):
        await world.undo(world.editor, renaming.number)
    await world.yard.registry.workbench.delete(world.publisher, other.id, why=WHY)
    await world.undo(world.editor, renaming.number)
    assert (await world.get(skill)).name == "first-name"


async def test_undoing_a_publication_over_files_that_state_no_name_keeps_the_name(world):
    nameless = Bundle([BundleFile("SKILL.md", b"---\ndescription: Says no name\n---\nFirst.\n")])
    publishing = world.yard.registry.publishing
    first = await publishing.publish_bundle(
        world.publisher, draft_of(nameless, folder="nameless"), namespace=world.team, why=WHY
    )
    await world.publish_bundle(world.publisher, world.bundle("nameless", body="Second.\n"))
    update = next(entry for entry in await world.entries(first.skill) if entry.change.action == "skill.updated")
    await world.undo(world.publisher, update.number)
    now = await world.get(first.skill)
    assert (now.name, now.digest) == ("nameless", nameless.digest)


async def test_undoing_a_deletion_brings_everything_back(world):
    done = await world.publish_bundle(
        world.publisher, world.bundle("deleted", tags=["t"]), "1.0.0", visibility=Visibility.PUBLIC
    )
    skill = done.skill
    await world.yard.registry.versions.tag(world.publisher, skill.id, "blessed", "1.0.0", why=WHY)
    before = await world.get(skill)
    await world.yard.registry.workbench.delete(world.publisher, skill.id, why=WHY)
    undone = await world.undo(world.publisher, (await world.last(skill)).number)
    after = await world.get(skill, world.stranger)
    assert (after.digest, after.files, after.tags, after.latest) == (before.digest, before.files, ("t",), "1.0.0")
    assert (await world.yard.registry.versions.get(world.stranger, skill.id, "blessed")).version == "1.0.0"
    await world.undo(world.publisher, undone.number)
    assert not await is_there(world, skill)


async def test_a_deletion_cannot_be_undone_while_the_name_is_taken(world):
    skill = await world.create(world.publisher, "wanted")
    await world.yard.registry.workbench.delete(world.publisher, skill.id, why=WHY)
    deletion = await world.last(skill)
    await world.create(world.publisher, "WANTED")
    with pytest.raises(ConflictError, match="already"):
        await world.undo(world.publisher, deletion.number)
    assert not await is_there(world, skill)


async def test_undoing_a_change_of_visibility_hides_the_skill_again(world):
    skill = await world.create(world.publisher, "shown")
    await world.yard.registry.workbench.show(world.publisher, skill.id, Visibility.PUBLIC, why=WHY)
    assert await world.listing(world.stranger) == ["shown"]
    undone = await world.undo(world.publisher, (await world.last(skill)).number)
    assert await world.listing(world.stranger) == []
    await world.undo(world.publisher, undone.number)
    assert await world.listing(world.stranger) == ["shown"]


async def test_undoing_a_publication_yanks_the_version(world):
    bundle = world.bundle("hasty")
    done = await world.publish_bundle(world.publisher, bundle, "1.0.0")
    undone = await world.undo(world.publisher, (await world.last(done.skill)).number)
    assert (undone.change.action, (await world.get(done.skill)).latest) == ("version.yanked", None)
    with pytest.raises(ConflictError):
        await world.publish_bundle(world.publisher, world.bundle("hasty", body="Other.\n"), "1.0.0")
    restored = await world.undo(world.publisher, undone.number)
    assert (restored.change.action, (await world.get(done.skill)).latest) == ("version.restored", "1.0.0")
    await world.undo(world.publisher, restored.number)
    assert (await world.get(done.skill)).latest is None


async def test_undoing_yank_and_restore(world):
    service = world.yard.registry.versions
    skill = (await world.publish_bundle(world.publisher, world.bundle("pulled"), "1.0.0")).skill
    await service.yank(world.publisher, skill.id, "1.0.0", why=Why(reason="broken"))
    yank = await world.last(skill)
    await service.restore(world.publisher, skill.id, "1.0.0", why=WHY)
    with pytest.raises(ConflictError, match="has changed since"):
        await world.undo(world.publisher, yank.number)
    undone = await world.undo(world.publisher, (await world.last(skill)).number)
    assert (await service.get(world.viewer, skill.id, "1.0.0")).yank_reason == "broken"
    await world.undo(world.publisher, undone.number)
    assert (await world.get(skill)).latest == "1.0.0"


async def test_undoing_a_tag_points_it_where_it_pointed(world):
    service = world.yard.registry.versions
    skill = (await world.publish_bundle(world.publisher, world.bundle("tagged"), "1.0.0")).skill
    await world.publish_bundle(world.publisher, world.bundle("tagged", body="Two.\n"), "2.0.0")
    await service.tag(world.publisher, skill.id, "blessed", "1.0.0", why=WHY)
    first = await world.last(skill)
    await service.tag(world.publisher, skill.id, "blessed", "2.0.0", why=WHY)
    second = await world.last(skill)
    with pytest.raises(ConflictError, match="has changed since"):
        await world.undo(world.publisher, first.number)
    undone = await world.undo(world.publisher, second.number)
    assert (await service.get(world.viewer, skill.id, "blessed")).version == "1.0.0"
    await world.undo(world.publisher, first.number)
    with pytest.raises(NotFoundError):
        await service.get(world.viewer, skill.id, "blessed")
    with pytest.raises(ConflictError, match="has changed since"):
        await world.undo(world.publisher, undone.number)


async def test_undoing_a_role_and_a_policy(world):
    namespaces = world.yard.namespaces
    await namespaces.set_member(world.boss, world.team, "viewer", Role.EDITOR, why=WHY)
    undone = await world.undo(world.boss, (await world.last()).number)
    roles = {member.name: member.role for member in await namespaces.members(world.boss, world.team)}
    assert roles["viewer"] is Role.VIEWER
    await world.undo(world.boss, undone.number)
    await namespaces.remove_member(world.boss, world.team, "viewer", why=WHY)
    await world.undo(world.boss, (await world.last()).number)
    roles = {member.name: member.role for member in await namespaces.members(world.boss, world.team)}
    assert roles["viewer"] is Role.EDITOR
    await world.set_policy(review=True)
    setting = await world.last()
    undone = await world.undo(world.boss, setting.number)
    assert not (await namespaces.get(world.boss, world.team)).policy.review
    await world.undo(world.boss, undone.number)
    assert (await namespaces.get(world.boss, world.team)).policy.review
    with pytest.raises(ConflictError, match="undone already"):
        await world.undo(world.boss, setting.number)


@pytest.mark.parametrize("later", ["edit", "rename", "publish", "show", "delete"])
async def test_a_creation_cannot_be_undone_once_the_skill_moved_on(world, later):
    workbench = world.yard.registry.workbench
    skill = await world.create(world.publisher, "moving")
    creation = await world.last(skill)
    match later:
        case "edit":
            await world.edit(world.editor, skill, "New.\n")
        case "rename":
            await workbench.edit(world.editor, skill.id, fields={"name": "moved"}, why=WHY)
        case "publish":
            await world.publish(world.publisher, skill, "1.0.0")
        case "show":
            await workbench.show(world.publisher, skill.id, Visibility.PUBLIC, why=WHY)
        case _:
            await workbench.delete(world.publisher, skill.id, why=WHY)
    number = await world.yard.database.number()
    with pytest.raises(ConflictError, match="has changed since"):
        await world.undo(world.publisher, creation.number)
    assert await is_there(world, skill) == (later != "delete")
    assert await world.yard.database.number() == number
    await world.undo(world.publisher, (await world.last(skill)).number)
    await world.undo(world.publisher, creation.number)
    assert not await is_there(world, skill)


async def test_an_edit_cannot_be_undone_once_the_skill_moved_on(world):
    skill = await world.create(world.editor, "moving")
    await world.edit(world.editor, skill, "One.\n")
    first = await world.last(skill)
    two = await world.edit(world.editor, skill, "Two.\n")
    with pytest.raises(ConflictError, match="has changed since"):
        await world.undo(world.editor, first.number)
    assert (await world.get(skill)).digest == two.digest
    await world.undo(world.editor, (await world.last(skill)).number)
    await world.undo(world.editor, first.number)
    assert (await world.get(skill)).digest == skill.digest


async def test_an_entry_is_undone_once(world):
    skill = await world.create(world.editor, "once")
    await world.edit(world.editor, skill, "New.\n")
    entry = await world.last(skill)
    undone = await world.undo(world.editor, entry.number)
    assert undone.change.undoes == entry.number
    assert (await world.yard.registry.chronicle.entry(world.editor, entry.number)).undone_by == undone.number
    with pytest.raises(ConflictError, match="undone already"):
        await world.undo(world.editor, entry.number)


async def test_what_was_refused_or_cannot_be_taken_back_is_not_undone(world):
    skill = await world.create(world.editor, "refused")
    await world.edit(world.editor, skill, "One.\n")
    with pytest.raises(ConflictError):
        await world.edit(world.editor, skill, "Two.\n", base=skill.digest)
    with pytest.raises(ConflictError, match="nothing to undo"):
        await world.undo(world.editor, (await world.last(skill)).number)
    await world.set_policy(review=True)
    done = await world.publish(world.publisher, skill, "1.0.0")
    await world.yard.registry.versions.review(world.boss, skill.id, "1.0.0", approve=True, why=WHY)
    with pytest.raises(ConflictError, match="cannot be undone"):
        await world.undo(world.boss, (await world.last(skill)).number)
    assert (await world.get(skill)).latest == done.version.version


async def test_undoing_needs_the_right_to_make_the_change(world):
    skill = await world.create(world.publisher, "guarded", visibility=Visibility.PUBLIC)
    creation = await world.last(skill)
    await world.publish(world.publisher, skill, "1.0.0")
    publication = await world.last(skill)
    for principal in (world.stranger, world.viewer, world.editor):
        for entry in (creation, publication):
            with pytest.raises(NotAllowedError):
                await world.undo(principal, entry.number)
    writer = await world.with_scope(world.publisher, Scope.WRITE)
    with pytest.raises(NotAllowedError, match="scope"):
        await world.undo(writer, publication.number)
    with pytest.raises(NotFoundError):
        await world.undo(world.foreigner, creation.number)
    with pytest.raises(NotFoundError):
        await world.undo(world.boss, 10**9)
    assert (await world.get(skill)).latest == "1.0.0"


async def test_who_may_not_undo_a_change_is_told_so_even_if_it_was_undone(world):
    skill = await world.create(world.publisher, "gone")
    creation = await world.last(skill)
    await world.undo(world.publisher, creation.number)
    with pytest.raises(NotAllowedError):
        await world.undo(world.editor, creation.number)
    with pytest.raises(ConflictError, match="undone already"):
        await world.undo(world.publisher, creation.number)
