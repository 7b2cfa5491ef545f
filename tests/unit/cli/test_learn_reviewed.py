"""`skillyard learn proposals`: changes that wait for approval."""

import json

import pytest

from skillyard.llm.scripted import Reply, ScriptedModel, ToolCall

TABLE = {
    "hit_policy": "F",
    "inputs": [{"id": "grade", "type": "string"}, {"id": "amount", "type": "number"}],
    "outputs": [{"id": "action", "type": "string"}],
    "rules": [{"when": ["-", "<= 30000"], "then": ["now"]}, {"when": ["-", "-"], "then": ["ask"]}],
}
ROW = {**TABLE, "rules": [{"when": ['"vip"', "<= 100000"], "then": ["now"]}]}


@pytest.fixture
def model():
    with ScriptedModel(script) as scripted:
        yield scripted


def script(request):
    """The row for VIPs goes into the first rule that is found."""
    if not request.get("tools"):
        judging = request["messages"][0]["content"].startswith("You judge")
        meant = {"matches": [{"agent_id": "support", "meaning": "VIPs get it now."}]}
        return Reply(text=json.dumps({"relation": "EXCEPTION", "reason": "VIPs only."} if judging else meant))
    answers = [message["content"] for message in request["messages"] if message["role"] == "tool"]
    if not answers:
        return Reply(calls=[ToolCall(name="search_similar_knowledge", arguments={"query": "refunds"})])
    rule = json.loads(answers[0])["found"][0]["id"]
    if len(answers) == 1:
        judged = {"knowledge_type": "DMN_RULE", "knowledge_id": rule}
        return Reply(calls=[ToolCall(name="analyze_knowledge_conflict", arguments=judged)])
    wish = {"operation": "UPDATE", "rule_id": rule, "table": ROW, "merge_mode": "REFINE"}
    return Reply(calls=[ToolCall(name="commit_to_dmn_rule", arguments=wish)] if len(answers) == 2 else (), text="Done.")


@pytest.fixture
def learn(open_yard, run, model, monkeypatch, tmp_path):
    """Run `skillyard learn …` where lessons are only proposed against the one rule that there is."""
    monkeypatch.setenv("SKILLYARD_MODEL", model.settings["model"])
    monkeypatch.setenv("SKILLYARD_MODEL_BASE_URL", model.settings["model_base_url"])
    (tmp_path / "refunds.json").write_text(json.dumps(TABLE))
    assert run("registry", "agents", "create", "support").code == 0
    assert run("learn", "rules", "add", tmp_path / "refunds.json", "--name", "refunds").code == 0
    assert run("learn", "rules", "change", "refunds", "--lock").code == 0
    return lambda *words: run("learn", *words)


@pytest.fixture
def proposal(learn):
    """The id of a proposal that feedback led to."""
    assert learn("rules", "evaluate", "refunds", "-i", "grade=vip", "-i", "amount=80000").out.startswith(
        'action = "ask"'
    )
    given = learn("feedback", "VIPs get refunds up to 100,000 at once.")
    assert "proposed" in given.out
    return given.err.split()[-1]


def test_a_proposal_shows_what_would_change_why_and_what_to_know_before(learn, proposal):
    listed = learn("proposals")
    assert listed.out.split()[:3] == [proposal, "UPDATE", "DMN_RULE"]
    shown = learn("proposals", "show", proposal)
    for text in ("refunds", "EXCEPTION", "VIPs only.", "overlap: Rules ", "case: "):
        assert text in shown.out
    assert any(line.startswith("+") and "vip" in line for line in shown.out.splitlines())
    assert f"skillyard learn proposals approve {proposal}" in shown.err
    lesson = learn("show", learn("list", "--json").json["feedback"][0]["id"])
    for text in ("proposed", "+++ b/refunds", "overlap: Rules "):
        assert text in lesson.out


def test_an_approved_change_is_made_and_can_be_taken_back(learn, proposal):
    done = learn("proposals", "approve", proposal, "-m", "VIPs should not wait.")
    assert (done.code, "rule changed: refunds 1.0.1" in done.out) == (0, True)
    assert learn("rules", "evaluate", "refunds", "-i", "grade=vip", "-i", "amount=80000", "--json").json["outputs"] == {
        "action": "now"
    }
    assert learn("proposals").err == "Nothing waits for approval.\n"
    assert "approved" in learn("proposals", "--all").out
    assert learn("proposals", "approve", proposal).code == 5
    assert learn("undo", done.err.split()[-1]).code == 0
    assert learn("rules", "evaluate", "refunds", "-i", "grade=vip", "-i", "amount=80000").out.startswith(
        'action = "ask"'
    )


def test_a_rejected_change_is_not_made(learn, proposal):
    assert learn("proposals", "reject", proposal, "-m", "No.").code == 0
    assert "1.0.0" in learn("rules").out
    assert learn("list", "--json").json["counts"] == {"rejected": 1}
    assert learn("proposals", "reject", "prop-000000000000").code == 3


def test_a_change_whose_rule_has_changed_since_is_stale(learn, proposal, tmp_path):
    (tmp_path / "row.json").write_text(json.dumps({**TABLE, "rules": [{"when": ['"new"', "-"], "then": ["ask"]}]}))
    assert learn("rules", "change", "refunds", tmp_path / "row.json", "--merge", "REFINE").code == 0
    refused = learn("proposals", "approve", proposal)
    assert (refused.code, "worked out against 1.0.0" in refused.err) == (5, True)
    assert "stale" in learn("proposals", "show", proposal).out
