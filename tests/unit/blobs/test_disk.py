import os
import stat
import threading
from datetime import timedelta
from pathlib import Path

import pytest

from skillyard.blobs import disk
from skillyard.blobs.disk import DiskBlobs
from skillyard.clock import utc_now
from skillyard.errors import UnavailableError

pytestmark = pytest.mark.anyio


@pytest.fixture
def root(tmp_path):
    return tmp_path / "deep/blobs"


@pytest.fixture
def blobs(root):
    return DiskBlobs(root)


@pytest.fixture
def journal(monkeypatch):
    """What is synced and renamed, in order, as paths."""
    lines = []
    guard = threading.Lock()
    fsync, replace = os.fsync, Path.replace

    def note(line):
        with guard:
            lines.append(line)

    def noted_fsync(fd):
        fsync(fd)
        note(("sync", Path(f"/proc/self/fd/{fd}").readlink()))

    def noted_replace(path, target):
        note(("rename", path, target))
        return replace(path, target)

    monkeypatch.setattr(os, "fsync", noted_fsync)
    monkeypatch.setattr(Path, "replace", noted_replace)
    return lines


def files(root):
    return sorted(path for path in root.rglob("*") if path.is_file())


async def test_files_and_folders_are_for_their_owner_only(blobs, root):
    await blobs.put(b"secret")
    [file] = files(root)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    for folder in (file.parent, root, root.parent, root / "incoming"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


async def test_bytes_are_synced_before_they_get_their_name_and_the_name_after(blobs, root, journal):
    await blobs.put(b"one")
    [file] = files(root)
    [rename] = [line for line in journal if line[0] == "rename"]
    at = journal.index(rename)
    assert rename[2] == file
    assert ("sync", rename[1]) in journal[:at]
    assert ("sync", file.parent) in journal[at:]
    assert ("sync", root) in journal[at:], "the folder itself is new"


async def test_every_folder_above_a_new_store_is_made_to_last(blobs, root, tmp_path, journal):
    await blobs.put(b"one")
    assert {tmp_path, tmp_path / "deep", root} <= {line[1] for line in journal if line[0] == "sync"}


async def test_each_folder_is_synced_once_however_many_files_it_takes(blobs, root, journal):
    await blobs.put_all(b"%d" % number for number in range(300))
    journal.clear()
    contents = [b"more %d" % number for number in range(300)]
    await blobs.put_all(contents)
    synced = [line[1] for line in journal if line[0] == "sync" and line[1].parent == root]
    assert len(synced) == len(set(synced))
    assert len([line for line in journal if line[0] == "rename"]) == len(contents)


async def test_an_existing_blob_is_not_written_again_but_its_name_is_made_to_last(blobs, root, journal):
    await blobs.put(b"one")
    [file] = files(root)
    before = file.stat()
    journal.clear()
    await DiskBlobs(root).put(b"one")
    assert file.stat() == before
    assert [line for line in journal if line[0] == "rename"] == []
    assert {("sync", file.parent), ("sync", root)} <= set(journal), "who wrote it may not have synced yet"


async def test_a_known_folder_costs_one_sync(blobs, root, journal):
    await blobs.put(b"one")
    [file] = files(root)
    journal.clear()
    await blobs.put(b"one")
    assert journal == [("sync", file.parent)]


async def test_a_failed_write_names_the_store_and_leaves_nothing(blobs, root, monkeypatch):
    def full(_fd):
        raise OSError(28, "No space left on device")

    await blobs.put(b"one")
    before = files(root)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UnavailableError, match="No space left") as caught:
        await blobs.put(b"two")
    assert str(root) in caught.value.message
    assert files(root) == before


async def test_a_store_below_a_file_is_unavailable(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UnavailableError, match="cannot be used"):
        await DiskBlobs(tmp_path / "file/blobs").put(b"one")


async def test_what_a_killed_writer_left_is_swept_once_it_is_old(blobs, root):
    sha256 = await blobs.put(b"one")
    left = root / "incoming/tmpabc"
    left.write_bytes(b"hal")
    await blobs.tidy(utc_now() - timedelta(minutes=1))
    assert left.exists()
    await blobs.tidy(utc_now() + timedelta(minutes=1))
    assert not left.exists()
    assert await blobs.get(sha256) == b"one"


async def test_files_are_written_by_several_threads(blobs, monkeypatch):
    """Each thread waits for the others, so this ends only if there are as many at once."""
    together = threading.Barrier(disk._WRITERS, timeout=60)
    fsync = os.fsync
    await blobs.put(b"prepared")

    def meeting_fsync(fd):
        if stat.S_ISREG(os.fstat(fd).st_mode):
            together.wait()
        fsync(fd)

    monkeypatch.setattr(os, "fsync", meeting_fsync)
    await blobs.put_all(b"%d" % number for number in range(disk._WRITERS))
