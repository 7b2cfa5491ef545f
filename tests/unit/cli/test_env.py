import pytest


@pytest.fixture
def environments(tmp_path):
    return tmp_path / "person/.config/skillyard/environments"


def test_environments_are_where_the_setting_says(run, machine):
    assert run("config", "set", "environments", str(machine / "elsewhere")).code == 0
    assert run("env", "create", "far", "--use").code == 0
    assert (machine / "elsewhere/far/skills").is_dir()
    assert run("env", "show", "--json").json["name"] == "far"


def test_an_environment_is_made_used_and_left(run, skill, environments):
    assert run("env", "list").err.startswith("There are no environments")
    assert run("env", "list").out == ""
    made = run("env", "create", "research", "--json").json
    assert made["skills_dir"] == str(environments / "research/skills")
    skill("reader", under=environments / "research/skills")
    assert "reader" not in run("list").out
    assert run("env", "use", "research").code == 0
    assert "reader" in run("list").out
    listed = run("env", "list", "--json").json
    assert listed["active"] == "research"
    assert listed["environments"][0] == {
        "name": "research",
        "active": True,
        "path": str(environments / "research"),
        "description": "",
        "skills": 1,
    }
    assert run("env", "none").code == 0
    assert "reader" not in run("list").out
    assert run("env", "list", "--json").json["active"] is None


def test_making_one_prints_its_path_alone(run, environments):
    made = run("env", "create", "research")
    assert made.out == f"{environments / 'research'}\n"
    assert str(environments / "research/skills") in made.err


def test_all_commands_agree_about_an_environment_that_another_file_names(run, environments):
    run("env", "create", "research")
    file = environments.parent / "config.jsonc"
    file.write_text('{"activeEnvironment": "research"} // theirs')
    assert run("env", "show", "--json").json["name"] == "research"
    got = run("config", "get", "active_environment", "--json").json
    assert got == {"key": "active_environment", "value": "research", "origin": str(file)}
    shown = run("config", "show", "--origin", "--json").json
    assert shown["settings"]["active_environment"] == "research"
    assert shown["origins"]["active_environment"] == str(file)


def test_a_new_environment_can_be_used_at_once(run):
    run("env", "create", "research", "--use")
    assert run("config", "get", "active_environment").out == "research\n"


def test_one_environment_can_be_named_for_one_command(run, skill, environments):
    run("env", "create", "research")
    skill("reader", under=environments / "research/skills")
    assert [s["id"] for s in run("list", "--env", "research", "--json").json["skills"]] == ["reader"]
    assert run("show", "reader", "--env", "research").code == 0
    assert run("list", "--env", "reserch").code == 3


def test_files_of_other_programs_are_shown_without_their_keys(run, skill, environments):
    run("env", "create", "research")
    (environments / "research/agents.jsonc").write_text('{"helper": {"role": "Helps" /* much */}}')
    (environments / "research/models.jsonc").write_text(
        '{"models": {"main": {"provider": "openai", "model": "m-1", "apiKey": "very-secret"}}}'
    )
    (environments / "research/skills/broken").mkdir()
    (environments / "research/skills/broken/skill.md").write_text("nothing")
    shown = run("env", "show", "research", "--json")
    assert shown.json["model"] == "openai:m-1"
    assert shown.json["agents"][0]["role"] == "Helps"
    assert shown.json["problems"][0]["id"] == "broken"
    text = run("env", "show", "research").out
    assert "Helps" in text
    assert "broken" in text
    assert "very-secret" not in shown.out + text


def test_a_stronger_setting_is_told(run, monkeypatch):
    run("env", "create", "one")
    run("env", "create", "two")
    monkeypatch.setenv("SKILLYARD_ACTIVE_ENVIRONMENT", "one")
    for words in (("env", "use", "two"), ("env", "none"), ("env", "create", "three", "--use")):
        result = run(*words)
        assert result.code == 0
        assert "one is active: env SKILLYARD_ACTIVE_ENVIRONMENT says so" in result.out + result.err
    told = run("env", "use", "two", "--json").json
    assert told == {"active": "one", "overruled_by": "env SKILLYARD_ACTIVE_ENVIRONMENT"}
    monkeypatch.delenv("SKILLYARD_ACTIVE_ENVIRONMENT")
    assert run("env", "use", "two", "--json").json == {"active": "two", "overruled_by": ""}


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("env", "use", "none-such"), 3),
        (("env", "show"), 3),
        (("env", "path", "none-such"), 3),
        (("env", "create", "../up"), 1),
        (("env", "create", ""), 1),
    ],
)
def test_mistakes_are_typed(run, words, code):
    assert run(*words).code == code


def test_making_one_twice_is_a_conflict(run):
    run("env", "create", "one")
    assert run("env", "create", "one").code == 5


def test_the_path_is_printed_alone(run, environments):
    run("env", "create", "one")
    assert run("env", "path", "one").out == f"{environments / 'one'}\n"
