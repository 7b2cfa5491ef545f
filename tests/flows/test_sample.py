"""The sample history: left in a new yard by the demonstration, and taken out without touching what is one's own."""

import json
import os

import pytest

from skillyard import Skillyard
from skillyard.cli.main import main

MINE = "---\nname: mine\ndescription: Mine. Use it.\n---\n\nMine.\n"


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    for name in [name for name in os.environ if name.startswith("SKILLYARD_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SKILLYARD_HOME", str(tmp_path / "yard"))
    # The part that takes longest has tests of its own.
    monkeypatch.setattr("skillyard.cli.demo._play", lambda _sink, _home: [])
    return tmp_path / "yard"


@pytest.fixture
def sample(capsys):
    assert main(["demo", "--sample", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def told(capsys, *words):
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_it_is_left_in_a_new_yard_and_goes_again_without_a_trace(capsys, own_home, sample):
    assert sample["made"]
    assert len(sample["skills"]["brought"]["skills"]) == 13
    with Skillyard(home=own_home) as yard:
        assert len(yard.versions("deploy")) == 2
        assert len(yard.learning.rules()) == 1
    assert told(capsys, "demo", "--remove")["rows"] > 50
    with Skillyard(home=own_home) as yard:
        assert {each["namespace"] for each in yard.skills()} == {"system"}
        assert not yard.learning.rules()
        assert not list(yard.learning.feedback())
        subjects = [entry["subject"] for entry in yard.history()]
        assert {each["label"].partition("/")[0] for each in subjects if each["kind"] == "skill"} == {"system"}
        assert {each["kind"] for each in subjects} <= {"tenant", "namespace", "person", "skill"}
        assert {each["namespace"] for each in yard.search("release notes")} <= {"system"}
    assert not (own_home / "sample.json").exists()


def test_what_is_ones_own_stays(capsys, own_home, sample, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "SKILL.md").write_text(MINE)
    with Skillyard(home=own_home) as yard:
        yard.publish(folder)
        # Something new on a part of the sample goes with it.
        yard.tag("deploy", "mine", "1.0.0")
    assert told(capsys, "demo", "--remove")["rows"] > 50
    with Skillyard(home=own_home) as yard:
        assert [each["name"] for each in yard.skills() if each["namespace"] != "system"] == ["mine"]
        assert yard.bundle("mine").get("SKILL.md").data.decode() == MINE
        assert {entry["subject"]["label"].rpartition("/")[2] for entry in yard.history(limit=2)} == {"mine"}


def test_a_yard_in_use_gets_no_sample(capsys, own_home, tmp_path):
    with Skillyard(home=own_home) as yard:
        yard.me()
    assert main(["demo", "--sample", "--json"]) == 0
    assert not json.loads(capsys.readouterr().out)["made"]
    assert main(["demo", "--remove", "--json"]) != 0
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "not_found"
