import pytest


def test_a_setting_is_written_read_and_taken_out(run, tmp_path):
    file = tmp_path / "person/.config/skillyard/config.toml"
    done = run("config", "set", "port", "9000")
    assert done.code == 0
    assert file.read_text() == "port = 9000\n"
    assert run("config", "get", "port").out == "9000\n"
    got = run("config", "get", "port", "--json").json
    assert got == {"key": "port", "value": 9000, "origin": str(file)}
    run("config", "unset", "port")
    assert run("config", "get", "port", "--json").json["origin"] == "default"


def test_taking_out_what_was_never_set_says_so(run):
    assert "was not set" in run("config", "unset", "port").out


@pytest.mark.parametrize("typed", ['["~/src", "/more"]', "~/src:/more"])
def test_roots_are_typed_as_a_list_or_like_path(run, tmp_path, typed):
    assert run("config", "set", "roots", typed).code == 0
    assert run("config", "get", "roots", "--json").json["value"] == [str(tmp_path / "person/src"), "/more"]


def test_a_flag_out_of_range_is_a_usage_error_that_names_the_flag(run):
    result = run("serve", "--port", "99999")
    assert result.code == 2
    assert result.err.startswith("Error: --port takes a whole number from 0 to 65535")


def test_a_project_has_its_own_file(run, tmp_path):
    run("config", "set", "--project", "max_depth", "3")
    assert (tmp_path / "project/skillyard.toml").read_text() == "max_depth = 3\n"


def test_roots_of_a_project_are_written_so_that_a_clone_finds_them(run, tmp_path):
    assert run("config", "set", "--project", "roots", "skills:deep/er").code == 0
    assert (tmp_path / "project/skillyard.toml").read_text() == 'roots = ["skills", "deep/er"]\n'
    assert run("config", "get", "roots", "--json").json["value"] == [
        str(tmp_path / "project/skills"),
        str(tmp_path / "project/deep/er"),
    ]


@pytest.mark.parametrize(("key", "value"), [("home", "data"), ("host", "0.0.0.0"), ("roots", "skills:/")])
def test_what_a_project_may_not_decide_is_not_written_for_it(run, tmp_path, key, value):
    result = run("config", "set", "--project", key, value)
    assert result.code == 4
    assert f"skillyard config set {key}" in result.err
    assert not (tmp_path / "project/skillyard.toml").exists()


def test_a_setting_that_a_project_may_not_have_can_be_taken_out(run, tmp_path):
    (tmp_path / "project/skillyard.toml").write_text("port = 1\n")
    assert run("list").code == 4
    assert run("config", "unset", "--project", "port").code == 0
    assert run("list").code == 0


def test_all_settings_are_shown_with_their_origin(run, monkeypatch):
    monkeypatch.setenv("SKILLYARD_PORT", "4242")
    text = run("config", "show", "--origin").out
    assert "4242" in text
    assert "env SKILLYARD_PORT" in text
    document = run("config", "show", "--origin", "--json").json
    assert document["settings"]["port"] == 4242
    assert document["origins"]["port"] == "env SKILLYARD_PORT"
    assert document["origins"]["host"] == "default"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("config", "set", "prot", "1"), 3, "'port'"),
        (("config", "set", "port", "many"), 1, "'many'"),
        (("config", "get", "nothing-like-it"), 3, "The settings are"),
        (("config", "get", "nope"), 3, "The settings are"),
        (("config", "set", "max_depth", "99"), 1, "from 1 to 32"),
        (("config", "set", "active_environment", "nope"), 3, "skillyard env create nope"),
    ],
)
def test_mistakes_name_the_fix_and_write_nothing(run, tmp_path, words, code, said):
    result = run(*words)
    assert result.code == code
    assert said in result.err
    assert not (tmp_path / "person/.config").exists()


def test_the_places_are_told(run, tmp_path):
    places = run("config", "path", "--json").json
    assert places["config_dir"] == str(tmp_path / "person/.config/skillyard")
    assert places["project_file"] == str(tmp_path / "project/skillyard.toml")
    assert places["home"] == str(tmp_path / "person/.local/share/skillyard")
