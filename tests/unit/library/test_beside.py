import os
from pathlib import Path

import pytest

from skillyard.library import beside as module
from skillyard.library.beside import look_beside


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "pdf"
    (folder / "references/deep").mkdir(parents=True)
    (folder / "references/deep/a.md").write_text("one")
    (folder / "SKILL.md").write_text("skill")
    return folder


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Everything in the folder counts as changed long ago, and whatever happens next has a later time."""
    monkeypatch.setattr(module, "COARSE_CLOCK_NS", -(10**18))
    last = max(path.stat().st_ctime_ns for path in (folder, *folder.rglob("*")))
    probe = folder.parent / "probe"
    probe.touch()
    while probe.stat().st_ctime_ns <= last:
        probe.touch()


@pytest.mark.usefixtures("settled")
def test_a_folder_that_did_not_change_is_not_listed_again(folder: Path, monkeypatch: pytest.MonkeyPatch):
    before = look_beside(str(folder), None)
    assert before.files == (str(folder / "references/deep/a.md"),)
    monkeypatch.setattr(os, "scandir", None)
    assert look_beside(str(folder), before) is before


def test_a_folder_that_changed_just_now_is_listed_again(folder: Path):
    before = look_beside(str(folder), None)
    assert None in before.folder_stamps
    (folder / "b.md").write_text("two")
    assert str(folder / "b.md") in look_beside(str(folder), before).files


def write_same_size(path: Path) -> None:
    status = path.stat()
    path.write_text("two")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def replace_by_link(path: Path) -> None:
    path.rename(path.parents[2].parent / "elsewhere")
    path.symlink_to(path.parents[2].parent / "elsewhere")


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize(
    "change",
    [
        write_same_size,
        replace_by_link,
        Path.unlink,
        lambda path: path.rename(path.with_name("b.md")),
        lambda path: path.with_name("b.md").write_text("one"),
        lambda path: (path.parents[2] / "b.md").write_text("one"),
        lambda path: path.parent.rename(path.parents[1] / "other"),
        lambda path: (path.parents[2] / "scripts").mkdir() or (path.parents[2] / "scripts/x.py").write_text("x"),
    ],
)
def test_every_change_of_a_settled_folder_is_seen_once(folder: Path, change):
    before = look_beside(str(folder), None)
    change(folder / "references/deep/a.md")
    after = look_beside(str(folder), before)
    assert after.differs(before)
    assert not look_beside(str(folder), after).differs(after)


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("name", ["SKILL.md", "__pycache__"])
def test_the_skill_file_and_litter_are_no_files_beside(folder: Path, name: str):
    before = look_beside(str(folder), None)
    if name == "SKILL.md":
        (folder / name).write_text("changed")
    else:
        (folder / name).mkdir()
        (folder / name / "x.pyc").write_text("x")
    assert not look_beside(str(folder), before).differs(before)


@pytest.mark.usefixtures("settled")
def test_a_skill_folder_that_is_a_link_and_leads_elsewhere_now_differs(folder: Path, tmp_path: Path):
    (tmp_path / "other").mkdir()
    link = tmp_path / "link"
    link.symlink_to(folder)
    before = look_beside(str(link), None)
    link.unlink()
    link.symlink_to(tmp_path / "other")
    assert look_beside(str(link), before).files == ()
