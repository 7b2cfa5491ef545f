import errno
import os

import pytest

from skillyard.errors import LimitError, NotAllowedError, NotFoundError, UnavailableError
from skillyard.library.regular import read_regular


def test_a_regular_file_is_read_up_to_its_limit(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"x" * 10_000)
    assert read_regular(str(path), 10_000) == b"x" * 10_000
    with pytest.raises(LimitError):
        read_regular(str(path), 9_999)
    (tmp_path / "empty").touch()
    assert read_regular(str(tmp_path / "empty"), 0) == b""


def test_a_file_whose_size_on_record_is_wrong_is_bounded_all_the_same():
    assert read_regular("/proc/self/status", 100_000).startswith(b"Name:")
    with pytest.raises(LimitError):
        read_regular("/proc/self/status", 10)


def test_a_name_is_looked_up_in_the_folder_given(tmp_path):
    (tmp_path / "a").write_bytes(b"1")
    fd = os.open(tmp_path, os.O_RDONLY)
    try:
        assert read_regular("a", 10, dir_fd=fd) == b"1"
    finally:
        os.close(fd)


def test_every_reason_not_to_read_has_its_error(tmp_path, monkeypatch):
    (tmp_path / "link").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "pipe")
    for name, error, said in [
        ("link", NotAllowedError, "link"),
        ("pipe", NotAllowedError, "plain file"),
        ("", NotAllowedError, "plain file"),
        ("missing", NotFoundError, "no file"),
        ("nul\0", NotFoundError, "no file"),
    ]:
        with pytest.raises(error, match=said):
            read_regular(f"{tmp_path}/{name}", 10)
    for number, error in [(errno.EACCES, NotAllowedError), (errno.EIO, UnavailableError)]:

        def failing(*args, number=number, **kwargs):
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(os, "open", failing)
        with pytest.raises(error):
            read_regular("a", 10)
