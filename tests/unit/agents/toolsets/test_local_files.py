"""Files of the machine that an agent works on: below its folder, and nowhere else."""

from pathlib import Path

import pytest

from skillyard.agents.toolsets.local_files import LocalFiles, working_folder
from skillyard.errors import FileMissingError, InputError, NotAllowedError, UnavailableError


def test_files_below_the_folder_are_read_and_written(tmp_path):
    files = LocalFiles(tmp_path)
    assert files.write("a/b.txt", b"1") == str(tmp_path / "a/b.txt")
    assert files.read("a/b.txt") == b"1"
    assert files.read(str(tmp_path / "a/b.txt")) == b"1"


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "link/x", "a/../../x", "x\0y"])
def test_nothing_outside_is_touched(tmp_path, path):
    inside = tmp_path / "work"
    inside.mkdir()
    (tmp_path / "x").write_text("secret")
    (inside / "link").symlink_to(tmp_path)
    files = LocalFiles(inside)
    with pytest.raises(NotAllowedError):
        files.read(path)
    with pytest.raises(NotAllowedError):
        files.write(path, b"")
    assert (tmp_path / "x").read_text() == "secret"


def test_what_is_no_file_is_told(tmp_path):
    files = LocalFiles(tmp_path)
    with pytest.raises(FileMissingError):
        files.read(".")
    with pytest.raises(FileMissingError):
        files.read("nope")
    (tmp_path / "folder").mkdir()
    with pytest.raises(UnavailableError):
        files.write("folder", b"")


def test_without_a_folder_there_is_another_way(tmp_path):
    with pytest.raises(InputError, match="local_path") as caught:
        LocalFiles(None).read("a")
    assert "content_base64" in caught.value.hint


def test_a_folder_that_holds_all_that_a_person_has_is_none_to_work_on(tmp_path):
    home = tmp_path / "homes" / "ann"
    project = home / "project"
    project.mkdir(parents=True)
    (tmp_path / "link").symlink_to(home)
    assert working_folder(project, home) == project
    assert working_folder(tmp_path / "link" / "project", home) == project
    for folder in (home, home.parent, tmp_path / "link", Path("/")):
        assert working_folder(folder, home) is None
