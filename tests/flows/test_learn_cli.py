"""From feedback to another answer, as a person does it: on a server, and without one."""

import json
import os
import subprocess

import pytest
from tests.commands import Command

from skillyard import Skillyard
from skillyard.cli.main import main
from skillyard.llm.scripted import Reply, ScriptedModel, ToolCall

SAID = "고객을 이름으로 불러 주세요."


def script(request):
    """Whatever is said is remembered, for the agent `support`."""
    if not request.get("tools"):
        return Reply(text=json.dumps({"matches": [{"agent_id": "support", "meaning": "Use names."}]}))
    done = sum(message["role"] == "tool" for message in request["messages"])
    calls = [
        ToolCall(name="search_similar_knowledge", arguments={"query": "names"}),
        ToolCall(name="commit_to_memory", arguments={"operation": "CREATE", "text": "Call customers by their name."}),
    ]
    return Reply(calls=calls[done : done + 1], text="Done.")


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A machine of its own, on which the scripted model is set."""
    for name in [name for name in os.environ if name.startswith("SKILLYARD_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("SKILLYARD_HOME", str(tmp_path / "yard"))
    with ScriptedModel(script) as model:
        for name, value in model.settings.items():
            monkeypatch.setenv(f"SKILLYARD_{name.upper()}", value)
        yield tmp_path / "yard"


def told(capsys, *words, code=0):
    assert main([*words, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def test_a_server_learns_behind_the_request(home, monkeypatch, capsys):
    command = ["serve", "--json", "--port", "0"]
    server = Command(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        url = json.loads(server.stdout.readline())["url"]
        monkeypatch.setenv("SKILLYARD_SERVER", url)
        given = told(capsys, "learn", "feedback", SAID, "--agent", "support")
        assert given["stage"] in {"queued", "matching", "deciding"}
        watched = told(capsys, "learn", "watch", given["id"])
        assert [one["stage"] for one in watched["feedback"]] == ["committed"]
        with Skillyard(url) as yard:
            assert [memory["text"] for memory in yard.learning.recall("name", agent="support")] == [
                "Call customers by their name."
            ]
            (lesson,) = yard.learning.show(given["id"])["lessons"]
        assert "+Call customers by their name." in lesson["diff"]
        assert main(["learn", "show", given["id"]]) == 0
        assert "+Call customers by their name." in capsys.readouterr().out
        told(capsys, "learn", "undo", lesson["id"])
        assert told(capsys, "learn", "memory", "recall", "name", code=1)["memories"] == []
        assert told(capsys, "learn", "list", "--stage", "undone")["counts"] == {"undone": 1}
        given = told(capsys, "learn", "feedback", SAID, "--agent", "support", "--wait")
        assert (given["again"], given["created"], given["stage"]) == (True, False, "committed")
        told(capsys, "learn", "undo", lesson["id"])
        assert told(capsys, "learn", "retry", given["id"], "--wait")["stage"] == "committed"
        assert told(capsys, "learn", "memory", "recall", "name")["memories"] != []
    finally:
        server.terminate()
        server.communicate()


@pytest.mark.usefixtures("home")
def test_without_a_server_what_was_left_is_learned_by_whoever_watches(monkeypatch, capsys):
    model = os.environ["SKILLYARD_MODEL"]
    monkeypatch.delenv("SKILLYARD_MODEL")
    waiting = told(capsys, "learn", "feedback", SAID, "--agent", "support")
    assert waiting["stage"] == "waiting_for_model"
    monkeypatch.setenv("SKILLYARD_MODEL", model)
    left = told(capsys, "learn", "feedback", "And be brief.", "--agent", "support", "--no-wait")
    watched = told(capsys, "learn", "watch")
    assert {one["id"] for one in watched["feedback"]} <= {waiting["id"], left["id"]}
    assert watched["counts"] == {"committed": 2}
