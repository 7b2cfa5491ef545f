import errno
import os
import shutil
import stat
import threading
import time
from pathlib import Path

import pytest

from skillyard.errors import ConflictError, InputError
from skillyard.library import disk
from skillyard.library.disk import (
    DRAFT_PREFIX,
    discard_folder,
    draft_beside,
    hidden_beside,
    left_beside,
    read_folder,
    swap_folder,
    write_folder,
)
from skillyard.skill.archive import pack, read_archive
from skillyard.skill.bundle import Bundle, BundleFile

SKILL = BundleFile("SKILL.md", b"---\nname: x\ndescription: y\n---\n")
BUNDLE = Bundle(
    [
        SKILL,
        BundleFile("scripts/run.sh", b"#!/bin/sh\n", executable=True),
        BundleFile("evals/evals.json", b"{}"),
        BundleFile("참고/한글.md", b""),
        BundleFile("assets/x.bin", bytes(range(256))),
    ]
)
OTHER = Bundle([BundleFile("SKILL.md", b"other"), BundleFile("new/file", b"1")])


def codes(read):
    return [finding.code for finding in read.findings]


def drafts(folder):
    return [path.name for path in folder.iterdir() if path.name.startswith((DRAFT_PREFIX, ".x.old"))]


def test_what_is_written_is_read_again(tmp_path):
    write_folder(BUNDLE, tmp_path / "deep" / "x")
    read = read_folder(tmp_path / "deep" / "x")
    assert read.bundle == BUNDLE
    assert read.folder == "x"
    assert read.findings == ()
    assert stat.S_IMODE((tmp_path / "deep/x/scripts/run.sh").stat().st_mode) & 0o100
    assert not drafts(tmp_path / "deep")


def test_folder_and_archive_agree_on_what_a_skill_is(tmp_path):
    write_folder(BUNDLE, tmp_path / "x")
    for litter in ("__pycache__/a.pyc", "node_modules/.bin/b", ".git/config", "b.pyc", ".DS_Store", "__MACOSX/c"):
        (tmp_path / "x" / litter).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "x" / litter).write_bytes(b"1")
    read = read_folder(tmp_path / "x")
    assert codes(read) == ["left-out"]
    assert read.bundle.digest == BUNDLE.digest == read_archive(pack(read.bundle, "x")).bundle.digest


def test_links_inside_left_out_folders_do_not_matter(tmp_path):
    write_folder(BUNDLE, tmp_path / "x")
    (tmp_path / "x/node_modules").mkdir()
    (tmp_path / "x/node_modules/tool").symlink_to("/")
    assert read_folder(tmp_path / "x").bundle == BUNDLE


def test_a_lower_case_skill_file_is_read_as_the_other(tmp_path):
    (tmp_path / "skill.md").write_bytes(SKILL.data)
    read = read_folder(tmp_path)
    assert read.bundle == Bundle([SKILL])
    assert codes(read) == ["skill-file-renamed"]


def test_the_folder_itself_may_be_named_by_a_link_or_a_dot(tmp_path, monkeypatch):
    write_folder(BUNDLE, tmp_path / "x")
    (tmp_path / "link").symlink_to("x")
    assert read_folder(tmp_path / "link").bundle == BUNDLE
    monkeypatch.chdir(tmp_path / "x")
    read = read_folder(Path())
    assert (read.bundle, read.folder) == (BUNDLE, "x")


@pytest.mark.parametrize("name", ["missing", "file", "nul\0byte", "n" * 5000])
def test_what_is_no_folder_is_a_finding(tmp_path, name):
    (tmp_path / "file").touch()
    read = read_folder(tmp_path / name)
    assert read.bundle is None
    assert codes(read) == ["unreadable"]


def test_a_file_that_may_not_be_read_is_named_and_the_others_still_judged(tmp_path, monkeypatch):
    write_folder(BUNDLE, tmp_path / "x")
    (tmp_path / "x/link").symlink_to("SKILL.md")
    real_open = os.open

    def refusing(path, *args, **kwargs):
        if path in {"run.sh", "assets"}:
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return real_open(path, *args, **kwargs)

    monkeypatch.setattr(os, "open", refusing)
    read = read_folder(tmp_path / "x")
    assert read.bundle is None
    assert [(finding.code, finding.file) for finding in read.findings] == [
        ("unreadable", "assets"),
        ("link", "link"),
        ("unreadable", "scripts/run.sh"),
    ]


def test_a_folder_replaced_while_it_is_read_is_read_again(tmp_path, monkeypatch):
    write_folder(BUNDLE, tmp_path / "x")
    real_scandir, calls = os.scandir, []

    def replacing(target):
        calls.append(target)
        if len(calls) == 2:
            swap_folder(OTHER, tmp_path / "x")
        return real_scandir(target)

    monkeypatch.setattr(os, "scandir", replacing)
    read = read_folder(tmp_path / "x")
    assert read.bundle == OTHER
    assert read.findings == ()


def test_a_folder_replaced_faster_than_it_is_read_is_read_when_that_ends(tmp_path, monkeypatch):
    write_folder(BUNDLE, tmp_path / "x")
    stood = iter([False] * 10)
    monkeypatch.setattr(disk, "_is_still_at", lambda path, fd: next(stood, True))
    assert read_folder(tmp_path / "x").bundle == BUNDLE


def test_a_folder_replaced_every_time_is_given_up(tmp_path, monkeypatch):
    write_folder(BUNDLE, tmp_path / "x")
    monkeypatch.setattr(disk, "_is_still_at", lambda path, fd: False)
    assert codes(read_folder(tmp_path / "x")) == ["changed-while-reading"]


def test_a_reader_beside_a_writer_sees_the_old_or_the_new_skill(tmp_path):
    write_folder(BUNDLE, tmp_path / "x")
    seen, stop = set(), threading.Event()

    def look():
        while not stop.is_set():
            seen.add(read_folder(tmp_path / "x").bundle)

    reader = threading.Thread(target=look)
    reader.start()
    try:
        for turn in range(10):
            swap_folder(BUNDLE if turn % 2 else OTHER, tmp_path / "x")
    finally:
        stop.set()
        reader.join()
    assert seen
    assert seen <= {BUNDLE, OTHER}


@pytest.mark.parametrize("swaps", [True, False], ids=["swap", "two steps"])
def test_a_folder_that_gives_way_is_kept_whole_beside_the_new_one(tmp_path, monkeypatch, swaps):
    if not swaps:
        monkeypatch.setattr(disk, "exchange", lambda first, second: False)
    write_folder(BUNDLE, tmp_path / "x")
    old = swap_folder(OTHER, tmp_path / "x")
    assert read_folder(tmp_path / "x").bundle == OTHER
    assert read_folder(old).bundle == BUNDLE
    assert old.name.startswith(".x.")
    assert sorted(tmp_path.iterdir()) == [old, tmp_path / "x"]


def test_swapping_with_what_is_not_there_writes_it(tmp_path):
    assert swap_folder(BUNDLE, tmp_path / "x") is None
    assert read_folder(tmp_path / "x").bundle == BUNDLE


def test_what_is_there_is_not_replaced_unasked(tmp_path):
    write_folder(BUNDLE, tmp_path / "x")
    with pytest.raises(ConflictError, match="already"):
        write_folder(OTHER, tmp_path / "x")
    assert read_folder(tmp_path / "x").bundle == BUNDLE


def test_a_folder_that_appears_meanwhile_is_a_conflict(tmp_path, monkeypatch):
    write_folder(BUNDLE, tmp_path / "x")
    monkeypatch.setattr(disk, "_check_free", lambda target, *, replace: None)
    with pytest.raises(ConflictError, match="already"):
        write_folder(OTHER, tmp_path / "x")
    assert read_folder(tmp_path / "x").bundle == BUNDLE
    assert not drafts(tmp_path)


@pytest.mark.parametrize("writing", [write_folder, swap_folder])
def test_nothing_is_written_through_a_link(tmp_path, writing):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "x").symlink_to("elsewhere")
    with pytest.raises(ConflictError):
        writing(BUNDLE, tmp_path / "x")
    assert (tmp_path / "x").is_symlink()
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_file_of_that_name_is_not_replaced(tmp_path):
    (tmp_path / "x").write_bytes(b"mine")
    with pytest.raises(ConflictError):
        swap_folder(BUNDLE, tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == b"mine"


def test_a_git_repository_is_not_replaced(tmp_path):
    write_folder(BUNDLE, tmp_path / "x")
    (tmp_path / "x/.git").mkdir()
    with pytest.raises(ConflictError, match="git"):
        swap_folder(OTHER, tmp_path / "x")
    assert (tmp_path / "x/.git").is_dir()


@pytest.mark.parametrize("path", ["../escaped", "/tmp/escaped", "a\0b"])
def test_an_unsafe_bundle_is_not_written(tmp_path, path):
    with pytest.raises(InputError):
        write_folder(Bundle([SKILL, BundleFile(path, b"")]), tmp_path / "x")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("swaps", [True, False], ids=["swap", "two steps"])
def test_a_write_that_fails_leaves_the_old_folder_and_no_draft(tmp_path, monkeypatch, swaps):
    write_folder(BUNDLE, tmp_path / "x")

    def failing(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    if swaps:
        monkeypatch.setattr(os, "fsync", failing)
    else:
        real_rename = Path.rename
        monkeypatch.setattr(disk, "exchange", lambda first, second: False)
        monkeypatch.setattr(
            Path,
            "rename",
            lambda path, to: failing() if path.name.startswith(DRAFT_PREFIX) else real_rename(path, to),
        )
    with pytest.raises(OSError, match="No space"):
        swap_folder(OTHER, tmp_path / "x")
    monkeypatch.undo()
    assert read_folder(tmp_path / "x").bundle == BUNDLE
    assert list(tmp_path.iterdir()) == [tmp_path / "x"]


@pytest.mark.parametrize(("age", "stays"), [(7200, False), (0, True)])
def test_drafts_that_a_crash_left_are_removed_and_fresh_ones_are_not(tmp_path, monkeypatch, age, stays):
    draft = draft_beside(tmp_path / "any")
    draft.mkdir()
    (draft / "part").touch()
    os.utime(draft, (0, 0))  # as a copy of something old has it
    file = draft_beside(tmp_path / "any")
    file.touch()
    now = time.time() + age
    monkeypatch.setattr(time, "time", lambda: now)
    write_folder(BUNDLE, tmp_path / "x")
    assert sorted(drafts(tmp_path)) == (sorted([draft.name, file.name]) if stays else [])


def test_what_a_stopped_removal_leaves_has_the_name_of_a_draft(tmp_path, monkeypatch):
    write_folder(BUNDLE, tmp_path / "x")
    monkeypatch.setattr(shutil, "rmtree", lambda path, **_: (path / "SKILL.md").unlink())
    discard_folder(tmp_path / "x")
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(DRAFT_PREFIX)


def test_only_folders_under_the_name_of_one_that_gave_way_are_left_beside(tmp_path):
    own = hidden_beside(tmp_path / "x")
    own.mkdir()
    for name in (".x.old-2024", ".x.old-0123abcz", "x.old-01234567", ".old-01234567"):
        (tmp_path / name).mkdir()
    hidden_beside(tmp_path / "file").touch()
    hidden_beside(tmp_path / "link").symlink_to(own)
    assert left_beside(tmp_path) == [(own, tmp_path / "x")]
    assert left_beside(tmp_path / "none") == []


def test_every_file_and_folder_is_synced_before_it_is_shown(tmp_path, monkeypatch):
    synced = []
    real_fsync = os.fsync

    def noting(fd):
        synced.append((str(Path(f"/proc/self/fd/{fd}").readlink()), (tmp_path / "x").exists()))
        real_fsync(fd)

    monkeypatch.setattr(os, "fsync", noting)
    write_folder(BUNDLE, tmp_path / "x")
    before = {path.partition(DRAFT_PREFIX)[2].partition("/")[2] for path, shown in synced if not shown}
    assert before == {file.path for file in BUNDLE} | {"", "scripts", "evals", "참고", "assets"}
    assert [path for path, shown in synced if shown] == [str(tmp_path)]


def test_folders_of_a_person_that_look_like_drafts_are_left_alone(tmp_path):
    own = tmp_path / f"{DRAFT_PREFIX}backup"
    own.mkdir()
    os.utime(own, (0, 0))
    write_folder(BUNDLE, tmp_path / "x")
    assert own.is_dir()
