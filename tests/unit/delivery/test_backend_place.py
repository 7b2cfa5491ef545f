"""Deliveries into the backends that deepagents has."""

from pathlib import Path

import pytest

from skillyard.delivery.backend_place import EXECUTABLES_NAME, BackendPlace, FilesBackend
from skillyard.delivery.ship import ship
from skillyard.delivery.ship_plan import Step
from skillyard.skill.bundle import bundle_of

pytestmark = pytest.mark.anyio


@pytest.fixture
def backend(tmp_path: Path) -> FilesBackend:
    filesystem = pytest.importorskip("deepagents.backends.filesystem")
    return filesystem.FilesystemBackend(root_dir=tmp_path / "root", virtual_mode=True)


async def test_skills_are_delivered_to_a_real_backend_and_kept_up(backend, tmp_path, make_bundle, desire):
    place = BackendPlace(backend)
    bundle = make_bundle({"scripts/run.sh": "#!/bin/sh\n", "assets/x.bin": bytes(range(256))})
    bundle = bundle_of(file._replace(executable=file.path.endswith(".sh")) for file in bundle).require()
    wanted = [desire(bundle), desire(make_bundle(), "gone")]
    assert {item.step for item in (await ship(place, wanted, speaks_for=["attached"])).items} == {Step.ADD}
    assert {item.step for item in (await ship(place, wanted, speaks_for=["attached"])).items} == {Step.UNCHANGED}
    skill = tmp_path / "root/workspace/skills/pdf"
    assert (skill / "assets/x.bin").read_bytes() == bytes(range(256))
    (skill / "SKILL.md").write_text("spoilt")
    plan = await ship(place, wanted[:1], speaks_for=["attached"])
    assert {item.folder: item.step for item in plan.items} == {"pdf": Step.REPAIR, "gone": Step.REMOVE}
    assert (skill / "SKILL.md").read_bytes() == next(file.data for file in bundle if file.path == "SKILL.md")


@pytest.mark.parametrize("text", ["", "[", "[]", '{"pdf": 7}', '{"pdf": [[]]}'])
async def test_a_broken_list_of_executables_only_means_that_the_folder_is_written_again(
    backend, tmp_path, make_bundle, desire, text
):
    bundle = bundle_of(file._replace(executable=True) for file in make_bundle({"run.sh": "x"})).require()
    place = BackendPlace(backend)
    await ship(place, [desire(bundle)], speaks_for=["attached"])
    (tmp_path / "root/workspace/skills" / EXECUTABLES_NAME).write_text(text)
    (item,) = (await ship(place, [desire(bundle)], speaks_for=["attached"])).items
    assert item.step is Step.REPAIR
