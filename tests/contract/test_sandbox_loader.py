"""Skills of the registry loaded into a place by request, as far as the one who asks may see them."""

from pathlib import Path
from uuid import UUID

import pytest

from skillyard.app.injection import open_loader
from skillyard.delivery.folder_skills import FolderPlace
from skillyard.delivery.sandbox_loader import LoadStatus, SkillSandboxLoader
from skillyard.delivery.ship_plan import Step
from skillyard.errors import UnavailableError
from skillyard.library.disk import read_folder
from skillyard.skill.bundle import BundleFile

pytestmark = pytest.mark.anyio


@pytest.fixture
def place(tmp_path: Path) -> FolderPlace:
    return FolderPlace(tmp_path / "skills", home=tmp_path / "home")


@pytest.fixture
def loader(world) -> SkillSandboxLoader:
    return open_loader(world.yard.registry, world.yard.database)


async def published(world, name: str, version: str = "1.0.0", *, requires: str = "", body: str = "Do it.\n"):
    fields = {"metadata": {"requires": requires}} if requires else {}
    files = [BundleFile("scripts/run.sh", b"#!/bin/sh\n", executable=True)]
    bundle = world.bundle(name, *files, body=body, **fields)
    made = await world.publish_bundle(world.publisher, bundle, version)
    return made.skill.id, bundle


async def test_a_skill_is_loaded_byte_for_byte(world, loader, place, tmp_path):
    skill_id, bundle = await published(world, "pdf")
    assert await loader.load_skill_to_sandbox(UUID(skill_id), place, world.viewer.person_id) is True
    assert read_folder(tmp_path / "skills/pdf").require() == bundle


async def test_each_skill_has_its_status_under_the_id_that_was_given(world, loader, place):
    first, bundle = await published(world, "pdf")
    second, _ = await published(world, "notes")
    ids = [UUID(first), UUID(second), UUID(int=7)]
    found = await loader.load_skills_to_sandbox(ids, place, world.viewer.person_id)
    assert [bool(found[each]) for each in ids] == [True, True, False]
    assert found[ids[0]] == LoadStatus(loaded=True, folder="pdf", digest=bundle.digest, version="1.0.0", step=Step.ADD)
    assert found[ids[2]].reason
    again = await loader.load_skills_to_sandbox(ids[:1], place, world.viewer.person_id)
    assert again[ids[0]].step is Step.UNCHANGED


async def test_what_is_not_loaded_is_in_the_log_and_nothing_else_is(world, loader, place, caplog):
    skill_id, _ = await published(world, "pdf")
    await loader.load_skills_to_sandbox([skill_id, "gone"], place, world.viewer.person_id)
    (told,) = [record.getMessage() for record in caplog.records if "not loaded" in record.getMessage()]
    assert told.startswith("The skill gone was not loaded: There is no skill 'gone'")
    assert skill_id not in told


async def test_who_may_not_see_a_skill_does_not_load_it(world, loader, place, tmp_path):
    skill_id, _ = await published(world, "pdf")
    for person in (world.stranger.person_id, world.foreigner.person_id, "nobody"):
        found = await loader.load_skills_to_sandbox([skill_id], place, person)
        assert not found[skill_id]
        assert found[skill_id].reason
    assert not (tmp_path / "skills").exists()


async def test_without_anyone_to_load_for_nothing_is_loaded(world, loader, place):
    skill_id, _ = await published(world, "pdf")
    found = await SkillSandboxLoader(world.yard.registry).load_skills_to_sandbox([skill_id], place)
    assert "on whose behalf" in found[skill_id].reason
    found = await loader.load_skills_to_sandbox([skill_id], place)
    assert "only in a yard with one tenant" in found[skill_id].reason


async def test_a_loader_for_one_person_loads_for_them(world, place):
    skill_id, _ = await published(world, "pdf")
    loader = SkillSandboxLoader(world.yard.registry, principal=world.viewer)
    assert await loader.load_skill_to_sandbox(skill_id, place)


async def test_what_a_skill_requires_comes_along(world, loader, place, tmp_path):
    await published(world, "base")
    skill_id, _ = await published(world, "pdf", requires="base")
    assert await loader.load_skill_to_sandbox(skill_id, place, world.viewer.person_id)
    assert (tmp_path / "skills/base/SKILL.md").is_file()


async def test_a_skill_without_what_it_requires_is_not_loaded_as_a_whole(world, loader, place, tmp_path):
    skill_id, _ = await published(world, "pdf", requires="nowhere")
    other, _ = await published(world, "notes")
    found = await loader.load_skills_to_sandbox([skill_id, other], place, world.viewer.person_id)
    assert not found[skill_id]
    assert "nowhere" in found[skill_id].reason
    assert found[other]
    assert (tmp_path / "skills/pdf/SKILL.md").is_file()


async def test_a_name_that_is_taken_there_is_told_and_stops_no_other(world, loader, place, tmp_path):
    (tmp_path / "skills/pdf").mkdir(parents=True)
    skill_id, _ = await published(world, "pdf")
    other, _ = await published(world, "notes")
    found = await loader.load_skills_to_sandbox([skill_id, other], place, world.viewer.person_id)
    assert not found[skill_id]
    assert "did not deliver" in found[skill_id].reason
    assert found[other]


async def test_loading_takes_nothing_away_that_was_loaded_before(world, loader, place, tmp_path):
    first, _ = await published(world, "pdf")
    second, _ = await published(world, "notes")
    await loader.load_skill_to_sandbox(first, place, world.viewer.person_id)
    await loader.load_skill_to_sandbox(second, place, world.viewer.person_id)
    assert {path.name for path in (tmp_path / "skills").iterdir()} == {".skillyard.json", "pdf", "notes"}


async def test_a_newer_version_takes_the_place_of_the_older(world, loader, place, tmp_path):
    skill_id, _ = await published(world, "pdf")
    await loader.load_skill_to_sandbox(skill_id, place, world.viewer.person_id)
    _, newer = await published(world, "pdf", "1.1.0", body="Do it better.\n")
    found = await loader.load_skills_to_sandbox([skill_id], place, world.viewer.person_id)
    assert found[skill_id].step is Step.CHANGE
    assert read_folder(tmp_path / "skills/pdf").require() == newer


@pytest.mark.parametrize("error", [UnavailableError("The sandbox is away."), RuntimeError("odd")])
async def test_a_place_that_fails_is_a_status_and_no_error(world, loader, place, monkeypatch, error):
    async def fail() -> bytes:
        raise error

    skill_id, _ = await published(world, "pdf")
    monkeypatch.setattr(place, "manifest", fail)
    found = await loader.load_skills_to_sandbox([skill_id], place, world.viewer.person_id)
    assert not found[skill_id]
    assert str(error) in found[skill_id].reason
