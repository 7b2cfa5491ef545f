import os
import time

import pytest

from skillyard.config.files import read_config_file, read_project_file, write_key
from skillyard.errors import InputError, NotAllowedError

KEYS = ("port", "host", "active_environment")


def test_writing_a_key_keeps_comments_and_order(tmp_path):
    path = tmp_path / "config.toml"
    path.write_text("# mine\nport = 1  # the port\n\nhost = 'a'\n")
    write_key(path, "port", 2)
    assert path.read_text() == "# mine\nport = 2  # the port\n\nhost = 'a'\n"


def test_writing_makes_the_file_and_its_folder(tmp_path):
    path = tmp_path / "deep/config.toml"
    write_key(path, "port", 2)
    assert read_config_file(path, keys=KEYS) == {"port": 2}
    assert [child.name for child in path.parent.iterdir()] == ["config.toml"]


def test_a_key_in_its_second_spelling_is_written_in_place(tmp_path):
    path = tmp_path / "config.toml"
    path.write_text('activeEnvironment = "work"\n')
    write_key(path, "active_environment", "play")
    assert path.read_text() == 'activeEnvironment = "play"\n'
    write_key(path, "active_environment", None)
    assert path.read_text() == ""


def test_taking_out_what_is_not_there_changes_nothing(tmp_path):
    path = tmp_path / "config.toml"
    assert not write_key(path, "port", None)
    assert not path.exists()


def test_a_broken_file_is_left_alone(tmp_path):
    path = tmp_path / "config.toml"
    path.write_text("port = ")
    with pytest.raises(InputError, match="not valid TOML") as caught:
        write_key(path, "port", 2)
    assert "x00" not in caught.value.message
    assert path.read_text() == "port = "


def test_a_linked_file_stays_a_link_and_keeps_its_mode(tmp_path):
    real = tmp_path / "real.toml"
    real.write_text("port = 1\n")
    real.chmod(0o640)
    link = tmp_path / "config.toml"
    link.symlink_to(real)
    write_key(link, "port", 2)
    assert link.is_symlink()
    assert real.read_text() == "port = 2\n"
    assert real.stat().st_mode & 0o777 == 0o640


def test_a_file_with_a_byte_order_mark_is_read(tmp_path):
    path = tmp_path / "config.toml"
    path.write_bytes(b"\xef\xbb\xbfport = 1")
    assert read_config_file(path, keys=KEYS) == {"port": 1}


def test_a_pipe_or_a_device_in_place_of_the_file_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "zero.toml").symlink_to("/dev/zero")
    assert read_config_file(tmp_path / "pipe.toml", keys=["port"]) == {}
    assert read_config_file(tmp_path / "zero.toml", keys=["port"]) == {}


@pytest.mark.parametrize("text", ["port = " + "9" * 5000, "x" * 1_000_001], ids=["long number", "too large"])
def test_a_file_made_to_break_the_reader_is_a_typed_error(tmp_path, text):
    path = tmp_path / "skillyard.toml"
    path.write_text(text)
    with pytest.raises(InputError):
        read_config_file(path, keys=["port"])


@pytest.mark.parametrize(
    "key", ["a" + ".a" * 100_000, "[a" + " . a" * 60_000 + "]", "x = {'a'" + ".'a'" * 60_000 + "=1}"]
)
def test_a_key_of_endless_parts_is_refused_at_once(tmp_path, key):
    path = tmp_path / "config.toml"
    path.write_text(key)
    started = time.process_time()
    with pytest.raises(InputError, match="more than 64 parts"):
        read_config_file(path, keys=KEYS)
    with pytest.raises(InputError, match="more than 64 parts"):
        write_key(path, "port", 1)
    assert time.process_time() - started < 1


def test_texts_with_many_dots_are_no_deep_keys(tmp_path):
    path = tmp_path / "config.toml"
    path.write_text(f'# {"." * 200}\nhost = "{"." * 200} {"a, b. " * 100}"\n')
    assert read_config_file(path, keys=KEYS)["host"].startswith("...")


def test_a_project_root_that_no_path_can_be_is_refused(tmp_path):
    path = tmp_path / "skillyard.toml"
    path.write_text('roots = ["a\\u0000b"]\n')
    with pytest.raises(NotAllowedError, match="outside the project"):
        read_project_file(path, keys=("roots",))
