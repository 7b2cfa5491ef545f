"""The fourth part of the demonstration: feedback in Korean changes an answer, until that is undone."""

import json
import os

import pytest

from skillyard.cli.main import main


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    home = tmp_path / "mine"
    home.mkdir()
    for name in [name for name in os.environ if name.startswith("SKILLYARD_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("SKILLYARD_HOME", str(home / "yard"))
    # Whatever is set on this machine: nobody is asked, and nothing is sent there.
    monkeypatch.setenv("SKILLYARD_MODEL", "openai:gpt-5")
    monkeypatch.setenv("SKILLYARD_MODEL_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    # The other parts have tests of their own.
    monkeypatch.setattr("skillyard.cli.demo.put_right", lambda _home: iter(()))
    monkeypatch.setattr("skillyard.cli.demo._publish", lambda _sink, _home: [])
    monkeypatch.setattr("skillyard.cli.demo._play", lambda _sink, _home: [])
    return home


def test_the_answer_changes_when_the_row_is_approved_and_is_as_before_when_it_is_undone(
    capsys, own_home, tmp_path, monkeypatch
):
    assert main(["demo", "--json", "--keep"]) == 0
    story = json.loads(capsys.readouterr().out)["learning"]
    assert list(story) == ["asked", "said", "proposed", "approved", "undone"]
    assert story["said"]["model"] == "scripted"
    assert story["said"]["calls"] == [
        "search_similar_knowledge",
        "analyze_knowledge_conflict",
        "commit_to_dmn_rule",
    ]
    assert "overlap" in {warning["kind"] for warning in story["proposed"]["warnings"]}
    assert story["asked"]["outputs"] == {"action": "ask a manager"}
    assert story["approved"] == {"outputs": {"action": "refund at once"}, "version": "1.0.1"}
    assert story["undone"] == {"outputs": {"action": "ask a manager"}, "version": "1.0.0"}
    assert list(own_home.iterdir()) == []
    # What was kept is a yard like any other.
    (kept,) = tmp_path.glob("skillyard-demo-*")
    monkeypatch.setenv("SKILLYARD_HOME", str(kept / "yard"))
    assert main(["learn", "list", "--json"]) == 0
    (feedback,) = json.loads(capsys.readouterr().out)["feedback"]
    assert main(["learn", "show", feedback["id"]]) == 0
    assert "undone" in capsys.readouterr().out


def test_it_says_plainly_that_the_model_is_scripted(capsys, tmp_path):
    assert main(["demo"]) == 0
    out = capsys.readouterr().out
    assert "It is scripted: no model is asked in this demo." in out
    assert "VIP 고객은 10만 원까지 승인 없이 바로 환불해 주세요." in out
    before, after, last = [line for line in out.splitlines() if line.startswith("A VIP asks for 80,000 won: ")]
    assert ("ask a manager" in before, "refund at once" in after, last == before) == (True, True, True)
    assert not list(tmp_path.glob("skillyard-demo-*"))
