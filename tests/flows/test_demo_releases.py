"""The third part of the demonstration: a task done three times becomes one skill, in a real sandbox."""

import json
import os
from secrets import token_urlsafe as random_text

import pytest
from tests.components import missing

from skillyard.cli.main import main


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    home = tmp_path / "mine"
    home.mkdir()
    for name in [name for name in os.environ if name.startswith("SKILLYARD_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("SKILLYARD_HOME", str(home / "yard"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    # The other parts have tests of their own.
    monkeypatch.setattr("skillyard.cli.demo.put_right", lambda _home: iter(()))
    monkeypatch.setattr("skillyard.cli.demo._publish", lambda _sink, _home: [])
    monkeypatch.setattr("skillyard.cli.demo._learn", lambda _sink, _home: [])
    return home


def told(capsys, *words):
    assert main(["demo", "--json", *words]) == 0
    return json.loads(capsys.readouterr().out)["releases"]


def is_whole(story, how):
    assert story["done"] == {"how": how, "times": 3}
    assert story["learned"]["candidates"] == 1
    assert story["searched"]["leaks"] == 0
    assert story["searched"]["files"] > 10
    assert story["passed"]["verdict"] == "PASS"
    assert story["passed"]["runs"] == 5
    assert story["failed"]["verdict"] == "STEP_FAIL"
    assert story["released"] == {"stage": "canary", "version": 1, "verdict": "PASS"}


def test_a_form_filled_in_three_times_is_one_skill_that_finds_its_fields_again(capsys, own_home, tmp_path, monkeypatch):
    story = told(capsys, "--keep")
    if "unavailable" in story or story["done"]["how"] != "browser":
        missing("there is no browser for sandboxes")
    is_whole(story, "browser")
    variables = story["learned"]["variables"]
    assert set(variables) == {"user_name", "password", "customer", "article", "quantity"}
    assert [name for name in variables if variables[name].get("secret")] == ["password"]
    assert variables["quantity"]["type"] == "integer"
    assert "Quantity" in story["failed"]["reason"]
    assert list(own_home.iterdir()) == []
    # What was kept is a yard like any other; what failed there left a picture.
    (kept,) = tmp_path.glob("skillyard-demo-*")
    monkeypatch.setenv("SKILLYARD_HOME", str(kept / "yard"))
    assert main(["release", "candidates", "--json"]) == 0
    (candidate,) = json.loads(capsys.readouterr().out)["items"]
    assert main(["release", "show", candidate["id"], "--json"]) == 0
    passed, failed = json.loads(capsys.readouterr().out)["evaluations"]
    assert main(["release", "show", failed["id"], "--screenshots", str(tmp_path / "shots")]) == 0
    assert "✗ STEP_FAIL" in capsys.readouterr().out
    (picture,) = (tmp_path / "shots").iterdir()
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert main(["release", "show", passed["id"]]) == 0
    assert "✓ PASS" in capsys.readouterr().out


@pytest.mark.parametrize("chromium", ["/nonexistent", "/bin/false"], ids=["there is none", "it does not start"])
def test_without_a_browser_it_is_done_with_shell_commands(capsys, tmp_path, monkeypatch, chromium):
    monkeypatch.setenv("SKILLYARD_CHROMIUM", chromium)
    # Some of the passwords that are made up look like an option.
    monkeypatch.setattr("secrets.token_urlsafe", lambda size: f"-_{random_text(size)}")
    story = told(capsys)
    if "unavailable" in story:
        missing(story["unavailable"]["message"])
    is_whole(story, "shell")
    variables = story["learned"]["variables"]
    assert set(variables) == {"user", "password", "customer", "article", "quantity"}
    assert [name for name in variables if variables[name].get("secret")] == ["password"]
    assert "nothing is ordered" in story["failed"]["reason"]
    assert not list(tmp_path.glob("skillyard-demo-*"))


def test_without_a_sandbox_it_is_said_how_to_get_one_and_the_rest_is_shown(capsys, monkeypatch):
    monkeypatch.setenv("SKILLYARD_SANDBOX_BACKEND", "docker")
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")
    assert main(["demo"]) == 0
    out = capsys.readouterr().out
    assert "This part needs a sandbox, and there is none." in out
    assert "Fix: " in out
    assert "quarterly-sales-workbook" in out
