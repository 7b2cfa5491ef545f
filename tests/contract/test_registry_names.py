"""Names of skills: what could not be a folder everywhere is refused at every door, and older ones stay of use."""

import pytest
from sqlalchemy import update

from skillyard.errors import InputError
from skillyard.history.entries import Why
from skillyard.registry.drafts import draft_of
from skillyard.registry.models import SkillRow
from skillyard.skill.bundle import Bundle, BundleFile
from skillyard.skill.folder_names import folder_name

pytestmark = pytest.mark.anyio

WHY = Why(reason="a test asked for it")
IMPOSSIBLE = ["con", "aux.md", "x.", "a:b", "a\\b", ".git", "node_modules", "-rf", "skill@1", 'a"b']


@pytest.mark.parametrize("name", IMPOSSIBLE)
async def test_no_door_takes_a_new_name_that_could_not_be_a_folder_everywhere(world, name):
    workbench, skill = world.yard.registry.workbench, await world.create(world.editor, "good")
    bundle = world.bundle(name)
    doors = [
        lambda: workbench.create_written(
            world.editor, {"name": name, "description": "d"}, "", namespace="team", why=WHY
        ),
        lambda: world.create(world.editor, name),
        lambda: world.publish_bundle(world.publisher, bundle),
        lambda: world.yard.registry.intake.take(world.editor, draft_of(bundle), namespace="team", why=WHY),
        lambda: workbench.edit(world.editor, skill.id, fields={"name": name}, why=WHY),
    ]
    for door in doors:
        with pytest.raises(InputError, match="cannot be a folder everywhere") as refused:
            await door()
        usable = refused.value.details["usable"]
        assert usable in refused.value.hint
        assert folder_name(usable) == usable
    assert await world.listing(world.editor) == ["good"]


@pytest.mark.parametrize("path", ["a.txt:evil", "<img src=x>.txt", "why?.md"])
async def test_a_file_that_windows_could_not_keep_is_refused(world, path):
    with pytest.raises(InputError, match="Windows does not allow") as refused:
        await world.create(world.editor, "odd", BundleFile(path, b"x"))
    assert refused.value.details == {"field": "path", "value": path}
    assert await world.listing(world.editor) == []


async def test_what_comes_in_a_folder_is_given_a_name_that_would_do_and_says_so(world):
    for stated, folder, expected in [("Skill A Name", "skill-a", "skill-a"), ("a:b", "a:b", "a-b")]:
        bundle = world.bundle(stated)
        draft = draft_of(bundle, folder=folder)
        assert draft.name == expected
        assert f"The name is {stated!r}, the folder is {expected!r}." in [found.message for found in draft.findings]
        taken = await world.yard.registry.intake.take(world.editor, draft, namespace="team", why=WHY)
        assert (taken.skill.name, taken.skill.digest) == (expected, bundle.digest)


async def test_a_displayed_name_is_edited_without_renaming_the_skill(world):
    draft = draft_of(world.bundle("Skill A Name"), folder="skill-a")
    taken = await world.yard.registry.intake.take(world.editor, draft, namespace="team", why=WHY)
    edited = await world.edit(world.editor, taken.skill, "Other.\n")
    assert edited.name == "skill-a"
    text = world.bundle("Skill B").get("SKILL.md").data
    shown = await world.yard.registry.workbench.put_file(world.editor, edited.id, BundleFile("SKILL.md", text), why=WHY)
    assert shown.name == "skill-a"
    renamed = await world.yard.registry.workbench.edit(world.editor, edited.id, fields={"name": "other"}, why=WHY)
    assert renamed.name == "other"


async def test_a_skill_that_an_older_yard_named_so_is_still_edited_published_and_shipped(world):
    made = await world.create(world.publisher, "old")
    async with world.yard.database.write() as transaction:
        row = update(SkillRow).where(SkillRow.id == made.id).values(name="con", name_key="con")
        await transaction.session.execute(row)
    text = world.bundle("con").get("SKILL.md").data
    skill = await world.yard.registry.workbench.put_file(
        world.publisher, made.id, BundleFile("SKILL.md", text), why=WHY
    )
    assert skill.name == "con"
    assert (await world.edit(world.publisher, skill, "Edited.\n")).name == "con"
    done = await world.publish(world.publisher, skill)
    assert done.skill.full_name == "team/con"
    assert isinstance(await world.stored(skill), Bundle)
