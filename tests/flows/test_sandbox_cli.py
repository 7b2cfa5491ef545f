"""Sandboxes as a person uses them: commands in processes of their own, on a server and without one."""

import json
import os
import signal
import subprocess

import pytest
from tests.commands import Command
from tests.components import missing

from skillyard import Skillyard

FOREVER = "echo kept > file; echo begun; exec sleep 600"


class Yard:
    """The command line with a home of its own, and perhaps a server for it."""

    def __init__(self, tmp_path, home):
        kept = {name: value for name, value in os.environ.items() if not name.startswith("SKILLYARD_")}
        self.environment = {
            **kept,
            "HOME": str(tmp_path),
            "SKILLYARD_HOME": str(home),
            "NO_PROXY": "127.0.0.1",
        }
        self.folder = tmp_path
        self.started = []

    def start(self, *words):
        process = Command(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment,
            cwd=self.folder,
        )
        self.started.append(process)
        return process

    def run(self, *words):
        process = self.start(*words)
        out, err = process.communicate()
        return process.returncode, out.decode(), err.decode()

    def serve(self):
        server = self.start("serve", "--json", "--port", "0")
        self.environment["SKILLYARD_SERVER"] = json.loads(server.stdout.readline())["url"]
        return self.environment["SKILLYARD_SERVER"]

    def sandbox(self, *words):
        code, out, err = self.run("sandbox", "create", *words)
        if code and "isolat" in err:
            missing(err)
        assert code == 0, err
        return out.strip()

    def is_over(self, sandbox):
        """The one run was given up: that is written down, its files stay, nothing of it runs on, the next one works."""
        entries = []
        for _ in range(20):  # a server learns of it a moment later
            if entries:
                break
            entries = json.loads(self.run("sandbox", "history", sandbox, "--json")[1])["entries"]
        assert [(entry["ending"], entry["success"]) for entry in entries] == [("cancelled", False)]
        code, out, _ = self.run("sandbox", "exec", sandbox, "cat file; cat /proc/[0-9]*/cmdline | tr '\\0' ' '")
        assert (code, out.startswith("kept\n"), "sleep 600" in out) == (0, True, False)


@pytest.fixture
def yard(tmp_path, new_home):
    made = Yard(tmp_path, new_home(tmp_path / "yard"))
    yield made
    for process in made.started:
        process.kill()
        process.communicate()


def test_a_skill_that_is_not_there_is_a_warning_of_the_command_that_asks_for_it(yard):
    wanted = ("sandbox", "create", "--label", "skillyard.skills=typo-skill")
    yard.sandbox()
    code, out, err = yard.run(*wanted)
    assert code == 0
    assert out.startswith("sandbox-")
    assert "Warning: Skills could not be delivered: 1 of " in err
    assert "typo-skill (There is no skill" in err
    made = json.loads(yard.run(*wanted, "--json")[1])
    assert "typo-skill" in made["injection_error"]
    assert made["skills_injected_at"] is None


def test_output_comes_while_the_command_runs(yard):
    url = yard.serve()
    sandbox = yard.sandbox()
    line = "echo begun; echo warned >&2; while [ ! -e go ]; do sleep 0.05; done; echo done; exit 3"
    running = yard.start("sandbox", "exec", sandbox, line)
    assert running.stdout.readline() == b"begun\n"
    assert running.stderr.readline() == b"warned\n"
    with Skillyard(url) as client:
        client.sandboxes.upload(sandbox, "go", b"")
    out, err = running.communicate()
    assert (running.returncode, out, err) == (1, b"done\n", b"It ended with exit code 3.\n")


def test_a_server_remembers_from_command_to_command(yard):
    yard.serve()
    sandbox = yard.sandbox()
    assert yard.run("sandbox", "python", sandbox, "x = 41")[0] == 0
    assert yard.run("sandbox", "python", sandbox, "x + 1")[1].strip() == "42"


@pytest.mark.parametrize("served", [True, False], ids=["on a server", "in this process"])
def test_interrupting_ends_the_command_and_leaves_a_true_state(yard, served):
    if served:
        yard.serve()
    sandbox = yard.sandbox()
    running = yard.start("sandbox", "exec", sandbox, FOREVER)
    assert running.stdout.readline() == b"begun\n"
    running.send_signal(signal.SIGINT)
    assert running.communicate() == (b"", b"Error: Interrupted.\n")
    assert running.returncode == 130
    yard.is_over(sandbox)


def test_a_silent_command_is_interrupted_too(yard):
    url = yard.serve()
    sandbox = yard.sandbox()
    running = yard.start("sandbox", "exec", sandbox, "--json", FOREVER)
    with Skillyard(url) as client:
        while "file" not in {one["name"] for one in client.sandboxes.files(sandbox)}:
            assert running.poll() is None
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate()
    assert (running.returncode, json.loads(out)["error"]["code"]) == (130, "interrupted")
    yard.is_over(sandbox)
