"""Claude Code's logs: what was run to its end, and which skills were used."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.agents.session_logs.claude_log import ClaudeLog
from skillyard.agents.session_logs.log_events import How, LoggedRun, SkillUse
from skillyard.sandbox.executions import ExecType


def events(session):
    log = ClaudeLog()
    return [event for entry in session.entries for event in log.take(entry)]


def runs(session):
    return [event for event in events(session) if isinstance(event, LoggedRun)]


def uses(session):
    return [(use.name, use.how, use.path) for use in events(session) if isinstance(use, SkillUse)]


def test_a_command_is_told_with_its_end(claude):
    session = claude().call("toolu_1", "Bash", command="make test", description="Run the tests")
    session.result("toolu_1", "all ok", toolUseResult={"stdout": "all ok", "stderr": "warned", "interrupted": False})
    (run,) = runs(session)
    assert run == LoggedRun(
        id="toolu_1",
        session="aaaa-1",
        exec_type=ExecType.SHELL,
        code="make test",
        success=True,
        exit_code=0,
        output="all ok",
        error="warned",
        milliseconds=1000,
        at=datetime(2026, 11, 15, 10, 0, 0, tzinfo=UTC),
        folder="/work/app",
        description="Run the tests",
    )


def test_a_command_that_failed_is_told_with_its_exit_code(claude):
    session = claude().call("toolu_1", "Bash", command="ls /no")
    session.result("toolu_1", "Exit code 2\nls: no such file", is_error=True, toolUseResult="Error: Exit code 2\nls: …")
    (run,) = runs(session)
    assert (run.success, run.exit_code, run.output, run.error) == (False, 2, "", "ls: no such file")


def test_older_logs_have_the_text_alone(claude):
    session = claude().call("toolu_1", "Bash", command="pwd")
    session.result("toolu_1", [{"type": "text", "text": "/work/app"}])
    session.call("toolu_2", "Bash", command="nope").result("toolu_2", "nope: not found", is_error=True)
    good, bad = runs(session)
    assert (good.success, good.output, good.error) == (True, "/work/app", None)
    assert (bad.success, bad.exit_code, bad.error) == (False, None, "nope: not found")


def test_a_command_that_was_interrupted_did_not_succeed(claude):
    session = claude().call("toolu_1", "Bash", command="sleep 100")
    session.result("toolu_1", "", toolUseResult={"stdout": "", "stderr": "", "interrupted": True})
    (run,) = runs(session)
    assert (run.success, run.interrupted, run.exit_code) == (False, True, None)


def test_of_several_results_in_one_entry_each_has_its_own_text(claude):
    session = claude().call("toolu_1", "Bash", command="a").call("toolu_2", "Bash", command="b")
    results = [{"type": "tool_result", "tool_use_id": f"toolu_{n}", "content": f"out {n}"} for n in (1, 2)]
    session.add("user", results, toolUseResult={"stdout": "out 2", "stderr": ""})
    assert [run.output for run in runs(session)] == ["out 1", "out 2"]


@pytest.mark.parametrize(
    ("content", "more"),
    [
        ("The user doesn't want to proceed with this tool use.", {"is_error": True}),
        ("Permission to use Bash with command rm has been denied.", {"is_error": True}),
        ("<tool_use_error>InputValidationError</tool_use_error>", {"is_error": True}),
        ("Command running in background with ID: b2.", {"toolUseResult": {"backgroundTaskId": "b2"}}),
        ("Some other words of a newer version.", {"is_error": True, "toolDenialKind": "permission-rule"}),
    ],
)
def test_what_was_not_run_to_its_end_is_not_told(claude, content, more):
    assert runs(claude().call("toolu_1", "Bash", command="rm -rf x").result("toolu_1", content, **more)) == []


def test_a_command_without_an_end_or_an_end_without_a_command_is_not_told(claude):
    assert runs(claude().call("toolu_1", "Bash", command="ls").result("toolu_2", "x")) == []
    assert runs(claude().call("toolu_1", "Bash", command="  ").result("toolu_1", "x")) == []
    session = claude().call("toolu_1", "Bash", command="ls", run_in_background=True)
    assert runs(session.result("toolu_1", "started")) == []


def test_other_tools_are_no_executions(claude):
    session = claude().call("toolu_1", "Edit", file_path="/x", old_string="a").result("toolu_1", "ok")
    assert events(session.call("toolu_2", "mcp__skillyard__execute_python", code="1").result("toolu_2", "1")) == []


def test_a_skill_that_was_called_is_told_again_with_its_place(claude):
    session = claude().call("toolu_1", "Skill", skill="docs:pdf", args="x").result("toolu_1", "Launching skill: pdf")
    session.add(
        "user", [{"type": "text", "text": "Base directory for this skill: /p/skills/pdf\n\n# PDF"}], isMeta=True
    )
    first, second = (event for event in events(session) if isinstance(event, SkillUse))
    assert (first.name, first.how, first.path) == ("docs:pdf", How.CALLED, "")
    assert (second.id, second.at, second.path) == (first.id, first.at, "/p/skills/pdf/SKILL.md")


def test_a_skill_that_was_called_and_is_announced_as_in_older_logs_is_used_once(claude):
    session = claude().call("toolu_1", "Skill", command="pdf").result("toolu_1", "Launching skill: pdf")
    announced = '<command-message>The "pdf" skill is loading</command-message>\n<command-name>pdf</command-name>'
    session.add("user", announced)
    session.add("user", [{"type": "text", "text": "Base directory for this skill: /p/pdf\n\n# PDF"}], isMeta=True)
    session.add("user", "<command-message>pdf</command-message>\n<command-name>/pdf</command-name>")
    assert [(use.id, use.how) for use in events(session)] == [
        ("toolu_1", How.CALLED),
        ("toolu_1", How.CALLED),
        ("aaaa-1-4", How.TYPED),
    ]


def test_a_skill_that_was_typed_is_told_again_with_its_place(claude):
    session = claude().add("user", "<command-message>pdf</command-message>\n<command-name>/docs:pdf</command-name>")
    session.add("user", [{"type": "text", "text": "Base directory for this skill: /p/pdf\n\n# PDF"}], isMeta=True)
    first, second = events(session)
    assert (first.name, first.how, first.path) == ("docs:pdf", How.TYPED, "")
    assert (second.id, second.how, second.path) == (first.id, How.TYPED, "/p/pdf/SKILL.md")


def test_each_skill_that_a_subagent_begins_with_is_told_with_its_place(claude):
    def begun(name):
        announced = f"<command-name>{name}</command-name>\n<skill-format>true</skill-format>"
        placed = f"Base directory for this skill: /p/{name}\n\n# Text"
        return [{"type": "text", "text": announced}, {"type": "text", "text": placed}]

    session = claude().add("user", [*begun("pdf"), *begun("deploy")], isSidechain=True)
    told = [use for use in events(session) if use.path]
    assert [use.path for use in told] == ["/p/pdf/SKILL.md", "/p/deploy/SKILL.md"]
    assert len({use.id for use in told}) == 2


def test_a_skill_that_there_was_none_of_is_taken_back(claude):
    session = claude().call("toolu_1", "Skill", skill="made-up")
    session.result("toolu_1", "<tool_use_error>Unknown skill: made-up</tool_use_error>", is_error=True)
    session.call("toolu_2", "Skill", skill="pdf").result("toolu_2", "It failed.", is_error=True)
    assert [(use.id, use.how) for use in events(session)] == [
        ("toolu_1", How.CALLED),
        ("toolu_1", How.MISSED),
        ("toolu_2", How.CALLED),
    ]


def test_a_skill_is_used_by_reading_it_by_a_command_and_by_a_server(claude):
    session = claude(folder="/work/app").call("toolu_1", "Read", file_path="/x/pdf/SKILL.md")
    session.call("toolu_2", "Read", file_path="/x/pdf/reference.md")
    session.ran("cat skills/xlsx/SKILL.md && true")
    session.add("user", "<command-message>pdf</command-message>\n<command-name>/pdf</command-name>")
    session.call("toolu_3", "mcp__skillyard__load_skill", name="acme/tool")
    session.call("toolu_4", "mcp__other__list_things", name="acme/tool")
    assert uses(session) == [
        ("pdf", How.READ, "/x/pdf/SKILL.md"),
        ("xlsx", How.READ, "/work/app/skills/xlsx/SKILL.md"),
        ("pdf", How.TYPED, ""),
        ("acme/tool", How.SERVED, ""),
    ]


def test_words_about_a_skill_are_no_use(claude):
    session = claude().add("user", "Use /pdf. Base directory for this skill: /x/pdf")
    session.add("assistant", [{"type": "text", "text": "Base directory for this skill: /x/pdf <command-name>/pdf"}])
    assert events(session) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=20,
)
BLOCK = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["tool_use", "tool_result", "text"]) | JSON,
        "id": st.just("a") | JSON,
        "tool_use_id": st.just("a") | JSON,
        "name": st.sampled_from(["Bash", "Skill", "Read", "mcp__x__skill"]) | JSON,
        "input": st.dictionaries(st.sampled_from(["command", "skill", "file_path"]), JSON) | JSON,
        "content": JSON,
        "is_error": JSON,
        "text": JSON,
    },
)


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "timestamp": st.just("2026-11-15T10:00:00Z") | st.just("0001-01-01T00:00:00+14:00") | JSON,
                "sessionId": st.just("s") | JSON,
                "message": st.fixed_dictionaries({"content": st.lists(BLOCK, max_size=4) | JSON}) | JSON,
                "toolUseResult": JSON,
                "type": JSON,
            }
        ),
        max_size=5,
    )
)
def test_no_entry_whatever_is_in_it_breaks_the_reading(entries):
    log = ClaudeLog()
    for entry in entries:
        for event in log.take(entry):
            assert isinstance(event.session, str)
            assert event.at.tzinfo is not None
