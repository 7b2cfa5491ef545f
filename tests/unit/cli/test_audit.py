import pytest


@pytest.fixture
def home(tmp_path, skill):
    person = tmp_path / "person"
    (person / ".codex").mkdir()
    skill("pdf", under=person / ".claude/skills")
    skill("only-codex", under=person / ".agents/skills")
    broken = person / ".claude/skills/broken"
    broken.mkdir()
    (broken / "SKILL.md").write_text("nothing")
    return person


def agents(result):
    return {view["id"]: view for view in result.json["agents"]}


def test_without_a_command_the_machine_is_audited(run, home):
    alone, named = run("--json"), run("audit", "--json")
    assert alone.json == named.json
    assert alone.code == named.code == 1
    assert [entry["id"] for entry in agents(alone)["claude-code"]["skills"]] == ["pdf"]
    assert [entry["id"] for entry in agents(alone)["codex"]["skills"]] == ["only-codex"]
    assert [issue["code"] for issue in alone.json["issues"]] == ["broken"]


def test_every_issue_is_printed_with_its_fix(run, home):
    out = run().out
    assert "Claude Code  1 skill" in out
    assert "skillyard validate" in out
    assert "1 error" in out


def test_a_clean_machine_is_a_positive_result(run, home):
    (home / ".claude/skills/broken/SKILL.md").unlink()
    result = run()
    assert result.code == 0
    assert "Nothing is wrong." in result.out


def test_an_empty_machine_is_no_error(run):
    result = run()
    assert result.code == 0
    assert "no agent here" in result.out


def test_one_agent_can_be_asked_for(run, home):
    result = run("audit", "-a", "codex", "--json")
    assert list(agents(result)) == ["codex"]
    assert result.json["issues"] == []
    assert result.code == 0
    assert run("audit", "-a", "kodex").code == 3


def test_why_an_agent_does_not_see_a_skill_is_answered(run, home):
    result = run("audit", "--why", "only-codex")
    assert result.code == 0
    assert "✓ Codex" in result.out
    assert "✗ Claude Code" in result.out
    assert "skillyard add" in result.out
    by_id = agents(run("audit", "--why", "only-codex", "--json"))
    assert by_id["codex"]["sees"]
    assert by_id["claude-code"]["unseen"][0]["reason"] == "other-folder"


def test_a_skill_that_nobody_sees_is_a_negative_result(run, home):
    assert run("audit", "--why", "broken").code == 1
    assert "not on this machine" in run("audit", "--why", "never-heard").out


def test_what_is_not_seen_can_be_listed(run, home):
    assert "only-codex" not in run("audit", "-a", "claude").out
    assert "only-codex" in run("audit", "-a", "claude", "--unseen").out


def test_the_own_limit_holds_for_agents_that_publish_none(run, home, skill, monkeypatch):
    skill("long", under=home / ".cursor/skills", description="Many words. " * 20)
    (home / ".claude/skills/broken/SKILL.md").unlink()
    assert run("audit", "-a", "cursor", "--json").json["issues"] == []
    monkeypatch.setenv("SKILLYARD_PROMPT_BUDGET", "100")
    report = run("audit", "-a", "cursor", "--json").json
    assert report["agents"][0]["budget"]["over"] is True
    assert report["issues"][0]["code"] == "over-budget"
    assert report["issues"][0]["fix"].startswith("skillyard config set prompt_budget ")


def test_the_same_look_twice_says_the_same(run, home):
    assert run().out == run().out
