import errno
from pathlib import Path

import pytest

from skillyard.errors import StoreUnavailableError
from skillyard.sandbox.home_id import FILE, home_id


def test_a_home_keeps_its_id(tmp_path):
    first = home_id(tmp_path / "home")
    assert home_id(tmp_path / "home") == first
    assert home_id(tmp_path / "other") != first
    assert [path.name for path in (tmp_path / "home").iterdir()] == [FILE]


def test_a_home_on_a_disk_without_hard_links_has_an_id_all_the_same(tmp_path, monkeypatch):
    def refuse(_self, _target):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    first = home_id(tmp_path / "home")
    assert home_id(tmp_path / "home") == first
    assert [path.name for path in (tmp_path / "home").iterdir()] == [FILE]


@pytest.mark.parametrize("text", ["", "home-1\n", "home-0123456789ab\nmore"])
def test_a_damaged_id_is_told_and_not_replaced(tmp_path, text):
    (tmp_path / FILE).write_text(text)
    with pytest.raises(StoreUnavailableError, match="does not hold the id"):
        home_id(tmp_path)
    assert (tmp_path / FILE).read_text() == text
