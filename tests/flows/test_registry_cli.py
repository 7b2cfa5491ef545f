"""Two people, one server that asks for tokens, and the command line: what each may see and do."""

import json
import os
import subprocess

import pytest
from tests.commands import Command

from skillyard.cli.main import main

ADMIN = "an-administrator-of-this-test"
SKILL = "---\nname: {name}\ndescription: Compares tables of numbers.\n---\n# Do it\n"


@pytest.fixture
def server(tmp_path, new_home):
    """The address of a real `skillyard serve` that asks for tokens; it is ended with the test."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SKILLYARD_")}
    environment |= {
        "HOME": str(tmp_path),
        "SKILLYARD_HOME": str(new_home(tmp_path / "server")),
        "SKILLYARD_AUTH": "token",
        "SKILLYARD_ADMIN_TOKEN": ADMIN,
    }
    process = Command(
        ["serve", "--json", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        cwd=tmp_path,
    )
    assert process.stdout
    try:
        yield json.loads(process.stdout.readline())["url"]
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def run(server, capsys, monkeypatch, tmp_path):
    """Run a command on the server as whoever has the token; returns the exit code and the JSON document."""
    for name in [name for name in os.environ if name.startswith("SKILLYARD_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.chdir(tmp_path)

    def _run(token, *words):
        if token:
            monkeypatch.setenv("SKILLYARD_TOKEN", token)
        else:
            monkeypatch.delenv("SKILLYARD_TOKEN", raising=False)
        code = main([*map(str, words), "--server", server, "--json"])
        return code, json.loads(capsys.readouterr().out)

    return _run


@pytest.fixture
def people(run):
    """The tokens of two people: Ann publishes, Bob only reads."""
    tokens = {}
    for name, scope in (("ann", "publish"), ("bob", "read")):
        assert run(ADMIN, "registry", "people", "create", name)[0] == 0
        code, made = run(ADMIN, "registry", "tokens", "create", "test", "--person", name, "--scope", scope)
        assert code == 0
        tokens[name] = made["secret"]
    return tokens


@pytest.fixture
def tree(tmp_path):
    for name in ("open", "hidden"):
        folder = tmp_path / "tree" / name
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(SKILL.format(name=name))
    return tmp_path / "tree"


def names(document):
    return {skill["id"] for skill in document["skills"] if not skill["id"].startswith("system/")}


def test_two_people_see_and_do_what_they_may(run, people, tree, tmp_path):
    ann, bob = people["ann"], people["bob"]
    assert run(None, "registry", "list")[1]["error"]["code"] == "unauthenticated"
    assert run("sky_forged", "registry", "list")[0] == 4

    assert run(ann, "publish", tree / "open", "--visibility", "public")[0] == 0
    code, done = run(ann, "publish", "-r", tree)
    assert (code, {one["skill"]: (one["status"], one["visibility"]) for one in done["results"]}) == (
        0,
        {"ann/hidden": ("published", "private"), "ann/open": ("unchanged", "public")},
    )
    assert names(run(ann, "list")[1]) == {"ann/hidden", "ann/open"}

    # Bob sees what is public, and cannot tell what is private from what is not there.
    assert names(run(bob, "list")[1]) == {"ann/open"}
    found = [one["id"] for one in run(bob, "find", "compare", "numbers")[1]["results"]]
    assert found[0] == "ann/open"
    assert "ann/hidden" not in found
    assert run(bob, "find", "zebra")[0] == 1
    hidden, absent = (run(bob, "show", f"ann/{name}") for name in ("hidden", "absent"))
    assert hidden[0] == absent[0] == 3
    assert hidden[1]["error"]["message"].replace("hidden", "absent") == absent[1]["error"]["message"]
    code, shown = run(bob, "show", "ann/open")
    assert (code, shown["id"], shown["body"].strip()) == (0, "ann/open", "# Do it")
    assert run(bob, "show", "open", "--raw")[1]["text"] == SKILL.format(name="open")
    assert [file["path"] for file in run(bob, "show", "open", "--files")[1]["files"]] == ["SKILL.md"]
    assert run(bob, "registry", "pull", "ann/open", "--into", tmp_path / "out")[0] == 0
    assert (tmp_path / "out/open/SKILL.md").read_bytes() == (tree / "open/SKILL.md").read_bytes()

    # His token only reads, and what is Ann's is not his.
    assert run(bob, "publish", tree / "open")[0] == 4
    assert run(bob, "registry", "delete", "ann/open", "-y")[0] == 4
    assert run(bob, "registry", "delete", "ann/hidden", "-y")[0] == 3
    assert run(bob, "registry", "people", "list")[0] == 4
    assert run(ann, "registry", "people", "create", "eve")[0] == 4

    # Shut out, his token opens nothing.
    assert run(ADMIN, "registry", "people", "disable", "bob")[0] == 0
    assert run(bob, "list")[0] == 4


def test_a_version_that_another_published_first_is_a_conflict(run, people, tree):
    code, _ = run(ADMIN, "registry", "namespaces", "create", "team")
    assert code == 0
    assert run(ADMIN, "registry", "namespaces", "member", "team", "ann", "publisher")[0] == 0
    assert run(people["ann"], "publish", tree / "open", "-n", "team", "--version", "1.0.0")[0] == 0
    (tree / "open/more.txt").write_text("more")
    code, failed = run(people["ann"], "publish", tree / "open", "-n", "team", "--version", "1.0.0")
    assert (code, failed["error"]["code"]) == (5, "conflict")
    assert run(people["bob"], "publish", tree / "open", "-n", "team")[0] in {3, 4}
