import os
import shutil
import sys
from pathlib import Path

import pytest

from skillyard.library import folder as folder_module
from skillyard.library import kernel_watch
from skillyard.library.folder import LOOKS_BEFORE_WATCHING, FolderLibrary
from skillyard.library.kernel_watch import KernelWatch
from skillyard.library.switches import Switches, WithSwitches
from skillyard.skill.library import Layered

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has inotify")


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "skills"
    (root / "a/references").mkdir(parents=True)
    (root / "a/SKILL.md").write_text("---\nname: a\ndescription: Does a.\n---\n")
    (root / "a/references/A.md").write_text("a")
    try:
        KernelWatch(str(root))
    except OSError as error:
        pytest.skip(f"what is temporary cannot be watched here: {error}")
    return root


@pytest.fixture
def watch(root):
    return KernelWatch(str(root))


CHANGES = {
    "a file is written": lambda root: (root / "a/SKILL.md").write_text("b"),
    "a file deep below is written": lambda root: (root / "a/references/A.md").write_text("b"),
    "a file comes": lambda root: (root / "a/new.txt").touch(),
    "a file goes": lambda root: (root / "a/references/A.md").unlink(),
    "a file is replaced": lambda root: (root / "a/references/A.md").replace(root / "a/SKILL.md"),
    "a file may be run": lambda root: (root / "a/SKILL.md").chmod(0o755),
    "a folder comes": lambda root: (root / "b").mkdir(),
    "a folder goes": lambda root: shutil.rmtree(root / "a"),
    "a folder is renamed": lambda root: (root / "a").rename(root / "b"),
    "a link comes": lambda root: (root / "a/link").symlink_to("SKILL.md"),
    "a time is set": lambda root: os.utime(root / "a/SKILL.md", (1, 1)),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_every_change_is_told_at_once_and_then_it_is_quiet(root, watch, change):
    before = watch.changes()
    assert watch.changes() == before
    change(root)
    after = watch.changes()
    assert after != before
    assert watch.changes() == after


def test_folders_that_come_later_are_watched_too(root, watch):
    (root / "b/deep/deeper").mkdir(parents=True)
    before = watch.changes()
    (root / "b/deep/deeper/x.txt").touch()
    assert watch.changes() != before
    (root / "b").rename(root / "c")
    before = watch.changes()
    (root / "c/deep/deeper/y.txt").touch()
    assert watch.changes() != before
    shutil.copytree(root / "c", root / "d")
    before = watch.changes()
    (root / "d/deep/deeper/y.txt").unlink()
    assert watch.changes() != before


def test_reading_is_no_change_and_neither_is_what_no_skill_holds(root, watch):
    (root / "a/__pycache__").mkdir()
    before = watch.changes()
    (root / "a/SKILL.md").read_text()
    list(root.rglob("*"))
    (root / "a/__pycache__/x.pyc").touch()
    assert watch.changes() == before


def test_a_root_that_is_another_folder_now_ends_the_watch(root, watch, tmp_path):
    root.rename(tmp_path / "away")
    assert watch.changes() is None
    root.mkdir()
    assert watch.changes() is None


def test_too_many_changes_at_once_end_the_watch(watch):
    watch._take(-1, kernel_watch._OVERFLOW, "")
    assert watch.changes() is None


def test_a_forked_process_does_not_take_what_the_other_is_to_be_told(root, watch, monkeypatch):
    before = watch.changes()
    (root / "a/SKILL.md").write_text("b")
    with monkeypatch.context() as forked:
        forked.setattr(os, "getpid", lambda: -1)
        assert watch.changes() is None
    assert watch.changes() != before


def test_too_many_folders_are_not_watched(root, monkeypatch):
    monkeypatch.setattr(kernel_watch, "MAX_FOLDERS", 3)
    watch = KernelWatch(str(root))
    (root / "b/c").mkdir(parents=True)
    assert watch.changes() is None
    with pytest.raises(OSError, match="more than 3 folders"):
        KernelWatch(str(root))


def test_what_cannot_be_watched_is_said(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError):
        KernelWatch(str(tmp_path / "nowhere"))
    with pytest.raises(OSError, match="of the kind 'proc'"):
        KernelWatch("/proc/self")
    with pytest.raises(OSError, match="is another disk"):
        KernelWatch("/")


@pytest.fixture
def mounts(tmp_path, monkeypatch):
    """The table of disks as a test says it is."""
    real_open = open

    def told(text):
        table = tmp_path / "mountinfo"
        table.write_text(text)
        monkeypatch.setattr(
            "builtins.open", lambda path, *a, **k: real_open(table if path == "/proc/self/mountinfo" else path, *a, **k)
        )

    return told


@pytest.mark.parametrize(
    ("mounted", "is_watched"),
    [
        ("1 0 8:1 / / rw - ext4 /dev/a rw", True),
        ("1 0 8:1 / / rw - nfs4 server:/x rw", False),
        ("1 0 8:1 / / rw shared:1 - ext4 /dev/a rw\n2 1 0:9 / {root} rw - nfs server:/x rw", False),
        ("1 0 8:1 / / rw - nfs server:/x rw\n2 1 0:9 / {root} rw - xfs /dev/a rw", True),
        ("1 0 8:1 / / rw - ext4 /dev/a rw\n2 1 0:9 / {root}/a rw - fuse.sshfs x rw", False),
        ("1 0 8:1 / / rw - ext4 /dev/a rw\n2 1 0:9 / {root}-other rw - nfs x rw", True),
    ],
)
def test_only_disks_whose_changes_all_pass_through_this_kernel_are_watched(root, mounts, mounted, is_watched):
    mounts(mounted.format(root=root) + "\n")
    if is_watched:
        assert KernelWatch(str(root)).changes() == 0
    else:
        with pytest.raises(OSError, match="disk"):
            KernelWatch(str(root))


def looked_at(library):
    for _ in range(LOOKS_BEFORE_WATCHING + 1):
        catalog = library.catalog()
    return catalog


def test_a_library_that_is_looked_at_often_gives_the_same_catalog_until_something_changes(root, monkeypatch):
    library = FolderLibrary(root)
    assert not library.catalog().watched
    catalog = looked_at(library)
    assert catalog.watched
    with monkeypatch.context() as patch:
        patch.setattr(folder_module, "Walk", None)
        assert library.catalog() is catalog
    (root / "a/references/A.md").write_text("b")
    other = library.catalog()
    assert other is not catalog
    assert other == catalog
    assert library.catalog() is other


def test_the_disk_is_looked_at_again_after_a_while(root, monkeypatch):
    library = FolderLibrary(root)
    catalog = looked_at(library)
    monkeypatch.setattr(folder_module, "TRUSTED_SECONDS", -1)
    hidden = os.open(root / "a/SKILL.md", os.O_RDONLY)
    os.close(hidden)
    assert library.catalog() == catalog
    # Written through another name of the file, which no folder is told of.
    os.link(root / "a/SKILL.md", root.parent / "same.md")
    library.catalog()
    (root.parent / "same.md").write_text("---\nname: a\ndescription: Does b.\n---\n")
    assert library.catalog().entries[0].description == "Does b."


def test_links_and_empty_folders_need_no_watch(root, tmp_path):
    empty = FolderLibrary(tmp_path / "nowhere")
    assert looked_at(empty) is empty.catalog()
    (root / "linked").symlink_to(root / "a")
    library = FolderLibrary(root)
    assert not looked_at(library).watched
    assert [entry.id for entry in library.catalog().entries] == ["a", "linked"]


def test_where_there_is_no_watch_changes_are_seen_all_the_same(root, monkeypatch):
    def refuse(_):
        raise OSError("not here")

    monkeypatch.setattr(folder_module, "KernelWatch", refuse)
    library = FolderLibrary(root)
    assert not looked_at(library).watched
    (root / "a/SKILL.md").write_text("---\nname: a\ndescription: Does c.\n---\n")
    assert library.catalog().entries[0].description == "Does c."


def test_layers_and_switches_give_the_same_catalog_too(root, tmp_path):
    switches = Switches().disable("b")
    library = Layered([WithSwitches(FolderLibrary(Path(each)), switches) for each in (root, tmp_path / "nowhere")])
    catalog = looked_at(library)
    assert catalog.watched
    assert library.catalog() is catalog
    (root / "b").mkdir()
    (root / "b/SKILL.md").write_text("---\nname: b\ndescription: Does b.\n---\n")
    assert library.catalog() is not catalog
    assert [entry.id for entry in library.catalog().entries] == ["a"]
