import json
import shutil


def ids(result):
    return [entry["id"] for entry in result.json["skills"]]


def test_a_skill_is_hidden_everywhere_and_comes_back(run, skill, tmp_path):
    skill("noisy")
    listing = ("list", "--root", tmp_path / "project/.agents/skills", "--json")
    assert ids(run(*listing)) == ["noisy"]
    off = run("skill", "disable", "noisy", "--json").json
    assert off == {
        "skills": ["noisy"],
        "enabled": False,
        "where": "everywhere",
        "files": [str(tmp_path / "person/.config/skillyard/switches.toml")],
        "readers": [],
    }
    assert ids(run(*listing)) == []
    assert run("skill", "disable", "noisy", "--json").json["files"] == []
    assert run("skill", "enable", "noisy").code == 0
    assert ids(run(*listing)) == ["noisy"]


def test_a_skill_is_found_by_its_name(run, skill):
    skill("noisy", name="Noisy One")
    assert run("skill", "disable", "noisy one", "--json").json["skills"] == ["noisy"]
    assert "noisy" not in ids(run("list", "--json"))


def test_an_unknown_skill_or_folder_is_not_found(run, skill, tmp_path):
    skill("noisy")
    result = run("skill", "disable", "nosy")
    assert result.code == 3
    assert "'noisy'" in result.err
    assert run("skill", "disable", "noisy", "--root", tmp_path / "nothere").code == 3
    assert not (tmp_path / "person/.config/skillyard/switches.toml").exists()


def test_a_skill_that_is_gone_can_be_turned_on_again(run, skill, tmp_path):
    folder = skill("noisy", under=tmp_path / "mine")
    run("skill", "disable", "noisy", "--root", tmp_path / "mine")
    shutil.rmtree(folder.parent)
    assert run("skill", "enable", "noisy", "--root", tmp_path / "mine").code == 0


def test_a_skill_of_an_environment_can_be_turned_off(run, skill, tmp_path):
    run("env", "create", "research")
    skill("noisy", under=tmp_path / "person/.config/skillyard/environments/research/skills")
    assert run("skill", "disable", "noisy").code == 0


def test_agents_that_still_read_the_folder_are_named(run, skill, tmp_path):
    skill("noisy", under=tmp_path / "person/.claude/skills")
    out = run("skill", "disable", "noisy").out
    assert "noisy is off in Skillyard (everywhere)" in out
    assert "still see it: Claude Code." in out
    assert "still see it" not in run("skill", "enable", "noisy").out


def test_a_skill_is_hidden_in_one_folder_only(run, skill, tmp_path):
    skill("same", under=tmp_path / "one")
    skill("same", under=tmp_path / "two")
    run("skill", "disable", "same", "--root", tmp_path / "one")
    listed = run("list", "--root", tmp_path / "one", "--root", tmp_path / "two", "--json").json
    assert listed["skills"][0]["location"] == str(tmp_path / "two/same/SKILL.md")


def test_an_agent_is_told_in_its_own_settings(run, skill, tmp_path):
    skill("noisy", under=tmp_path / "person/.claude/skills")
    result = run("skill", "disable", "noisy", "--agent", "claude", "--json")
    assert result.code == 0
    settings = tmp_path / "person/.claude/settings.json"
    assert result.json["files"] == [str(settings)]
    assert json.loads(settings.read_text())["skillOverrides"] == {"noisy": "off"}
    assert run("skill", "enable", "noisy", "-a", "claude").code == 0
    assert "noisy" not in settings.read_text()


def test_an_agent_without_a_switch_is_not_allowed(run, skill, tmp_path):
    skill("noisy", under=tmp_path / "person/.cursor/skills")
    assert run("skill", "disable", "noisy", "--agent", "cursor").code == 4


def test_a_skill_the_agent_does_not_have_is_not_found(run):
    assert run("skill", "disable", "none", "--agent", "claude").code == 3


def test_folder_and_agent_together_are_a_usage_error(run, tmp_path):
    assert run("skill", "disable", "x", "--agent", "claude", "--root", tmp_path).code == 2
