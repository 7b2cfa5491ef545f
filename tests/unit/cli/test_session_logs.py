import json

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
    assert never.split() == ["since", "2026-01-01", "idle", "~/.claude/skills"]
    assert "Read 1 session log, 3 lines." in done.err
    assert "\x1b[31m" not in done.out


def test_usage_without_logs_says_so(run, skill, machine, log):
    skill("idle", under=machine / "person/.claude/skills")
    done = run("skill", "usage")
    assert (done.code, "No agent left a session log here in that time." in done.err) == (0, True)
    assert run("skill", "usage", "--json").json["logs"]["files"] == 0


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
