"""Deliveries into a place, as they are carried out; the same for a workspace and for a folder of this machine."""

import asyncio
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skillyard.delivery import ship as ship_module
from skillyard.delivery.folder_skills import FolderPlace
from skillyard.delivery.manifest import MANIFEST_NAME
from skillyard.delivery.sandbox_place import SandboxPlace
from skillyard.delivery.ship import ship
from skillyard.delivery.ship_plan import ShipPlan, Step
from skillyard.delivery.skills_place import SkillsPlace
from skillyard.errors import NotFoundError, SandboxDiedError, SkillyardError
from skillyard.library.disk import read_folder
from skillyard.skill.bundle import bundle_of

pytestmark = pytest.mark.anyio
KINDS = ("attached",)


@pytest.fixture(params=["workspace", "folder"])
def place(request: pytest.FixtureRequest, workspace: Any, home: Path) -> SkillsPlace:
    return (
        SandboxPlace(workspace) if request.param == "workspace" else FolderPlace(workspace.root / "skills", home=home)
    )


@pytest.fixture
def skills(workspace: Any) -> Path:
    return workspace.root / "skills"


def steps(plan: ShipPlan) -> dict[str, Step]:
    return {item.folder: item.step for item in plan.items}


def digest(folder: Path) -> str:
    return read_folder(folder).require().digest


async def test_what_is_wanted_is_there_byte_for_byte(place, skills, make_bundle, desire):
    bundle = make_bundle({"scripts/run.sh": "#!/bin/sh\n", "assets/x.bin": bytes(range(256)), "assets/없음": b""})
    bundle = bundle_of(file._replace(executable=file.path.endswith(".sh")) for file in bundle).require()
    plan = await ship(place, [desire(bundle)], speaks_for=KINDS)
    assert steps(plan) == {"pdf": Step.ADD}
    assert read_folder(skills / "pdf").require() == bundle
    manifest = json.loads((skills / MANIFEST_NAME).read_bytes())
    assert manifest["skills"] == {"pdf": {"digest": bundle.digest, "origin": "attached", "skill": "team/pdf"}}


async def test_doing_it_again_changes_nothing(place, skills, make_bundle, desire):
    wanted = [desire(make_bundle(name=name), name) for name in ("a", "b")]
    await ship(place, wanted, speaks_for=KINDS)
    before = {path: path.stat().st_mtime_ns for path in skills.rglob("*")}
    plan = await ship(place, wanted, speaks_for=KINDS)
    assert steps(plan) == {"a": Step.UNCHANGED, "b": Step.UNCHANGED}
    assert {path: path.stat().st_mtime_ns for path in skills.rglob("*")} == before


async def test_change_remove_and_add_go_together(place, skills, make_bundle, desire):
    await ship(place, [desire(make_bundle({"old.txt": "x"})), desire(make_bundle(), "gone")], speaks_for=KINDS)
    new = make_bundle({"new.txt": "x"})
    plan = await ship(place, [desire(new), desire(make_bundle(), "more")], speaks_for=KINDS)
    assert steps(plan) == {"pdf": Step.CHANGE, "more": Step.ADD, "gone": Step.REMOVE}
    assert digest(skills / "pdf") == new.digest
    assert sorted(path.name for path in skills.iterdir() if path.is_dir()) == ["more", "pdf"]
    assert list(plan.manifest.entries) == ["pdf", "more"]


@pytest.mark.parametrize("tampering", ["edit", "add", "delete", "delete all", "file"])
async def test_what_was_tampered_with_is_repaired(place, skills, make_bundle, desire, tampering):
    bundle = make_bundle({"scripts/run.py": "print()\n"})
    await ship(place, [desire(bundle)], speaks_for=KINDS)
    ruin(skills / "pdf", tampering)
    plan = await ship(place, [desire(bundle)], speaks_for=KINDS)
    assert steps(plan) == {"pdf": Step.REPAIR}
    assert digest(skills / "pdf") == bundle.digest
    assert steps(await ship(place, [desire(bundle)], speaks_for=KINDS)) == {"pdf": Step.UNCHANGED}


def ruin(folder: Path, how: str) -> None:
    if how == "edit":
        (folder / "scripts/run.py").write_text("evil()\n")
    elif how == "add":
        (folder / "more.txt").write_text("more")
    elif how == "delete":
        (folder / "scripts/run.py").unlink()
    else:
        shutil.rmtree(folder)
        if how == "file":
            folder.write_text("in the way")


async def test_a_foreign_folder_is_never_touched(place, skills, make_bundle, desire):
    (skills / "pdf").mkdir(parents=True)
    (skills / "pdf" / "SKILL.md").write_text("mine")
    other = make_bundle(name="other")
    plan = await ship(place, [desire(make_bundle()), desire(other, "other")], speaks_for=KINDS)
    assert steps(plan) == {"pdf": Step.SKIPPED, "other": Step.ADD}
    plan = await ship(place, [], speaks_for=KINDS)
    assert steps(plan) == {"other": Step.REMOVE}
    assert (skills / "pdf" / "SKILL.md").read_text() == "mine"


@pytest.mark.parametrize("broken", [None, b"", b"{]", b'{"version": 9}', b"x" * 2_000_000])
async def test_without_a_usable_manifest_what_is_there_decides(place, skills, make_bundle, desire, broken):
    same, other = make_bundle(), make_bundle({"x.txt": "1"})
    await ship(place, [desire(same), desire(other, "other")], speaks_for=KINDS)
    (skills / MANIFEST_NAME).unlink()
    if broken is not None:
        (skills / MANIFEST_NAME).write_bytes(broken)
    (skills / "other" / "x.txt").write_text("2")
    plan = await ship(place, [desire(same), desire(other, "other"), desire(same, "third")], speaks_for=KINDS)
    assert steps(plan) == {"pdf": Step.UNCHANGED, "other": Step.SKIPPED, "third": Step.ADD}
    assert list(plan.manifest.entries) == ["pdf", "third"]


@pytest.mark.parametrize("kind", ["folder", "link"])
async def test_what_has_the_name_of_the_manifest_is_not_in_the_way(place, skills, tmp_path, make_bundle, desire, kind):
    skills.mkdir()
    (tmp_path / "precious").write_text("precious")
    if kind == "folder":
        (skills / MANIFEST_NAME).mkdir()
    else:
        (skills / MANIFEST_NAME).symlink_to(tmp_path / "precious")
    assert steps(await ship(place, [desire(make_bundle())], speaks_for=KINDS)) == {"pdf": Step.ADD}
    assert not (skills / MANIFEST_NAME).is_symlink()
    assert (skills / MANIFEST_NAME).is_file()
    assert (tmp_path / "precious").read_text() == "precious"


async def test_a_hostile_manifest_leads_nowhere(place, skills, workspace, make_bundle, desire):
    (workspace.root / "precious").mkdir()
    (workspace.root / "precious" / "x").write_text("x")
    (skills / ".hidden").mkdir(parents=True)
    names = ["../precious", "..", ".", "/etc", ".hidden", "precious/../../precious", "C:\\x"]
    entries = {name: {"digest": "sha256:" + "0" * 64, "origin": "attached"} for name in names}
    (skills / MANIFEST_NAME).write_text(json.dumps({"version": 1, "skills": entries}))
    plan = await ship(place, [desire(make_bundle())], speaks_for=KINDS)
    assert steps(plan) == {"pdf": Step.ADD}
    assert (workspace.root / "precious" / "x").read_text() == "x"
    assert (skills / ".hidden").is_dir()


async def test_a_skill_that_cannot_be_read_stops_no_other(place, skills, make_bundle, desire):
    async def gone() -> Any:
        raise NotFoundError("The blob is gone.")

    async def odd() -> Any:
        raise KeyError("odd")

    good = desire(make_bundle(), "good")
    wanted = [replace(desire(make_bundle(), "gone"), load=gone), replace(desire(make_bundle(), "odd"), load=odd), good]
    plan = await ship(place, wanted, speaks_for=KINDS)
    assert steps(plan) == {"gone": Step.FAILED, "odd": Step.FAILED, "good": Step.ADD}
    assert "The blob is gone." in plan.items[0].reason
    assert "KeyError" in plan.items[1].reason
    assert list(plan.manifest.entries) == ["good"]


async def test_what_cannot_be_read_any_more_leaves_the_old_version_in_place(place, skills, make_bundle, desire):
    old = make_bundle()
    await ship(place, [desire(old)], speaks_for=KINDS)

    async def gone() -> Any:
        raise NotFoundError("The blob is gone.")

    wanted = replace(desire(make_bundle({"new.txt": "x"})), load=gone)
    assert steps(await ship(place, [wanted], speaks_for=KINDS)) == {"pdf": Step.FAILED}
    assert digest(skills / "pdf") == old.digest


async def test_files_that_are_not_what_the_digest_says_are_not_sent(place, skills, make_bundle, desire):
    wanted = replace(desire(make_bundle()), digest="sha256:" + "0" * 64)
    plan = await ship(place, [wanted], speaks_for=KINDS)
    assert steps(plan) == {"pdf": Step.FAILED}
    assert not (skills / "pdf").exists()


async def test_files_are_read_only_for_what_is_written(place, make_bundle, desire):
    async def never() -> Any:
        raise AssertionError

    wanted = desire(make_bundle())
    await ship(place, [wanted], speaks_for=KINDS)
    assert steps(await ship(place, [replace(wanted, load=never)], speaks_for=KINDS)) == {"pdf": Step.UNCHANGED}


async def test_deliveries_to_one_place_follow_each_other(place, skills, make_bundle, desire):
    async def one(name: str) -> ShipPlan:
        return await ship(place, [desire(make_bundle(name=name), name, kind="loaded")], speaks_for=())

    names = [f"skill-{number}" for number in range(8)]
    plans = await asyncio.gather(*map(one, names))
    assert all(plan.items[0].step is Step.ADD for plan in plans)
    assert sorted(json.loads((skills / MANIFEST_NAME).read_bytes())["skills"]) == names


async def test_much_goes_in_several_parcels(place, skills, make_bundle, desire, monkeypatch):
    monkeypatch.setattr(ship_module, "MAX_PARCEL_BYTES", 2_500)
    await ship(place, [desire(make_bundle(), "gone")], speaks_for=KINDS)
    names = [f"skill-{number}" for number in range(12)]
    wanted = [desire(make_bundle({"x": "x" * 1_000}, name=name), name) for name in names]
    plan = await ship(place, wanted, speaks_for=KINDS)
    assert steps(plan) == {**dict.fromkeys(names, Step.ADD), "gone": Step.REMOVE}
    assert {path.name for path in skills.iterdir() if path.is_dir()} == set(names)
    assert steps(await ship(place, wanted, speaks_for=KINDS)) == dict.fromkeys(names, Step.UNCHANGED)


class TestInAWorkspace:
    """What only a sandbox's place promises."""

    async def test_one_archive_goes_in_one_round_trip(self, workspace, make_bundle, desire):
        place = SandboxPlace(workspace)
        wanted = [desire(make_bundle(name=f"s-{number}"), f"s-{number}") for number in range(50)]
        await ship(place, wanted, speaks_for=KINDS)
        assert workspace.asked.count("put_tar") == 1
        assert len(workspace.asked) == 5
        workspace.asked.clear()
        await ship(place, wanted, speaks_for=KINDS)
        assert sorted(workspace.asked) == ["digests", "read_file"]

    @pytest.mark.parametrize("files", range(7))
    async def test_a_crash_at_any_file_is_put_right(self, workspace, skills, make_bundle, desire, files):
        await ship(SandboxPlace(workspace), [desire(make_bundle()), desire(make_bundle(), "gone")], speaks_for=KINDS)
        wanted = [desire(make_bundle({"a": "1", "b": "2"})), desire(make_bundle({"c": "3"}), "more")]
        workspace.stops_after = files
        if files < 6:
            with pytest.raises(SandboxDiedError):
                await ship(SandboxPlace(workspace), wanted, speaks_for=KINDS)
            whole = {each.folder for each in wanted if (skills / each.folder / "SKILL.md").exists()}
            assert all(digest(skills / each.folder) == each.digest for each in wanted if each.folder in whole)
        workspace.dead, workspace.stops_after = False, None
        await ship(SandboxPlace(workspace), wanted, speaks_for=KINDS)
        assert {path.name for path in skills.iterdir()} == {"pdf", "more", MANIFEST_NAME}
        assert [digest(skills / each.folder) for each in wanted] == [each.digest for each in wanted]

    async def test_a_skill_that_cannot_be_written_stops_no_other(self, workspace, skills, make_bundle, desire):
        workspace.refuses = "bad/"
        wanted = [desire(make_bundle(), name) for name in ("a", "bad", "z")]
        plan = await ship(SandboxPlace(workspace), wanted, speaks_for=KINDS)
        assert steps(plan) == {"a": Step.ADD, "bad": Step.FAILED, "z": Step.ADD}
        assert list(plan.manifest.entries) == ["a", "z"]
        assert not (skills / "bad").exists()

    async def test_a_place_that_cannot_be_written_is_an_error(self, workspace, make_bundle, desire):
        await ship(SandboxPlace(workspace), [desire(make_bundle())], speaks_for=KINDS)
        workspace.refuses = MANIFEST_NAME
        with pytest.raises(SkillyardError):
            await ship(SandboxPlace(workspace), [], speaks_for=KINDS)

    async def test_what_does_not_arrive_as_sent_is_reported(self, workspace, make_bundle, desire, monkeypatch):
        put = workspace.put_tar

        async def put_and_spoil(*given: Any, **more: Any) -> None:
            await put(*given, **more)
            (workspace.root / "skills/pdf/SKILL.md").write_text("spoilt")

        monkeypatch.setattr(workspace, "put_tar", put_and_spoil)
        plan = await ship(SandboxPlace(workspace), [desire(make_bundle())], speaks_for=KINDS)
        assert steps(plan) == {"pdf": Step.FAILED}
        monkeypatch.undo()
        assert steps(await ship(SandboxPlace(workspace), [desire(make_bundle())], speaks_for=KINDS)) == {
            "pdf": Step.REPAIR
        }


class TestInAFolder:
    """What only a folder of this machine promises."""

    @pytest.fixture
    def trash(self, home: Path) -> Callable[[], list[str]]:
        return lambda: sorted(path.name for path in (home / "trash").glob("*")) if (home / "trash").exists() else []

    async def test_what_somebody_changed_goes_to_the_trash(self, skills, home, make_bundle, desire, trash):
        place = FolderPlace(skills, home=home)
        await ship(place, [desire(make_bundle())], speaks_for=KINDS)
        (skills / "pdf" / "mine.txt").write_text("mine")
        await ship(place, [desire(make_bundle())], speaks_for=KINDS)
        (skills / "pdf" / "mine.txt").write_text("mine")
        await ship(place, [], speaks_for=KINDS)
        assert trash() == ["0001-pdf", "0002-pdf"]
        assert (home / "trash/0002-pdf/content/mine.txt").read_text() == "mine"

    async def test_what_is_as_delivered_is_not_kept(self, skills, home, make_bundle, desire, trash):
        place = FolderPlace(skills, home=home)
        await ship(place, [desire(make_bundle()), desire(make_bundle(), "gone")], speaks_for=KINDS)
        await ship(place, [desire(make_bundle({"new": "x"}))], speaks_for=KINDS)
        assert trash() == []
        assert sorted(path.name for path in skills.iterdir()) == [MANIFEST_NAME, "pdf"]

    async def test_nothing_is_written_through_a_link(self, skills, home, tmp_path, make_bundle, desire):
        place = FolderPlace(skills, home=home)
        (tmp_path / "elsewhere").mkdir()
        skills.mkdir()
        (skills / "foreign").symlink_to(tmp_path / "elsewhere")
        bundle = make_bundle()
        await ship(place, [desire(bundle), desire(bundle, "foreign")], speaks_for=KINDS)
        assert (skills / "foreign").is_symlink()
        (skills / "pdf").rename(tmp_path / "moved")
        (skills / "pdf").symlink_to(tmp_path / "elsewhere")
        assert steps(await ship(place, [desire(bundle)], speaks_for=KINDS)) == {"pdf": Step.REPAIR}
        assert not (skills / "pdf").is_symlink()
        assert list((tmp_path / "elsewhere").iterdir()) == []

    async def test_a_history_in_a_delivered_folder_is_not_lost(self, skills, home, make_bundle, desire, trash):
        place = FolderPlace(skills, home=home)
        await ship(place, [desire(make_bundle())], speaks_for=KINDS)
        (skills / "pdf" / ".git").mkdir()
        plan = await ship(place, [desire(make_bundle({"new": "x"}))], speaks_for=KINDS)
        assert steps(plan) == {"pdf": Step.FAILED}
        assert (skills / "pdf" / ".git").is_dir() or (home / "trash/0001-pdf/content/.git").is_dir()

    async def test_what_the_lock_installed_is_foreign(self, skills, home, make_bundle, desire):
        from skillyard.library.disk import write_folder

        installed = make_bundle({"installed": "x"})
        write_folder(installed, skills / "pdf")
        plan = await ship(FolderPlace(skills, home=home), [desire(make_bundle())], speaks_for=KINDS)
        assert steps(plan) == {"pdf": Step.SKIPPED}
        assert digest(skills / "pdf") == installed.digest
