import os
import time

import pytest

from skillyard.agents.materialise import FOLDER, KEPT_SECONDS, OnThisMachine
from skillyard.skill.bundle import BundleFile, bundle_of

BUNDLE = bundle_of(
    [
        BundleFile("SKILL.md", b"---\nname: tool\ndescription: D.\n---\n"),
        BundleFile("scripts/run.sh", b"#!/bin/sh\n", True),
        BundleFile("references/deep/A.md", b"a"),
    ]
).require()


@pytest.fixture
def here(tmp_path):
    return OnThisMachine(tmp_path)


def test_a_bundle_becomes_a_folder_below_its_digest_that_nobody_may_write_to(here, tmp_path):
    folder = here.materialise(BUNDLE, "tool")
    assert folder == tmp_path / FOLDER / BUNDLE.digest.removeprefix("sha256:") / "tool"
    assert (folder / "references/deep/A.md").read_bytes() == b"a"
    assert not any(path.stat().st_mode & 0o222 for path in (folder, *folder.rglob("*")))
    assert os.access(folder / "scripts/run.sh", os.X_OK)
    assert (tmp_path / FOLDER).stat().st_mode & 0o077 == 0


def test_what_is_there_already_is_used_again(here):
    folder = here.materialise(BUNDLE, "tool")
    inode = folder.stat().st_ino
    assert here.materialise(BUNDLE, "tool").stat().st_ino == inode


@pytest.mark.parametrize("tamper", ["change", "add", "remove", "link"])
def test_what_was_changed_is_put_right_before_it_is_used(here, tamper):
    script = here.materialise(BUNDLE, "tool") / "scripts/run.sh"
    for path in (script.parent, script):
        path.chmod(0o700)
    if tamper == "change":
        script.write_bytes(b"evil")
    elif tamper == "add":
        (script.parent / "evil.sh").write_bytes(b"evil")
    else:
        script.unlink()
        if tamper == "link":
            script.symlink_to("/bin/sh")
    folder = here.materialise(BUNDLE, "tool")
    assert (folder / "scripts/run.sh").read_bytes() == b"#!/bin/sh\n"
    assert [path.name for path in (folder / "scripts").iterdir()] == ["run.sh"]


@pytest.mark.parametrize(
    "stray", ["scripts/__pycache__/run.pyc", ".git/config", "node_modules/a.js", "scripts/.DS_Store"]
)
def test_what_is_never_part_of_a_skill_does_not_stay_beside_its_scripts(here, stray):
    folder = here.materialise(BUNDLE, "tool")
    for path in (folder, folder / "scripts"):
        path.chmod(0o700)
    (folder / stray).parent.mkdir(exist_ok=True)
    (folder / stray).write_bytes(b"evil")
    inode = here.materialise(BUNDLE, "tool").stat().st_ino
    assert not (folder / stray).exists()
    assert sorted(path.name for path in folder.iterdir()) == ["SKILL.md", "references", "scripts"]
    assert not any(path.stat().st_mode & 0o222 for path in (folder, *folder.rglob("*")))
    assert folder.stat().st_ino == inode  # whoever runs a script of it now is not disturbed


def test_what_was_made_writable_is_read_only_again(here):
    folder = here.materialise(BUNDLE, "tool")
    (folder / "scripts/run.sh").chmod(0o777)
    here.materialise(BUNDLE, "tool")
    assert (folder / "scripts/run.sh").stat().st_mode & 0o777 == 0o555


@pytest.mark.parametrize("up", [0, 1])
def test_a_link_in_place_of_a_folder_is_replaced_and_what_it_leads_to_is_left_alone(here, tmp_path, up):
    folder = here.materialise(BUNDLE, "tool")
    linked = [folder, folder.parent][up]
    elsewhere = tmp_path / "elsewhere"
    linked.rename(elsewhere)
    linked.symlink_to(elsewhere)
    assert here.materialise(BUNDLE, "tool") == folder
    assert not linked.is_symlink()
    assert (folder / "SKILL.md").is_file()
    assert elsewhere.is_dir()


@pytest.mark.parametrize("name", ["../../evil", "a/b", "", ".", "x" * 300, "CON"])
def test_no_name_leads_out_of_the_home(here, tmp_path, name):
    folder = here.materialise(BUNDLE, name)
    assert folder.parent.parent == tmp_path / FOLDER
    assert folder.is_dir()


def test_what_nobody_used_for_long_is_taken_away(here, tmp_path):
    old = here.materialise(BUNDLE, "tool").parent
    long_ago = time.time() - KEPT_SECONDS - 60
    os.utime(old, (long_ago, long_ago))
    other = bundle_of([BundleFile("SKILL.md", b"---\nname: o\ndescription: D.\n---\n")]).require()
    kept = OnThisMachine(tmp_path).materialise(other, "o")
    assert not old.exists()
    assert kept.exists()


def test_a_skill_of_a_folder_is_where_it_is(folder, here):
    folder.put("tool")
    assert here.folder(folder.source, folder.source.find("tool")) == f"{folder.root}/tool"
