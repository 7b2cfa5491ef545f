"""`skillyard sandbox` on the yard of this machine, where sandboxes are plain processes."""

import io
import sys

import pytest

from skillyard.cli.live import Live
from skillyard.cli.output import Sink
from skillyard.cli.sandbox_options import endpoints, isolation, labels, limits, secrets
from skillyard.errors import UsageError


@pytest.fixture
def sandbox(open_yard, run, monkeypatch):
    """The id of a sandbox."""
    monkeypatch.setenv("SKILLYARD_SANDBOX_BACKEND", "unsafe")
    return run("sandbox", "create").out.strip()


def test_a_sandbox_is_made_as_asked_shown_listed_and_deleted(run, sandbox):
    made = run(
        *("sandbox", "create", "--profile", "shell-default", "--ttl", "2h", "--idle-ttl", "90"),
        *("--label", "team=data", "--limit", "memory=512m", "--limit", "processes=50", "--json"),
    ).json
    assert (made["profile"], made["idle_ttl"], made["labels"]) == ("shell-default", 90, {"team": "data"})
    assert (made["limits"]["memory_bytes"], made["limits"]["processes"]) == (512 * 1024 * 1024, 50)
    lines = run("sandbox", "ls").out.splitlines()
    assert [line.split()[0] for line in lines] == [made["id"], sandbox]
    assert lines[0].split()[1:4] == ["idle", "shell-default", "unsafe"]
    assert "ends in 120 min" in lines[0]
    assert lines[0].endswith("team=data")
    assert "no end" in lines[1]
    shown = run("sandbox", "show", made["id"]).out
    assert "memory 512 MiB, processes 50" in shown
    assert ["network", "none"] in [line.split() for line in shown.splitlines()]
    assert run("sandbox", "show", sandbox, "--json").json["id"] == sandbox
    refused = run("sandbox", "rm", sandbox)
    assert (refused.code, "-y" in refused.err) == (2, True)
    assert run("sandbox", "rm", sandbox, made["id"], "-y").code == 0
    assert "skillyard sandbox create" in run("sandbox", "ls").err


def test_a_sandbox_lives_longer_when_it_is_asked_to(run, sandbox):
    made = run("sandbox", "create", "--ttl", "2h").out.strip()
    assert run("sandbox", "extend", made, "1h").out == f"{made} ends in 3 h.\n"
    assert run("sandbox", "extend", made, "60", "--json").json["id"] == made
    assert run("sandbox", "extend", made, "soon").code == 2
    endless = run("sandbox", "extend", sandbox, "1h")
    assert (endless.code, endless.out) == (5, "")
    assert run("sandbox", "keepalive", sandbox, made).out == f"Restarted the idle time of {sandbox}, {made}.\n"
    assert run("sandbox", "keepalive", "sandbox-none").code == 3


def test_what_a_sandbox_uses_is_told(run, sandbox):
    run("sandbox", "files", "write", sandbox, "x.txt", "x")
    assert [line.split()[0] for line in run("sandbox", "stats", sandbox).out.splitlines()] == [
        *("processes", "memory", "files", "cpu")
    ]
    assert run("sandbox", "stats", sandbox, "--json").json["processes"] == 0


def test_a_snapshot_is_a_cargo_that_other_sandboxes_are_made_on(run, sandbox):
    run("sandbox", "files", "write", sandbox, "kept.txt", "kept")
    taken = run("sandbox", "snapshot", sandbox)
    cargo = taken.out.strip()
    assert f"skillyard sandbox create --cargo {cargo}" in taken.err
    other = run("sandbox", "create", "--cargo", cargo).out.strip()
    assert run("sandbox", "files", "read", other, "kept.txt").out == "kept"
    assert run("sandbox", "cargos", "rm", cargo, "-y").code == 5
    assert run("sandbox", "rm", other, "-y").code == 0
    assert run("sandbox", "cargos", "rm", cargo, "-y").out == f"Deleted {cargo}.\n"


def test_cargos_are_made_listed_and_deleted(run, sandbox):
    assert "skillyard sandbox cargos create" in run("sandbox", "cargos", "ls").err
    made = run("sandbox", "cargos", "create", "--size", "2g", "--json").json
    assert (made["size_limit_mb"], made["managed"]) == (2048, False)
    (line,) = run("sandbox", "cargos", "ls").out.splitlines()
    assert line.split()[:4] == [made["id"], "unsafe", "2048", "MiB"]
    (of_sandbox,) = run("sandbox", "cargos", "ls", "--managed", "--json").json["cargos"]
    assert of_sandbox["managed_by_sandbox_id"] == sandbox
    refused = run("sandbox", "cargos", "rm", made["id"])
    assert (refused.code, "-y" in refused.err) == (2, True)
    assert run("sandbox", "cargos", "rm", made["id"], "-y").code == 0
    assert run("sandbox", "cargos", "rm", made["id"], "-y").code == 3
    assert run("sandbox", "cargos", "create", "--size", "much").code == 2


def test_without_a_server_it_is_said_how_long_things_run(run, sandbox):
    said = run("sandbox", "create")
    assert "only while a command needs it" in said.err
    assert said.out.count("\n") == 1


def test_a_command_has_its_streams_and_one_of_two_exit_codes(run, sandbox):
    done = run("sandbox", "exec", sandbox, "--", "sh", "-c", "echo out; echo err >&2; exit 7")
    assert (done.code, done.out) == (1, "out\n")
    assert done.err == "err\nIt ended with exit code 7.\n"
    assert run("sandbox", "exec", sandbox, "--", "true").code == 0
    told = run("sandbox", "exec", sandbox, "--json", "--", "sh", "-c", "echo out; exit 7")
    assert told.code == 1
    assert (told.json["exit_code"], told.json["output"], told.json["ending"]) == (7, "out\n", "exited")


def test_one_word_is_a_line_and_several_are_a_program(run, sandbox):
    assert run("sandbox", "exec", sandbox, "echo a b | wc -w").out.strip() == "2"
    assert run("sandbox", "exec", sandbox, "--", "printf", "%s.", "a b", "$HOME", "*").out == "a b.$HOME.*."
    assert run("sandbox", "exec", sandbox, "--", "echo", "--json").out == "--json\n"


def test_a_command_runs_where_and_as_long_as_said(run, sandbox):
    assert run("sandbox", "files", "write", sandbox, "sub/x.txt", "x").code == 0
    assert run("sandbox", "exec", sandbox, "--cwd", "sub", "ls").out == "x.txt\n"
    late = run("sandbox", "exec", sandbox, "--timeout", "1", "sleep 30", "--json")
    assert (late.code, late.json["exit_code"], late.json["ending"]) == (1, None, "timeout")
    assert "--timeout" in run("sandbox", "exec", sandbox, "--timeout", "1", "sleep 30").err
    assert run("sandbox", "exec", sandbox, "--timeout", "301", "true").code == 2


def test_a_secret_comes_from_the_environment_and_is_shown_nowhere(run, sandbox, monkeypatch):
    monkeypatch.setenv("API_KEY", "correct-horse-battery")
    assert run("sandbox", "exec", sandbox, "--secret", "API_KEY", 'echo "$API_KEY"').out == "***\n"
    assert "correct" not in run("sandbox", "history", sandbox, "--json").out
    missing = run("sandbox", "exec", sandbox, "--secret", "NO_KEY", "true")
    assert (missing.code, "NO_KEY" in missing.err) == (2, True)
    given = run("sandbox", "exec", sandbox, "--secret", "NO_KEY=value", "true")
    assert (given.code, "value" in given.err.replace("its value", "")) == (2, False)


def test_python_is_taken_as_text_from_stdin_and_from_a_file(run, sandbox, tmp_path, monkeypatch):
    assert run("sandbox", "python", sandbox, "x = 41; print('hi')").out == "hi\n"
    monkeypatch.setattr(sys, "stdin", io.StringIO("x + 1"))
    assert run("sandbox", "python", sandbox, "-").out.strip() == "42"
    (tmp_path / "code.py").write_text("print('one')\n1/0\n")
    failed = run("sandbox", "python", sandbox, "--file", tmp_path / "code.py")
    assert (failed.code, failed.out) == (1, "one\n")
    assert "ZeroDivisionError" in failed.err
    assert run("sandbox", "python", sandbox).code == 2
    assert run("sandbox", "python", sandbox, "1", "--file", tmp_path / "code.py").code == 2


def test_files_go_in_and_out_as_they_are(run, sandbox, tmp_path, monkeypatch):
    data = bytes(range(256))
    (tmp_path / "a.bin").write_bytes(data)
    (tmp_path / "b.txt").write_text("b\r\n")
    files = ("sandbox", "files")
    assert run(*files, "upload", sandbox, tmp_path / "a.bin", tmp_path / "b.txt", "--to", "data/").code == 0
    assert run(*files, "upload", sandbox, tmp_path / "b.txt", "--to", "c.txt").code == 0
    assert run(*files, "upload", sandbox, tmp_path / "a.bin", tmp_path / "b.txt", "--to", "data").code == 2
    assert run(*files, "upload", sandbox, tmp_path).code == 2
    names = {one["path"] for one in run(*files, "ls", sandbox, "data", "--json").json["entries"]}
    assert names == {"data/a.bin", "data/b.txt"}
    assert "data/" in run(*files, "ls", sandbox).out
    assert run(*files, "download", sandbox, "data/a.bin").out == "a.bin\n"
    assert (tmp_path / "project/a.bin").read_bytes() == data
    assert run(*files, "download", sandbox, "data/a.bin", "-o", tmp_path).code == 2
    assert run(*files, "read", sandbox, "c.txt").out == "b\r\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"from stdin")))
    assert run(*files, "write", sandbox, "d.txt").code == 0
    assert run(*files, "read", sandbox, "d.txt", "--json").json["content"] == "from stdin"
    binary = run(*files, "read", sandbox, "data/a.bin")
    assert (binary.code, "files download" in binary.err) == (1, True)
    assert run(*files, "rm", sandbox, "data", "c.txt").code == 0
    assert run(*files, "read", sandbox, "c.txt").code == 3
    assert run(*files, "read", sandbox, "../c.txt").code == 1


def test_the_history_tells_how_runs_ended(run, sandbox):
    assert "Nothing was run" in run("sandbox", "history", sandbox).err
    run("sandbox", "exec", sandbox, "echo one; exit 3")
    run("sandbox", "python", sandbox, "print('two')")
    lines = run("sandbox", "history", sandbox).out.splitlines()
    assert [line.split()[0] for line in lines] == ["✓", "✗"]
    assert [line.split()[2:4] for line in lines] == [["python", "done"], ["shell", "exit"]]
    assert run("sandbox", "history", sandbox, "--type", "shell", "--json").json["total"] == 1
    assert "1 more" in run("sandbox", "history", sandbox, "-n", "1").err
    one = run("sandbox", "history", sandbox, lines[0].split()[1]).out
    assert "print('two')" in one
    assert "\noutput\ntwo\n" in one


def test_stopping_ends_what_runs_and_keeps_files(run, sandbox):
    run("sandbox", "python", sandbox, "x = 1; open('kept', 'w').close()")
    assert run("sandbox", "ls", "--status", "ready", "--json").json["sandboxes"]
    assert run("sandbox", "stop", sandbox).code == 0
    assert run("sandbox", "show", sandbox, "--json").json["status"] == "idle"
    assert run("sandbox", "python", sandbox, "x").code == 1
    assert run("sandbox", "exec", sandbox, "ls").out.splitlines().count("kept") == 1


@pytest.mark.parametrize(
    ("words", "code", "fix"),
    [
        (["show", "nope"], 3, "skillyard sandbox ls"),
        (["exec", "nope", "true"], 3, "skillyard sandbox ls"),
        (["rm", "nope", "-y"], 3, "skillyard sandbox ls"),
        (["create", "--profile", "nope"], 1, "python-default"),
        (["create", "--isolation", "files,nope"], 1, "memory_total"),
        (["create", "--limit", "memory=lots"], 2, ""),
        (["create", "--ttl", "soon"], 2, ""),
        (["ls", "--status", "gone"], 2, ""),
    ],
)
def test_what_is_wrong_is_told_with_its_fix(run, sandbox, words, code, fix):
    failed = run("sandbox", *words)
    assert (failed.code, failed.out) == (code, "")
    assert fix in failed.err
    assert "/v1/" not in failed.err


def test_what_a_profile_lacks_is_told_with_one_that_has_it(run, sandbox):
    failed = run("sandbox", "browser", sandbox, "open about:blank", "--json")
    assert (failed.code, failed.json["error"]["code"]) == (2, "capability_not_supported")
    assert failed.json["error"]["hint"].endswith("skillyard sandbox create --profile browser-python")


def test_values_are_written_as_people_do():
    assert limits(["disk=2g", "tmp_bytes=1k", "cpu=60"]) == {
        "disk_bytes": 2 * 1024**3,
        "tmp_bytes": 1024,
        "cpu_seconds": 60,
    }
    assert labels(["a=b=c", "d="]) == {"a": "b=c", "d": ""}
    assert endpoints(["none"]) == []
    assert endpoints(["https://example.org"]) == ["https://example.org"]
    assert [isolation(text) for text in ("docker", "files", "files, network", None)] == [
        "docker",
        ["files"],
        ["files", "network"],
        None,
    ]
    assert secrets(["A"], {"A": "b"}) == {"A": "b"}


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: limits(["memory"]),
        lambda: limits(["colour=1"]),
        lambda: limits(["memory=-1"]),
        lambda: labels(["alone"]),
        lambda: endpoints(["none", "https://example.org"]),
    ],
)
def test_values_that_mean_nothing_are_refused(wrong):
    with pytest.raises(UsageError):
        wrong()


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_cannot_be_steered_by_what_runs_in_a_sandbox(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    with Live(Sink(as_json=False), "Running") as live:
        for piece in ("\x1b[2Jwipe", " a\r", "\nb\r", "c"):
            live.write("stdout", piece)
    assert terminal.getvalue() == "\\x1b[2Jwipe a\nb\\rc"


def test_off_a_terminal_output_is_as_it_was_written(capsys):
    with Live(Sink(as_json=False), "Running") as live:
        for piece in ("\x1b[31m", "a\r", "\nb\r"):
            live.write("stdout", piece)
    assert capsys.readouterr().out == "\x1b[31ma\r\nb\r"


def test_a_document_is_not_disturbed_by_output(capsys):
    with Live(Sink(as_json=True), "Running") as live:
        live.write("stdout", "out")
        live.write("stderr", "err")
    assert capsys.readouterr() == ("", "")
