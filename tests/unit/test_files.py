import os
import stat

import pytest

from skillyard.files import replace_file


def test_a_new_file_is_its_owners_and_its_folder_is_made(tmp_path):
    path = tmp_path / "a/b/file"
    replace_file(path, b"one")
    assert path.read_bytes() == b"one"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_keeps_its_mode_unless_told_otherwise(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"one")
    path.chmod(0o640)
    replace_file(path, b"two")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"two", 0o640)
    replace_file(path, b"three", mode=0o644)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_a_link_is_replaced_and_not_written_through(tmp_path):
    (tmp_path / "real").write_bytes(b"one")
    (tmp_path / "link").symlink_to("real")
    replace_file(tmp_path / "link", b"two")
    assert (tmp_path / "real").read_bytes() == b"one"
    assert not (tmp_path / "link").is_symlink()


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"one")

    def full(_fd):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        replace_file(path, b"two")
    assert path.read_bytes() == b"one"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_a_device_or_a_folder_is_never_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for target in (tmp_path / "pipe", tmp_path):
        with pytest.raises(FileExistsError):
            replace_file(target, b"x")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
