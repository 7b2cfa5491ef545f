import os
from pathlib import Path

import pytest

from skillyard.errors import InputError, LimitError
from skillyard.library.tables import list_in, read_table, replace_text, table_in, text_in


def test_toml_and_json_with_comments_read_alike(tmp_path: Path):
    (tmp_path / "a.toml").write_text('name = "x"\n[sub]\nn = 1\n')
    (tmp_path / "a.jsonc").write_text('{"name": "x", "sub": {"n": 1}} // end\n')
    assert read_table(tmp_path / "a.toml") == read_table(tmp_path / "a.jsonc") == {"name": "x", "sub": {"n": 1}}


def test_a_file_that_is_not_there_has_no_settings(tmp_path: Path):
    assert read_table(tmp_path / "none.toml") == {}


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.toml", b"name = x", "not valid TOML"),
        ("a.toml", b"name = " + b"9" * 5_000, "not valid TOML"),
        ("a.toml", b"a" + b".a" * 100_000, "more than 64 parts"),
        ("a.json", b"[1]", "holds a list"),
        ("a.json", b"null", "holds nothing"),
        ("a.json", b'"text"', "holds the value 'text'"),
        ("a.json", b"\xff\xfe", "not UTF-8"),
        ("a.json", b"{", "not JSON"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str, data: bytes, message: str):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(InputError, match=message) as caught:
        read_table(path)
    assert caught.value.details["file"] == str(path)


def test_a_huge_file_is_not_read(tmp_path: Path):
    path = tmp_path / "a.json"
    with path.open("wb") as stream:
        stream.truncate(50 * 1024 * 1024)
    with pytest.raises(LimitError):
        read_table(path)


def test_a_pipe_in_place_of_a_file_holds_nobody_up(tmp_path: Path):
    os.mkfifo(tmp_path / "a.json")
    assert read_table(tmp_path / "a.json") == {}


def test_values_of_the_wrong_kind_count_as_nothing():
    table = {"text": "x", "list": [1], "table": {"a": 1}}
    assert (table_in(table, "table"), table_in(table, "list")) == ({"a": 1}, {})
    assert (list_in(table, "list"), list_in(table, "text")) == ([1], ())
    assert (text_in(table, "none", "list", "text"), text_in(table, "list")) == ("x", "")


def test_replacing_a_file_keeps_its_mode_and_a_link_to_it(tmp_path: Path):
    real = tmp_path / "real.json"
    real.write_text("old")
    real.chmod(0o640)
    link = tmp_path / "link.json"
    link.symlink_to(real)
    replace_text(link, "new")
    assert (real.read_text(), real.stat().st_mode & 0o777, link.is_symlink()) == ("new", 0o640, True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.json", "real.json"]


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path):
    path = tmp_path / "a.json"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        replace_text(path, "\ud800")
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("a.json", "old")]
