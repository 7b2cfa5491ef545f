"""Skillyard's home does not grow for ever, and nothing goes that a lock or the trash still needs."""

import os
import shutil
import time
from pathlib import Path

import pytest

from skillyard.delivery.add import plan_add
from skillyard.delivery.apply import apply_plan
from skillyard.delivery.depot import Depot
from skillyard.delivery.fetch import fetch_source
from skillyard.delivery.lock import read_lock
from skillyard.delivery.place import project_place
from skillyard.delivery.prune import KEEP_SECONDS, prune
from skillyard.delivery.remove import plan_remove
from skillyard.delivery.restore import restore_item
from skillyard.delivery.source import Source, SourceKind
from skillyard.delivery.target import Target
from skillyard.delivery.trash import BrokenItem, Trash


@pytest.fixture
def install(tmp_path: Path, home: Path, skill_md):
    """Install the skill `pdf` with this text into a project; the digest of what was installed."""

    def _install(body: str, project: str = "project") -> str:
        folder = tmp_path / "source/pdf"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "SKILL.md").write_text(skill_md("pdf", body=body))
        (tmp_path / project).mkdir(exist_ok=True)
        fetched = fetch_source(Source(kind=SourceKind.FOLDER, location=str(folder)))
        assert not apply_plan(plan_add(fetched, [target(tmp_path / project)]), home=home).left
        return fetched.skills[0].bundle.digest

    return _install


def target(project: Path) -> Target:
    return Target(place=project_place(project), root=project / "skills")


def remove(project: Path, home: Path) -> None:
    assert apply_plan(plan_remove(["pdf"], [target(project)]), home=home).done


def age(folder: Path) -> None:
    """Let every file below have been written a little more than the time ago for which things are kept."""
    then = time.time() - KEEP_SECONDS - 60
    for path in folder.rglob("*"):
        os.utime(path, (then, then), follow_symlinks=False)


def kept(home: Path) -> set[str]:
    return {f"sha256:{path.stem}" for path in (home / "bundles").iterdir()}


def test_a_bundle_that_nothing_names_goes_when_it_is_old(install, home: Path):
    first, second = install("one"), install("two")
    prune(home)
    assert kept(home) == {first, second}
    age(home)
    prune(home)
    assert kept(home) == {second}


def test_what_gave_way_just_now_is_young_however_long_ago_it_came(install, home: Path):
    first = install("one")
    age(home)
    second = install("two")
    assert kept(home) == {first, second}


def test_installing_prunes(install, home: Path):
    first, second = install("one"), install("two")
    age(home)
    assert first not in {second, install("two", "another")} == kept(home)


def test_a_bundle_that_the_trash_names_stays_as_long_as_that_can_be_restored(install, home: Path, tmp_path: Path):
    digest = install("one")
    remove(tmp_path / "project", home)
    age(home / "bundles")
    prune(home)
    assert kept(home) == {digest}
    restore_item("0001-pdf", home=home)
    age(home)
    prune(home)
    assert kept(home) == {digest}
    assert read_lock(project_place(tmp_path / "project")).entries[0].digest == digest


def test_a_bundle_named_by_a_lock_that_is_away_stays(install, home: Path, tmp_path: Path):
    digest = install("one")
    (tmp_path / "project").rename(tmp_path / "unmounted")
    age(home)
    prune(home)
    assert kept(home) == {digest}


def test_a_bundle_of_a_restored_skill_stays_when_its_lock_is_away(install, home: Path, tmp_path: Path):
    digest = install("one")
    remove(tmp_path / "project", home)
    restore_item("0001-pdf", home=home)
    (tmp_path / "project").rename(tmp_path / "unmounted")
    age(home)
    prune(home)
    assert kept(home) == {digest}


def test_a_bundle_that_a_lock_names_since_somebody_else_wrote_it_stays(install, home: Path, tmp_path: Path):
    first = install("one")
    lock = tmp_path / "project/skillyard.lock"
    text = lock.read_bytes()
    second = install("two")
    lock.write_bytes(text)  # as git does it
    age(home)
    prune(home)
    assert kept(home) == {first, second}


@pytest.mark.parametrize("unknown", ["record", "lock"])
def test_no_bundle_goes_while_it_is_not_known_what_some_lock_names(install, home: Path, tmp_path: Path, unknown: str):
    first, second = install("one"), install("two")
    if unknown == "record":
        next((home / "locks").glob("*.json")).unlink()
    else:
        (tmp_path / "project/skillyard.lock").write_text("<<<<<<<")
    age(home)
    prune(home)
    assert kept(home) == {first, second}


def test_old_items_of_the_trash_go_with_their_bundles_and_young_ones_stay(install, home: Path, tmp_path: Path):
    install("one")
    remove(tmp_path / "project", home)
    age(home)
    digest = install("two")
    assert Trash(home).items() == []
    assert kept(home) == {digest}
    remove(tmp_path / "project", home)
    prune(home)
    assert [item.name for item in Trash(home).items()] == ["0001-pdf"]


@pytest.mark.parametrize(("lost", "stays"), [("trash.json", True), ("content", False)])
def test_an_old_item_goes_unless_only_a_person_can_tell_what_it_is(
    install, home: Path, tmp_path: Path, lost: str, stays: bool
):
    install("one")
    remove(tmp_path / "project", home)
    item = home / "trash/0001-pdf"
    (item / lost).write_text("{") if stays else shutil.rmtree(item / lost)
    age(home)
    prune(home)
    assert [isinstance(item, BrokenItem) for item in Trash(home).items()] == ([True] if stays else [])
    assert (item / "content").exists() is stays


def test_a_deletion_that_stopped_half_way_is_no_item_and_is_finished_later(
    install, home: Path, tmp_path: Path, monkeypatch
):
    install("one")
    remove(tmp_path / "project", home)
    age(home)
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "rmtree", lambda *_, **__: None)
        prune(home)
    assert len(list((home / "trash").iterdir())) == 1
    assert Trash(home).items() == []
    now = time.time() + 7200
    monkeypatch.setattr(time, "time", lambda: now)
    prune(home)
    assert list((home / "trash").iterdir()) == []


def test_a_bundle_that_is_kept_again_is_young(home: Path, make_bundle):
    depot = Depot(home)
    depot.keep(make_bundle())
    age(home)
    depot.keep(make_bundle())
    assert depot.kept_before(time.time() - KEEP_SECONDS) == {}
