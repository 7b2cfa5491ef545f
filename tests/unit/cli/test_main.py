import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import skillyard
from skillyard.cli import commands, frame, main
from skillyard.cli.output import Answer
from skillyard.errors import (
    ConflictError,
    InputError,
    LimitError,
    NotAllowedError,
    NotFoundError,
    UnavailableError,
)

EVERY_COMMAND = [
    f"{entry.name} {inner.name}" if isinstance(entry.target, tuple) else entry.name
    for entry in commands.COMMANDS
    for inner in (entry.target if isinstance(entry.target, tuple) else (entry,))
]


@pytest.fixture
def command(monkeypatch):
    """Put a function in the place of the audit, the command that runs without a name."""

    def _put(function):
        monkeypatch.setattr("skillyard.cli.audit.audit", lambda _context: function())

    return _put


def raising(error):
    def function():
        raise error

    return function


@pytest.mark.parametrize("words", EVERY_COMMAND)
def test_every_command_has_help_that_starts_with_its_line_in_the_list(run, words):
    result = run(*words.split(), "--help")
    assert result.code == 0
    line = next(
        inner.help
        for entry in commands.COMMANDS
        for inner in (entry.target if isinstance(entry.target, tuple) else (entry,))
        if words in {inner.name, f"{entry.name} {inner.name}"}
    )
    assert " ".join(line.split()) in " ".join(result.out.split())
    assert "--json" in result.out


@pytest.mark.parametrize("word", ["--help", "-h"])
def test_help_lists_every_command(run, word):
    out = run(word).out
    for entry in commands.COMMANDS:
        assert f"\n  {entry.name} " in out


def test_help_imports_nothing_heavy():
    heavy = ["rich", "pydantic", "fastapi", "uvicorn", "httpx", "yaml", "tomlkit", "watchfiles", "asyncio"]
    code = (
        "import sys; from skillyard.cli.main import main; main(['--help']);"
        f"print([name for name in {heavy!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_the_version_is_printed(run):
    assert run("--version").out.startswith("skillyard 0.")
    assert run("--version", "--json").json["version"] == skillyard.__version__


@pytest.mark.parametrize("words", [["lst"], ["--json", "lst"], ["lst", "--json"]])
def test_an_unknown_command_names_the_near_one(run, words):
    result = run(*words)
    assert result.code == 2
    hint = "Did you mean `skillyard list`?"
    if "--json" in words:
        assert result.json["error"]["code"] == "usage"
        assert result.json["error"]["hint"] == hint
        assert result.err == ""
    else:
        assert hint in result.err
        assert result.out == ""


def test_values_that_an_option_does_not_take_are_answered_with_what_it_takes(run):
    for typed in ("0", "many"):
        assert "--limit takes a whole number of at least 1." in run("find", "x", "-n", typed).err
    assert "--profile takes one of lenient, agents, strict." in run("validate", ".", "--profile", "loose").err


@pytest.mark.parametrize("words", EVERY_COMMAND)
def test_help_names_values_as_people_do(run, words):
    out = run(*words.split(), "--help").out
    assert not set("{}<") & set(out)


@pytest.mark.parametrize(
    ("typed", "told"), [("skill d", ["diff", "disable"]), ("l", ["list", "learn"]), ("env cr", ["create"])]
)
def test_commands_are_completed(typed, told):
    words = {"COMP_WORDS": f"skillyard {typed}", "COMP_CWORD": str(len(typed.split()))}
    environment = {**os.environ, **words, "_SKILLYARD_COMPLETE": "complete_bash"}
    done = python("from skillyard.cli.main import main; main()", env=environment)
    assert (done.returncode, done.stdout.decode().split(), done.stderr) == (0, told, b"")


@pytest.mark.parametrize("words", [["env"], ["validate"], ["--nope"], ["find", "x", "--limit", "many"]])
def test_usage_errors_are_code_2_as_text_and_as_json(run, words):
    text = run(*words)
    assert text.code == 2
    assert text.out == ""
    assert text.err.startswith("Error: ")
    as_json = run(*words, "--json")
    assert as_json.code == 2
    assert set(as_json.json["error"]) == {"code", "message", "hint"}
    assert as_json.json["error"]["code"] == "usage"


def test_json_after_the_end_of_options_is_an_argument():
    assert main.take_json_flag(["find", "--json", "--", "--json"]) == (["find", "--", "--json"], True)
    assert main.take_json_flag(["find", "--", "--json"]) == (["find", "--", "--json"], False)


@pytest.mark.parametrize(
    ("error", "code", "name"),
    [
        (InputError("m", hint="h"), 1, "invalid_input"),
        (LimitError("m", hint="h"), 1, "limit_exceeded"),
        (NotFoundError("m", hint="h"), 3, "not_found"),
        (NotAllowedError("m", hint="h"), 4, "not_allowed"),
        (ConflictError("m", hint="h"), 5, "conflict"),
        (UnavailableError("m", hint="h"), 1, "unavailable"),
        (PermissionError(errno.EACCES, "denied", "/x"), 4, "not_allowed"),
        (FileNotFoundError(errno.ENOENT, "gone", "/x"), 3, "not_found"),
        (OSError(errno.ENOSPC, "full", "/x"), 1, "unavailable"),
        (OSError("odd"), 1, "unavailable"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (MemoryError(), 1, "limit_exceeded"),
        (ValueError("surprise"), 1, "internal"),
        (RecursionError("deep"), 1, "internal"),
    ],
)
def test_each_error_has_its_exit_code_and_json_shape(run, command, error, code, name):
    command(raising(error))
    result = run("--json")
    assert result.code == code
    assert result.json["error"]["code"] == name
    assert result.json["error"]["message"]
    text = run()
    assert text.code == code
    assert text.out == ""
    assert "Traceback" not in text.err


def test_an_unexpected_error_is_one_line_and_a_hint(run, command):
    command(raising(ValueError("surprise")))
    lines = run().err.splitlines()
    assert lines[0] == "Error: ValueError: surprise"
    assert "SKILLYARD_DEBUG=1" in lines[1]
    assert len(lines) == 2


def test_the_traceback_is_shown_when_asked_for(run, command, monkeypatch):
    monkeypatch.setenv("SKILLYARD_DEBUG", "1")
    command(raising(ValueError("surprise")))
    assert "Traceback" in run().err


def test_findings_of_an_error_are_listed(run, command):
    finding = {"severity": "error", "file": "", "line": 3, "message": "Wrong.", "fix": "Right it."}
    command(raising(InputError("m", details={"findings": [finding]})))
    assert "error: SKILL.md:3 Wrong. Right it." in run().err
    finding["line"] = 0
    assert "error: Wrong. Right it." in run().err
    assert run("--json").json["error"]["details"]["findings"] == [finding]


def test_text_of_an_error_cannot_steer_the_terminal(run, command):
    command(raising(InputError("a\x1b[2Jb", hint="\x9bc")))
    result = run()
    assert r"a\x1b[2Jb" in result.err
    assert "\x1b" not in result.err
    assert "\x9b" not in result.err
    assert "\x9b" not in run("--json").out


def test_text_of_an_answer_cannot_steer_the_terminal(run, command):
    command(lambda: Answer(document={"a": "\x1b\x9b"}, text=lambda console: console.print("a\x1b[2J[red]b\x9b")))
    assert run().out == "a\\x1b[2J[red]b\\x9b\n"
    assert run("--json").out == '{"a": "\\u001b\\u009b"}\n'


def test_off_a_terminal_lines_are_neither_wrapped_nor_coloured(run, command):
    command(lambda: Answer(document={}, text=lambda console: console.print("word " * 100, style="bold red")))
    assert run().out.count("\n") == 1
    assert "\x1b" not in run().out


def python(code: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, **options)


def test_output_is_utf8_in_the_plainest_locale(tmp_path):
    environment = {"PATH": os.environ["PATH"], "LANG": "C", "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}
    code = (
        "import sys; from skillyard.cli import audit, main; from skillyard.cli.output import Answer;"
        "audit.audit = lambda _: Answer(document={}, text=lambda c: c.print('한국어 \\udcff'));"
        "sys.exit(main.main([]))"
    )
    done = python(code, env=environment)
    assert done.stdout.decode() == "한국어 \\udcff\n"
    assert done.returncode == 0


def test_scripts_do_not_pay_for_what_only_people_see(skill):
    skill("tool")
    lines = [["list"], ["audit"], ["find", "thing"], ["show", "tool"], ["validate", "."], ["env", "list"], ["doctor"]]
    code = (
        "import sys; from skillyard.cli.main import main;"
        f"[main([*line, '--json']) for line in {lines}];"
        "sys.exit(', '.join(name for name in sys.modules if name.startswith('rich')))"
    )
    done = python(code)
    assert done.stdout.count(b"\n") == len(lines)
    assert done.stderr == b"\n"


@pytest.mark.parametrize(
    "answer",
    [
        "lambda: Answer(document={'a': 'x' * 500_000}, text=None)",
        "lambda: sys.stdout.write('x' * 500_000)",
    ],
)
def test_a_reader_that_goes_away_is_no_error(answer):
    code = (
        "import sys; from skillyard.cli import audit, main; from skillyard.cli.output import Answer;"
        f"audit.audit = lambda _: ({answer})();"
        "sys.exit(main.main(['--json']))"
    )
    # Unbuffered, Python itself swallows the short write of a closed pipe.
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=buffered
    )
    assert process.stdout
    assert process.stderr
    process.stdout.read(10)
    process.stdout.close()
    error = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 141
    assert error == b""


def test_the_module_runs_as_a_program():
    done = subprocess.run([sys.executable, "-m", "skillyard", "--version", "--json"], capture_output=True, check=True)
    assert json.loads(done.stdout)["version"]


def test_every_command_is_documented():
    page = (Path(__file__).parents[3] / "docs/cli.md").read_text()
    for words in EVERY_COMMAND:
        assert f"`skillyard {words}" in page


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("install", "skillyard add"),
        ("instal", "skillyard add"),
        ("uninstall", "skillyard remove"),
        ("serach", "skillyard find"),
        ("scan", "skillyard skill scan"),
        ("lst", "skillyard list"),
        ("valdiate", "skillyard validate"),
    ],
)
def test_a_command_is_guessed_by_what_is_meant_as_well_as_by_its_letters(run, typed, meant):
    result = run(typed, "x")
    assert result.code == 2
    assert f"Did you mean `{meant}`?" in result.err


def test_words_of_other_tools_are_not_guessed_within_a_group(run):
    assert "skillyard remove" not in run("skill", "rm").err


def test_every_command_that_is_meant_by_another_word_is_there(run):
    for command in frame._OTHER_WORDS.values():
        assert run(*command.split(), "--help").code == 0
