"""Codex's rollouts: what was run to its end, and which skills were used."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.agents.session_logs.codex_log import CodexLog
from skillyard.agents.session_logs.log_events import How, LoggedRun, SkillUse

DONE = "Chunk ID: ab\nWall time: 0.0520 seconds\nProcess exited with code 0\nOriginal token count: 9\nOutput:\nhi\n"


def events(session):
    log = CodexLog()
    return [event for entry in session.entries for event in log.take(entry)]


def runs(session):
    return [event for event in events(session) if isinstance(event, LoggedRun)]


def told(session):
    return [(run.exec_type.value, run.code, run.success, run.exit_code, run.output) for run in runs(session)]


def test_a_command_is_told_with_its_end(codex):
    session = codex().call("call_1", "exec_command", cmd="echo hi", workdir="/elsewhere").output("call_1", DONE)
    (run,) = runs(session)
    assert (run.id, run.session, run.folder, run.milliseconds) == ("call_1", "cdx-1", "/elsewhere", 52)
    assert told(session) == [("shell", "echo hi", True, 0, "hi\n")]


@pytest.mark.parametrize(
    ("name", "given_", "kind", "code"),
    [
        ("shell", {"command": ["bash", "-lc", "ls -la"]}, "shell", "ls -la"),
        ("shell", {"command": ["/usr/bin/zsh", "-c", "ls"]}, "shell", "ls"),
        ("shell", {"command": ["git", "commit", "-m", "a b"]}, "shell", "git commit -m 'a b'"),
        ("shell", {"command": ["python3", "-c", "print(1)"]}, "python", "print(1)"),
        ("shell_command", {"command": "ls"}, "shell", "ls"),
        ("container.exec", {"cmd": ["ls"]}, "shell", "ls"),
    ],
)
def test_the_forms_in_which_commands_are_called_are_understood(codex, name, given_, kind, code):
    session = codex().call("call_1", name, **given_).output("call_1", DONE)
    assert [(one[0], one[1]) for one in told(session)] == [(kind, code)]


@pytest.mark.parametrize(
    ("output", "success", "exit_code", "text"),
    [
        (json.dumps({"output": "no\n", "metadata": {"exit_code": 1, "duration_seconds": 0.5}}), False, 1, "no\n"),
        ("Exit code: 0\nWall time: 1 seconds\nTotal output lines: 1\nOutput:\nhi", True, 0, "hi"),
        ({"content": "Exit code: 3\nWall time: 1 seconds\nOutput:\n", "success": False}, False, 3, ""),
        ([{"type": "input_text", "text": DONE}], True, 0, "hi\n"),
    ],
)
def test_the_forms_in_which_ends_are_told_are_understood(codex, output, success, exit_code, text):
    session = codex().call("call_1", "shell", command=["true"]).output("call_1", output)
    assert [one[2:] for one in told(session)] == [(success, exit_code, text)]


@pytest.mark.parametrize(
    "output",
    [
        "Wall time: 10.0 seconds\nProcess running with session ID 73\nOutput:\nstarted",
        "hi, without a word on how it ended",
        "{broken",
        '{"output": "x", "metadata": {}}',
        "Output:\nExit code: 0",
        None,
        7,
    ],
)
def test_what_does_not_say_how_it_ended_is_not_told(codex, output):
    assert runs(codex().call("call_1", "shell", command=["true"]).output("call_1", output)) == []


def test_an_event_tells_the_end_before_the_output_does(codex):
    session = codex().call("call_1", "shell", command=["false"])
    end = {
        "call_id": "call_1",
        "exit_code": 1,
        "stdout": "",
        "stderr": "no",
        "duration": {"secs": 2, "nanos": 5_000_000},
    }
    session.add("event_msg", type="exec_command_end", **end).output("call_1", DONE)
    (run,) = runs(session)
    assert (run.success, run.exit_code, run.error, run.milliseconds) == (False, 1, "no", 2005)


def test_a_command_is_told_by_its_end_alone_and_once(codex):
    end = {"call_id": "n1", "exit_code": 0, "command": ["/bin/zsh", "-lc", "pnpm build"], "cwd": "/x", "stdout": "ok"}
    session = codex().add("event_msg", type="exec_command_end", **end).add("event_msg", type="exec_command_end", **end)
    session.call("n2", "shell", command=["ls"]).output("n2", DONE)
    session.add("event_msg", type="exec_command_end", **{**end, "call_id": "n2"})
    assert [(run.code, run.folder, run.output) for run in runs(session)] == [
        ("pnpm build", "/x", "ok"),
        ("ls", "/work/app", "hi\n"),
    ]


def completed(session, **item):
    return session.add("event_msg", type="item_completed", thread_id="t", turn_id="u", item=item)


def test_newer_rollouts_tell_the_commands_of_the_agents_code_as_items(codex):
    session = codex()
    wrapped = "const r = await tools.exec_command({cmd: 'make'}); text(r.output);"
    session.add("response_item", type="custom_tool_call", name="exec", call_id="outer", input=wrapped)
    command = {"type": "CommandExecution", "command": ["/bin/zsh", "-lc", "make"], "cwd": "file:///work/my%20app"}
    end = {"status": "failed", "exit_code": 2, "duration": {"secs": 2, "nanos": 500_000_000}}
    completed(session, **command, **end, id="exec-7f", stdout="", stderr="", aggregated_output="no rule\n")
    completed(session, **command, id="exec-8f", status="declined")
    session.add("response_item", type="custom_tool_call_output", call_id="outer", output="Script completed\nOutput:\n")
    (run,) = runs(session)
    assert (run.id, run.code, run.folder, run.milliseconds) == ("exec-7f", "make", "/work/my app", 2500)
    assert told(session) == [("shell", "make", False, 2, "no rule\n")]


def test_a_command_that_was_called_and_is_an_item_too_is_told_once(codex):
    item = {"type": "CommandExecution", "id": "c1", "command": ["bash", "-lc", "ls"], "exit_code": 0, "stdout": "hi\n"}
    session = codex().call("c1", "exec_command", cmd="ls")
    assert [run.code for run in runs(completed(session, **item).output("c1", DONE))] == ["ls"]
    session = codex().call("c1", "exec_command", cmd="ls").output("c1", DONE)
    assert [run.code for run in runs(completed(session, **item))] == ["ls"]


def test_a_command_that_ran_on_is_told_when_it_is_over(codex):
    running = "Chunk ID: ab\nWall time: 10.0 seconds\nProcess running with session ID 7\nOutput:\n"
    session = codex().call("c1", "exec_command", cmd="pnpm test").output("c1", running)
    item = {"type": "CommandExecution", "id": "c1", "command": ["bash", "-lc", "pnpm test"], "exit_code": 0}
    assert [run.success for run in runs(completed(session, **item))] == [True]


def test_skills_are_used_by_what_the_agents_code_reads_and_calls(codex):
    session = codex()
    read = ["/bin/zsh", "-lc", "cat ~/.codex/skills/pdf/SKILL.md"]
    completed(session, type="CommandExecution", id="exec-1", command=read, cwd="file:///x", exit_code=0)
    served = {"server": "skillyard", "tool": "load_skill", "arguments": {"skill_name": "acme/deploy"}}
    completed(session, type="McpToolCall", id="exec-2", **served)
    session.call("c3", "skill", skill="tidy")
    session.entries[-1]["payload"]["namespace"] = "mcp__skillyard__"
    uses = [(use.name, use.how, use.path) for use in events(session) if isinstance(use, SkillUse)]
    assert uses == [
        ("pdf", How.READ, "~/.codex/skills/pdf/SKILL.md"),
        ("acme/deploy", How.SERVED, ""),
        ("tidy", How.SERVED, ""),
    ]


def test_local_shell_calls_and_bare_items_of_the_first_rollouts_are_understood(codex):
    session = codex()
    action = {"type": "exec", "command": ["ls"], "working_directory": "/x"}
    session.add("response_item", type="local_shell_call", call_id="c", status="completed", action=action)
    session.output("c", DONE)
    session.entries += [
        {"type": "function_call", "name": "shell", "arguments": '{"command":["pwd"]}', "call_id": "d"},
        {"type": "function_call_output", "call_id": "d", "output": DONE},
    ]
    assert [one[1] for one in told(session)] == ["ls", "pwd"]
    bare = codex()
    bare.entries = [{"id": "old-1", "timestamp": "2025-06-01T10:00:00Z", "instructions": ""}, *session.entries[-2:]]
    assert [run.session for run in runs(bare)] == ["old-1"]


def test_the_folder_of_a_turn_is_where_its_commands_are_run(codex):
    session = codex().add("turn_context", cwd="/moved").call("c", "shell", command=["ls"]).output("c", DONE)
    assert runs(session)[0].folder == "/moved"


def test_a_fork_is_a_session_of_its_own(codex):
    session = codex("fork").add("session_meta", id="origin", cwd="/o")
    assert runs(session.call("c", "shell", command=["ls"]).output("c", DONE))[0].session == "fork"


def test_skills_are_used_by_reading_them_by_being_named_and_by_a_server(codex):
    session = codex().call("c1", "exec_command", cmd="sed -n '1,99p' ~/.codex/skills/pdf/SKILL.md")
    given_text = "<skill>\n<name>deploy</name>\n<path>/x/deploy/SKILL.md</path>\n# Deploy\n</skill>"
    session.add("response_item", type="message", role="user", content=[{"type": "input_text", "text": given_text}])
    session.call("c2", "mcp__skillyard__skill", name="acme/tool")
    uses = [(use.name, use.how, use.path) for use in events(session) if isinstance(use, SkillUse)]
    assert uses == [
        ("pdf", How.READ, "~/.codex/skills/pdf/SKILL.md"),
        ("deploy", How.CALLED, "/x/deploy/SKILL.md"),
        ("acme/tool", How.SERVED, ""),
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=20,
)
KINDS = ["function_call", "function_call_output", "local_shell_call", "exec_command_end", "message", "item_completed"]
ITEM = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(KINDS) | JSON,
        "call_id": st.just("a") | JSON,
        "name": st.sampled_from(["shell", "exec_command", "mcp__x__skill"]) | JSON,
        "arguments": JSON.map(json.dumps) | JSON,
        "output": st.just(DONE) | JSON,
        "action": JSON,
        "exit_code": JSON,
        "duration": JSON,
        "content": JSON,
        "role": st.just("user"),
        "item": JSON
        | st.fixed_dictionaries(
            {"type": st.sampled_from(["CommandExecution", "McpToolCall"]), "id": st.just("a") | JSON},
            optional={"command": st.just(["sh", "-c", "ls"]) | JSON, "cwd": st.just("file://[") | JSON, "tool": JSON},
        ),
    },
)


@given(st.lists(ITEM | JSON, max_size=6))
def test_no_entry_whatever_is_in_it_breaks_the_reading(items):
    log = CodexLog()
    list(log.take({"timestamp": "2026-11-15T11:00:00Z", "type": "session_meta", "payload": {"id": "s"}}))
    for item in items:
        for event in log.take({"timestamp": "2026-11-15T11:00:01Z", "type": "response_item", "payload": item}):
            assert event.session == "s"
