import shutil

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
    shutil.rmtree(home / ".claude/skills/broken")
    result = run()
    assert result.code == 0
    assert "Nothing is wrong." in result.out


def test_an_empty_machine_is_no_error(run):
    result = run()
    assert result.code == 0
    assert "no agent here" in result.out
    for step in ("skillyard demo", "skillyard init", "skillyard add"):
        assert step in result.out


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
    # Claude Code prefers personal skills: to link one may hide a project's, which is not for a fix to do.
    assert "`ln -s ../../.agents/skills/only-codex ~/.claude/skills/only-codex` shows it there" in result.out
    assert "fix:" not in result.out
    by_id = agents(run("audit", "--why", "only-codex", "--json"))
    assert by_id["codex"]["sees"]
    assert by_id["claude-code"]["unseen"][0]["reason"] == "other-folder"


def test_a_skill_that_nobody_sees_is_a_negative_result(run, home):
    result = run("audit", "--why", "broken")
    assert result.code == 1
    assert "It is only in ~/.claude/skills, which Codex does not read." in result.out


def test_a_skill_can_be_asked_for_by_its_name(run, home, skill):
    skill("reader", under=home / ".agents/skills", name="Paper Reader")
    result = run("audit", "--why", "paper reader")
    assert result.code == 0
    assert "✓ Codex" in result.out


def test_a_skill_outside_of_every_agents_folders_is_told_as_such(run, home, skill, tmp_path, monkeypatch):
    skill("elsewhere", under=tmp_path / "extra")
    monkeypatch.setenv("SKILLYARD_ROOTS", str(tmp_path / "extra"))
    result = run("audit", "--why", "elsewhere")
    assert result.code == 1
    assert "✗ Codex  It is in no folder that agents read." in result.out


def test_an_unknown_skill_is_not_found_and_the_nearest_named(run, home):
    result = run("audit", "--why", "only-codxe")
    assert result.code == 3
    assert "'only-codex'" in result.err


def test_why_tells_of_copies_that_are_hidden(run, home, skill, tmp_path):
    skill("pdf", under=tmp_path / "project/.claude/skills", body="Other.\n")
    assert f"hidden by it: {tmp_path}/project/.claude/skills/pdf/SKILL.md" in run("audit", "--why", "pdf").out
    by_id = agents(run("audit", "--why", "pdf", "--json"))
    assert [item["id"] for item in by_id["claude-code"]["shadowed"]] == ["pdf"]


def test_the_home_folder_is_a_tilde_for_people_and_whole_for_programs(run, home, skill):
    skill("pdf", under=home / ".codex/skills")
    out = run("audit", "--unseen").out
    assert str(home) not in out
    assert "see: skillyard validate ~/.claude/skills/broken/SKILL.md" in out
    assert run("audit", "--json").json["issues"][0]["path"] == str(home / ".claude/skills/broken/SKILL.md")


def test_a_quoted_path_in_a_command_stays_whole(run, home):
    broken = home / ".claude/skills/not good"
    broken.mkdir()
    (broken / "SKILL.md").write_text("nothing")
    assert f"see: skillyard validate '{broken / 'SKILL.md'}'" in run().out


def test_a_folders_name_cannot_forge_a_line(run, home, skill):
    evil = home / ".claude/skills/evil\nNothing is wrong."
    evil.mkdir()
    (evil / "SKILL.md").write_text("nothing")
    (home / ".claude/skills/empty\nNothing is wrong.").mkdir()
    lines = run("audit", "--unseen").out.splitlines()
    assert not [line for line in lines if line.startswith("Nothing is wrong.")]


def test_what_is_not_seen_can_be_listed(run, home):
    assert "only-codex" not in run("audit", "-a", "claude").out
    assert "only-codex" in run("audit", "-a", "claude", "--unseen").out


def test_the_own_limit_holds_for_agents_that_publish_none(run, home, skill, monkeypatch):
    skill("long", under=home / ".cursor/skills", description="Many words. " * 20)
    shutil.rmtree(home / ".claude/skills/broken")
    assert run("audit", "-a", "cursor", "--json").json["issues"] == []
    assert "of 8,000 characters (setting prompt_budget)" in run("audit", "-a", "cursor").out
    monkeypatch.setenv("SKILLYARD_PROMPT_BUDGET", "100")
    report = run("audit", "-a", "cursor", "--json").json
    assert report["agents"][0]["budget"]["over"] is True
    assert report["issues"][0]["code"] == "over-budget"
    assert report["issues"][0]["fix"] == ""
    assert "It documents no limit; 100 is your setting prompt_budget." in report["issues"][0]["message"]
    assert "nothing" not in report["issues"][0]["advice"]
    assert "Cursor has no switch for single skills" in report["issues"][0]["advice"]


def test_an_agent_with_a_switch_is_told_less_to_meet_the_own_limit(run, home, skill, monkeypatch):
    skill("long", under=home / ".gemini/skills", description="Many words. " * 20)
    monkeypatch.setenv("SKILLYARD_PROMPT_BUDGET", "200")
    (issue,) = [item for item in run("audit", "-a", "gemini", "--json").json["issues"] if item["code"] == "over-budget"]
    assert issue["fix"] == ""
    assert "`skillyard skill disable` with names or patterns and `-a gemini-cli`" in issue["advice"]


def test_a_limit_that_is_a_guess_is_called_one(run, home, skill):
    for number in range(20):
        skill(f"long-{number}", under=home / ".cursor/skills", description=f"Words {number}. " * 60)
    issues = run("audit", "-a", "cursor", "--json").json["issues"]
    (issue,) = [issue for issue in issues if issue["code"] == "over-budget"]
    assert "8,000 is only our guess" in issue["message"]
    assert "config set" not in str(issue)


@pytest.mark.parametrize("logs", [False, True])
def test_what_is_known_about_use_is_said_where_a_list_is_too_long(run, home, skill, logs):
    for number in range(20):
        skill(f"long-{number}", under=home / ".claude/skills", description=f"Words {number}. " * 60)
    if logs:
        log = home / ".claude/projects/p/session.jsonl"
        log.parent.mkdir(parents=True)
        log.write_text("{}\n")
    (issue,) = [item for item in run("--json").json["issues"] if item["code"] == "over-budget"]
    if logs:
        assert issue["see"] == "skillyard skill usage -a claude-code"
    else:
        assert "nothing is known about use" in issue["advice"]
        assert issue["see"] == ""


def test_the_counts_come_first(run, home):
    assert run().out.splitlines()[0] == "1 error in 2 skills of 2 agents."


def test_a_list_of_names_in_a_pipe_is_no_endless_line(run, home, skill):
    for number in range(200):
        skill(f"skill-number-{number}", under=home / ".cursor/skills")
    out = run().out
    assert max(map(len, out.splitlines())) < 250
    assert ", and 19" in out


def test_findings_alike_are_one_group(run, home, skill):
    for number in range(4):
        for folder in (".claude/skills", ".cursor/skills"):
            skill(f"same-{number}", under=home / folder)
    out = run().out
    assert "· duplicate  4 times" in out
    assert out.count("an edit of one does not reach the others") == 1


def test_the_same_look_twice_says_the_same(run, home):
    assert run().out == run().out
