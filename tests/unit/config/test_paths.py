from pathlib import Path

from skillyard.config.paths import config_dir, default_home, user_config_file


def test_the_config_folder_is_under_the_home_of_the_person(tmp_path):
    assert config_dir() == tmp_path / "person/.config/skillyard"
    assert user_config_file() == tmp_path / "person/.config/skillyard/config.toml"
    assert default_home() == tmp_path / "person/.local/share/skillyard"


def test_xdg_variables_move_both_folders(monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", "/etc/mine")
    monkeypatch.setenv("XDG_DATA_HOME", "/data/mine")
    assert config_dir() == Path("/etc/mine/skillyard")
    assert default_home() == Path("/data/mine/skillyard")


def test_a_relative_xdg_variable_is_ignored(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    assert config_dir() == tmp_path / "person/.config/skillyard"


def test_the_own_variable_wins_and_understands_the_tilde(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", "/etc/mine")
    monkeypatch.setenv("SKILLYARD_CONFIG_DIR", "~/yard")
    assert config_dir() == tmp_path / "person/yard"
