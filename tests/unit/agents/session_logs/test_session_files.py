import os
from datetime import UTC, datetime

import pytest
import zstandard

from skillyard.agents.session_logs.log_events import SkillUse
from skillyard.agents.session_logs.log_lines import LineCounts
from skillyard.agents.session_logs.session_files import log_files
from skillyard.errors import UsageError
from skillyard.library.roots import Machine

DONE = "Exit code: 0\nWall time: 1 seconds\nOutput:\nhi\n"


def found(home, **more):
    return [(log.kind.agent, log.path.name) for log in log_files(home.machine, **more)]


def test_the_logs_of_each_agent_are_found_the_oldest_first(home, claude, codex):
    for number, file in enumerate((home.write(codex(), "b"), home.write(claude(), "a"))):
        os.utime(file, (1_000_000_000 + number, 1_000_000_000 + number))
    home.put(".codex/sessions/2026/notes.jsonl", "{}\n")
    home.put(".codex/history.jsonl", "{}\n")
    home.put(".claude/projects/-work-app/memory.md", "{}\n")
    sub = home.put(".claude/projects/-work-app/one/subagents/agent-1.jsonl", "{}\n")
    os.utime(sub, (1_000_000_009, 1_000_000_009))
    both = [("codex", "rollout-2026-11-15T11-00-00-b.jsonl"), ("claude", "a.jsonl"), ("claude", "agent-1.jsonl")]
    assert found(home) == both
    assert found(home, agents=["codex"]) == both[:1]
    assert found(home, since=datetime.fromtimestamp(1_000_000_001, UTC)) == both[1:]


def test_the_variables_of_the_agents_say_where_their_logs_are(home, claude, tmp_path):
    home.write(claude())
    home.machine = Machine(home=tmp_path / "nobody", cwd=tmp_path, env={"CLAUDE_CONFIG_DIR": f"{tmp_path}/.claude"})
    assert found(home) == [("claude", "one.jsonl")]


def test_a_log_that_was_compressed_is_read_and_one_that_is_there_both_ways_is_read_once(home, codex):
    path = home.write(codex("old").call("c1", "shell", command=["ls"]).output("c1", DONE), "old")
    compressed = path.with_name(f"{path.name}.zst")
    compressed.write_bytes(zstandard.compress(path.read_bytes()))
    assert [log.path for log in log_files(home.machine)] == [path]
    path.unlink()
    (log,) = log_files(home.machine)
    counts = LineCounts()
    assert [(event.id, event.session) for event in log.events(counts)] == [("c1", "old")]
    assert (log.path, counts.passed_over) == (compressed, 0)


def test_a_compressed_log_that_is_damaged_is_told_as_unreadable(home):
    home.put(".codex/sessions/2026/11/15/rollout-1.jsonl.zst", "no frame")
    (log,) = log_files(home.machine)
    counts = LineCounts()
    assert list(log.events(counts)) == []
    assert counts.unreadable == 1


def test_links_are_not_followed(home, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "x.jsonl").write_text("{}\n")
    projects = home.path / ".claude/projects"
    projects.mkdir(parents=True)
    (projects / "folder").symlink_to(elsewhere)
    (projects / "file.jsonl").symlink_to(elsewhere / "x.jsonl")
    assert found(home) == []


def test_an_agent_whose_logs_are_not_known_is_named(home):
    with pytest.raises(UsageError, match="'cursor'"):
        log_files(home.machine, agents=["cursor"])


def test_names_that_are_far_too_long_are_counted_as_broken(home, claude):
    session = claude().call("t1", "Skill", skill="x" * 1000).call("t2", "Read", file_path=f"/{'y' * 5000}/a/SKILL.md")
    home.write(session.call("t3", "Skill", skill="pdf"))
    counts = LineCounts()
    (log,) = log_files(home.machine)
    assert [event.id for event in log.events(counts)] == ["t3"]
    assert counts.broken == 2


def test_looking_for_uses_finds_what_reading_everything_finds(home, claude, codex):
    session = claude().ran("ls").call("t1", "Skill", skill="pdf").result("t1", "Launching skill: pdf")
    session.add("user", [{"type": "text", "text": "Base directory for this skill: /x/pdf\n"}], isMeta=True)
    home.write(session.add("user", "<command-name>/xlsx</command-name>"))
    given = "<skill>\n<name>deploy</name>\n<path>/x/deploy/SKILL.md</path>"
    rollout = codex().add("turn_context", cwd="/moved").call("c1", "shell", command=["cat", "a/pdf/SKILL.md"])
    rollout.output("c1", "x")
    item = {"type": "CommandExecution", "id": "e1", "command": ["sh", "-c", "cat a/tidy/SKILL.md"], "exit_code": 0}
    rollout.add("event_msg", type="item_completed", item=item)
    home.write(rollout.add("response_item", type="message", role="user", content=[{"text": given}]))
    for log in log_files(home.machine):
        everything = [event for event in log.events(LineCounts()) if isinstance(event, SkillUse)]
        assert list(log.uses(LineCounts())) == everything
        assert len(everything) >= 2
