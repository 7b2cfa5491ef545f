"""What is taken away is always somewhere: in its place, or whole in the trash."""

import errno
import os
import shutil
from importlib import import_module
from pathlib import Path

import pytest

from skillyard.delivery.place import project_place
from skillyard.delivery.trash import BrokenItem, Trash, TrashItem
from skillyard.errors import InputError, NotFoundError, UnavailableError


@pytest.fixture
def folder(tmp_path: Path, skill_md) -> Path:
    folder = tmp_path / "project/skills/pdf"
    (folder / "scripts").mkdir(parents=True)
    (folder / "SKILL.md").write_text(skill_md("pdf"))
    (folder / "scripts/run.sh").write_text("echo\n")
    (folder / "scripts/run.sh").chmod(0o755)
    (folder / "latest").symlink_to("scripts/run.sh")
    return folder


@pytest.fixture
def another_disk(home: Path, monkeypatch) -> None:
    """Skillyard's home is on another disk than everything else."""
    rename = os.rename

    def crossing(source, target, **options):
        if Path(source).is_relative_to(home) is not Path(target).is_relative_to(home):
            raise OSError(errno.EXDEV, "Invalid cross-device link", str(source), None, str(target))
        rename(source, target, **options)

    monkeypatch.setattr(os, "rename", crossing)


def listing(folder: Path) -> list[tuple[str, int]]:
    return sorted((str(path.relative_to(folder)), path.lstat().st_mode) for path in folder.rglob("*"))


def throw_away(folder: Path, home: Path) -> TrashItem:
    return Trash(home).move(folder, place=project_place(folder.parents[1]), entry=None)


@pytest.mark.parametrize("disk", ["same_disk", "another_disk"])
def test_a_folder_goes_and_comes_back_as_it_was(folder: Path, home: Path, request, disk: str):
    if disk == "another_disk":
        request.getfixturevalue(disk)
    before = listing(folder)
    item = throw_away(folder, home)
    assert listing(item.content) == before
    assert list(folder.parent.iterdir()) == []
    Trash(home).take(item)
    assert listing(folder) == before
    assert list(folder.parent.iterdir()) == [folder]
    assert Trash(home).items() == []


@pytest.mark.usefixtures("another_disk")
@pytest.mark.parametrize("what", ["file", "link"])
def test_a_file_or_a_link_goes_to_another_disk_as_it_is(folder: Path, home: Path, what: str):
    path = folder.with_name("odd")
    path.write_text("odd") if what == "file" else path.symlink_to("nowhere")
    item = throw_away(path, home)
    assert not os.path.lexists(path)
    assert item.content.is_symlink() is (what == "link")
    Trash(home).take(item)
    assert path.is_symlink() or path.read_text() == "odd"


@pytest.mark.usefixtures("another_disk")
def test_a_removal_that_stops_half_way_leaves_the_whole_copy_in_the_trash(folder: Path, home: Path, monkeypatch):
    before = listing(folder)
    rmtree = shutil.rmtree

    def half(path, ignore_errors=False, **options):
        if Path(path).is_relative_to(home):
            rmtree(path, ignore_errors=ignore_errors, **options)
            return
        (Path(path) / "SKILL.md").unlink()
        if not ignore_errors:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(shutil, "rmtree", half)
    item = throw_away(folder, home)
    assert listing(item.content) == before


@pytest.mark.usefixtures("another_disk")
def test_a_copy_that_does_not_fit_leaves_the_folder_in_its_place(folder: Path, home: Path, monkeypatch):
    before = listing(folder)

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shutil, "copy2", full)
    with pytest.raises(UnavailableError, match="No space"):
        throw_away(folder, home)
    assert listing(folder) == before
    assert list(folder.parent.iterdir()) == [folder]
    assert Trash(home).items() == []


@pytest.mark.usefixtures("another_disk")
def test_a_whole_copy_is_never_deleted(folder: Path, home: Path, monkeypatch):
    before = listing(folder)

    def failing(synced: Path) -> None:
        if (synced / "content").exists():
            raise OSError(errno.EIO, "Input/output error", str(synced))

    monkeypatch.setattr(import_module("skillyard.delivery.trash"), "sync_folder", failing)
    with pytest.raises(UnavailableError, match="Input/output"):
        throw_away(folder, home)
    (item,) = Trash(home).items()
    assert isinstance(item, TrashItem)
    assert listing(item.content) == listing(folder) == before


@pytest.mark.usefixtures("another_disk")
def test_nobody_saves_into_a_folder_while_it_is_copied_away(folder: Path, home: Path, monkeypatch):
    copy2, there = shutil.copy2, []

    def noting(*arguments, **options):
        there.append(folder.exists())
        return copy2(*arguments, **options)

    monkeypatch.setattr(shutil, "copy2", noting)
    throw_away(folder, home)
    assert there
    assert not any(there)


def test_a_copy_is_on_the_disk_before_it_counts(folder: Path, home: Path, monkeypatch):
    synced, fsync = set(), os.fsync

    def noting(fd):
        path = Path(f"/proc/self/fd/{fd}").readlink()
        synced.add((path.name, any(home.rglob("content"))))
        fsync(fd)

    monkeypatch.setattr(os, "fsync", noting)
    Trash(home).copy(folder, place=project_place(folder.parents[1]), entry=None)
    assert {("SKILL.md", False), ("run.sh", False), ("scripts", False)} <= synced


@pytest.fixture
def broken(folder: Path, home: Path) -> TrashItem:
    """The second of three items, whose record is broken."""
    items: list[TrashItem] = []
    for _ in range(3):
        items.append(throw_away(folder, home))
        shutil.copytree(items[-1].content, folder, symlinks=True)
    (items[1].content.parent / "trash.json").write_text("{")
    return items[1]


def test_a_broken_item_is_listed_as_broken_and_hides_no_other(broken: TrashItem, home: Path):
    items = Trash(home).items()
    assert [item.name for item in items] == ["0003-pdf", "0002-pdf", "0001-pdf"]
    assert [isinstance(item, BrokenItem) for item in items] == [False, True, False]
    assert Trash(home).find("0001-pdf").name == "0001-pdf"
    with pytest.raises(InputError) as caught:
        Trash(home).find(broken.name)
    assert str(broken.content) in caught.value.hint


def test_the_last_whole_item_of_an_id_is_found(broken: TrashItem, home: Path):
    trash = Trash(home)
    assert trash.find("pdf").name == "0003-pdf"
    shutil.rmtree(trash.folder / "0003-pdf")
    assert trash.find("pdf").name == "0001-pdf"
    shutil.rmtree(trash.folder / "0001-pdf")
    with pytest.raises(InputError):
        trash.find("pdf")
    shutil.rmtree(broken.content.parent)
    with pytest.raises(NotFoundError):
        trash.find("pdf")


def test_a_name_in_the_trash_goes_before_an_id(folder: Path, home: Path):
    first = throw_away(folder, home)
    shutil.copytree(first.content, folder.with_name(first.name), symlinks=True)
    throw_away(folder.with_name(first.name), home)
    assert Trash(home).find("0001-pdf").path == folder


def test_what_a_crash_kept_from_getting_here_is_told_as_unfinished(folder: Path, home: Path):
    item = throw_away(folder, home)
    shutil.move(item.content, folder)
    (unfinished,) = Trash(home).items()
    assert isinstance(unfinished, BrokenItem)
    assert "never finished" in unfinished.problem.message
