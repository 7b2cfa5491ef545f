import json
import shlex

import pytest


@pytest.fixture
def log(machine, monkeypatch):
    """Write a log of Claude Code, of the calls that are given."""
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)

    def write(*calls, session="aaaa-1", end="\n"):
        entries = [
            {
                "type": "assistant",
                "sessionId": session,
                "cwd": "/work/app",
                "timestamp": "2026-11-15T10:00:00Z",
                "message": {"content": [{"type": "tool_use", "id": f"t{number}", "name": name, "input": given}]},
            }
            for number, (name, given) in enumerate(calls)
        ]
        file = machine / "person/.claude/projects/-work-app" / f"{session}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(json.dumps(entry) + "\n" for entry in entries) + end)

    return write


SINCE = ("--since", "2026-01-01")


def test_usage_shows_what_was_used_and_what_never(run, machine, skill, log):
    for name in ("pdf", "idle"):
        skill(name, under=machine / "person/.claude/skills")
    log(("Skill", {"skill": "pdf"}), ("Read", {"file_path": "/gone/old\x1b[31m/SKILL.md"}), end='{"tool_use"\n')
    done = run("skill", "usage", *SINCE)
    assert done.code == 0
    used, never = done.out.split("Never used")
    assert "pdf" in used
    assert "changed since" in used
    assert "no longer there" in used
    assert "since 2026-01-01" in used
    table, command = never.split("If you do not need this skill in Claude Code:")
    assert table.split() == ["by", "Claude", "Code", "since", "2026-01-01", "idle", "~/.claude/skills"]
    assert command.split() == ["skillyard", "skill", "disable", "-a", "claude-code", "idle"]
    assert "Read 1 session log, 3 lines." in done.err
    assert "\x1b[31m" not in done.out


def test_usage_without_logs_says_so(run, skill, machine, log):
    skill("idle", under=machine / "person/.claude/skills")
    done = run("skill", "usage")
    assert done.code == 0
    assert done.out == "There is no session log in the last 30d, so nothing is known about use.\n"
    document = run("skill", "usage", "--json").json
    assert (document["logs"]["files"], document["never_used"], document["unused"]) == (0, [], [])


def test_what_was_never_used_is_turned_off_by_one_command_that_names_whole_groups(run, machine, skill, log):
    names = ["pdf", "idle", "odd name", *(f"azure-{n}" for n in range(40)), "gcp-a", "gcp-b", "gcp-used", "team-x"]
    for name in names:
        skill(name, under=machine / "person/.claude/skills")
    log(("Skill", {"skill": "pdf"}), ("Skill", {"skill": "gcp-used"}))
    (unused,) = run("skill", "usage", *SINCE, "--json").json["unused"]
    assert unused["command"] == ("skillyard skill disable -a claude-code 'azure-*' gcp-a gcp-b idle 'odd name' team-x")
    out = run("skill", "usage", *SINCE).out
    printed = out[out.index("skillyard skill disable") :]
    assert all(len(line) <= 100 for line in printed.splitlines())
    words = shlex.split(printed.replace("\\\n", " "))
    assert run(*words[1:]).code == 0
    assert run("skill", "usage", *SINCE, "--json").json["unused"] == []


def test_without_logs_there_is_nothing_to_import(run, log):
    done = run("release", "import", "--since", "2d")
    assert done.code == 3
    assert "No session log of Claude Code or Codex changed since 2d." in done.err
    assert run("release", "import", "--since", "soon").code == 2


def test_a_rehearsal_shows_the_sessions_and_keeps_nothing(run, log, machine):
    log(("Skill", {"skill": "pdf"}))
    done = run("release", "import", "--dry-run", *SINCE)
    assert done.code == 0
    assert "aaaa-1" in done.out
    assert "pdf" in done.out
    assert "0 executions would be read in" in done.err
    assert not list((machine / "person").rglob("*.sqlite"))


def test_nothing_is_read_in_without_a_yes(run, log, machine):
    log(("Skill", {"skill": "pdf"}))
    done = run("release", "import", *SINCE)
    assert done.code == 2
    assert "in 1 session log of Claude Code, without secrets, in the yard of this machine?" in done.err
    assert not list((machine / "person").rglob("*.sqlite"))
