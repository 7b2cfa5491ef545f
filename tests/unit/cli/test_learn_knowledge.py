"""`skillyard learn memory`, `rules` and `sources`: what is known, changed by hand."""

import json
import sqlite3

import pytest

TABLE = {
    "hit_policy": "F",
    "inputs": [
        {"id": "grade", "type": "string", "values": '"vip", "regular"'},
        {"id": "amount", "type": "number", "label": "won", "values": ">= 0"},
        {"id": "new", "type": "boolean"},
    ],
    "outputs": [{"id": "action", "type": "string"}],
    "rules": [{"when": ["-", "<= 30000", "-"], "then": ["now"]}, {"when": ["-", "< 500000", "-"], "then": ["ask"]}],
}
CASE = ("-i", "grade=vip", "-i", "amount=80000", "-i", "new=false")


@pytest.fixture
def learn(open_yard, run):
    """Run `skillyard learn …`; nothing here needs a model."""
    return lambda *words: run("learn", *words)


@pytest.fixture
def table(tmp_path):
    """Write a table into a file: `table()` the one above, `table(rules=…)` with other rows."""

    def write(**changes):
        file = tmp_path / "table.json"
        file.write_text(json.dumps({**TABLE, **changes}))
        return file

    return write


@pytest.fixture
def rule(learn, table):
    """The id of the rule `refunds`."""
    added = learn("rules", "add", table(), "--name", "refunds", "--description", "Whether a manager is asked.")
    assert added.code == 0, added.err
    assert "gap: No rule holds" in added.out
    return added.out.split()[0]


def test_a_memory_is_kept_found_changed_judged_and_forgotten(learn, run):
    assert "skillyard learn memory add" in learn("memory").err
    assert run("registry", "agents", "create", "support").code == 0
    added = learn("memory", "add", "Ada wants to be called Ms Lovelace.", "-a", "support", "--expires", "30d")
    memory = added.out.split()[0]
    assert "skillyard registry undo" in added.err
    listed = learn("memory", "--agent", "support").out
    assert listed.split()[:2] == [memory, "support"]
    assert "until 20" in listed
    assert learn("memory", "recall", "Lovelace", "--json").json["memories"][0]["id"] == memory
    assert learn("memory", "recall", "Lovelace", "-a", "other").code == 1
    assert "helped 1 times" in learn("memory", "judge", memory, "helpful").out
    assert learn("memory", "judge", memory, "fine").code == 2
    changed = learn("memory", "change", memory, "Ada wants to be called Dr Lovelace.")
    assert "Dr Lovelace" in changed.out
    assert f"superseded by {changed.out.split()[0]}" in learn("memory", "list", "--all").out
    assert "Ms" not in learn("memory").out
    assert learn("memory", "change", memory).code == 2
    refused = learn("memory", "forget", changed.out.split()[0])
    assert (refused.code, "-y" in refused.err) == (2, True)
    gone = learn("memory", "forget", changed.out.split()[0], "-y")
    assert gone.code == 0
    assert run(*gone.err.split("skillyard ")[1].split()).code == 0
    assert "Dr" in learn("memory").out
    assert learn("memory", "forget", "mem-000000000000", "-y").code == 3
    assert learn("memory", "add", "x", "--expires", "soon").code == 2


def test_a_rule_is_read_as_a_table_with_what_is_wrong_marked(learn, rule):
    assert learn("rules").out.split()[:3] == [rule, "refunds", "1.0.0"]
    shown = learn("rules", "show", "refunds")
    lines = [line.split() for line in shown.out.splitlines()]
    assert ["r1", "-", "<=", "30000", "-", "→", '"now"', "≈", "overlaps", "r2"] in lines
    assert any(line[:1] == ["gap"] and "500000" in line for line in lines)
    assert "F: the first row that holds counts" in shown.out
    assert learn("rules", "show", "refunds", "--json").json["report"]["decides"]
    assert learn("rules", "show", "none").code == 3


def test_a_rule_decides_cases_and_a_pinned_one_must_hold(learn, rule, table):
    assert "decided none yet" in learn("rules", "cases", rule).err
    decided = learn("rules", "evaluate", "refunds", *CASE)
    assert decided.out == 'action = "ask"  row r2 of refunds 1.0.0\n'
    (case,) = learn("rules", "cases", rule, "--json").json["cases"]
    assert case["inputs"] == {"grade": "vip", "amount": 80000, "new": False}
    other = table(rules=[{"when": ["-", "-", "-"], "then": ["now"]}])
    looked = learn("rules", "change", rule, other, "--dry-run")
    assert 'case amount = 80000, grade = "vip", new = false: action = "ask" → action = "now"' in looked.out
    assert "must hold" in learn("rules", "pin", rule, case["id"]).out
    assert "pinned" in learn("rules", "cases", rule).out
    assert learn("rules", "change", rule, other, "--dry-run").code == 1
    assert learn("rules", "change", rule, other).code == 1
    assert learn("rules", "pin", rule, case["id"], "--off").code == 0
    changed = learn("rules", "change", rule, other)
    assert "rule changed: refunds 2.0.0" in changed.out
    assert "past case: " in changed.out
    assert [line.split()[0] for line in learn("rules", "versions", rule).out.splitlines()] == ["2.0.0", "1.0.0"]
    assert learn("rules", "change", rule, other, "--base", "1.0.0").code == 5
    assert learn("rules", "pin", rule, "case-000000000000").code == 3


def test_inputs_are_of_the_kind_that_their_columns_have(learn, rule, tmp_path):
    refused = learn("rules", "evaluate", rule, "-i", "grade=vip", "-i", "amount=much", "-i", "new=true")
    assert (refused.code, "is not a number" in refused.err) == (2, True)
    assert learn("rules", "evaluate", rule, "-i", "grade=vip", "-i", "amount=1", "-i", "new=maybe").code == 2
    assert learn("rules", "evaluate", rule, "-i", "grade").code == 2
    missing = learn("rules", "evaluate", rule, "-i", "grade=vip")
    assert (missing.code, "--input amount=VALUE --input new=VALUE" in missing.err) == (2, True)
    (tmp_path / "case.json").write_text('{"grade": "vip", "amount": 900000, "new": true}')
    nothing = learn("rules", "evaluate", rule, "--inputs", tmp_path / "case.json", "--no-keep")
    assert (nothing.code, nothing.out) == (1, "no answer  \n")
    assert learn("rules", "cases", rule, "--json").json["cases"] == []


def test_a_rule_goes_out_as_dmn_and_comes_in_again(learn, rule, tmp_path):
    file = tmp_path / "refunds.dmn"
    assert learn("rules", "export", rule, "--dmn", "-o", file).out == f"{file}\n"
    assert file.read_text().startswith("<?xml")
    assert "gap" in learn("rules", "check", file).out
    again = learn("rules", "add", file, "--name", "again", "--json").json
    assert again["rule"]["digest"] == learn("rules", "show", "refunds", "--json").json["digest"]
    (tmp_path / "refunds.json").write_text(learn("rules", "export", rule).out)
    assert "rule new: refunds" in learn("rules", "add", tmp_path / "refunds.json").out
    two = learn("rules", "show", "refunds")
    assert (two.code, rule in two.err) == (2, True)


def test_a_table_that_would_not_decide_is_refused(learn, table, tmp_path):
    looked = learn("rules", "check", table(hit_policy="U"))
    assert (looked.code, "✗ contradicts r2" in looked.out) == (1, True)
    refused = learn("rules", "add", table(hit_policy="U"), "--name", "refunds")
    assert (refused.code, "hit policy U" in refused.err) == (1, True)
    wrong = learn("rules", "check", table(rules=[{"when": ["gold", "-", "-"], "then": ["now"]}]))
    assert (wrong.code, 'Write - for anything, "gold"' in wrong.err) == (1, True)
    (tmp_path / "no.json").write_text("nothing")
    assert learn("rules", "check", tmp_path / "no.json").code == 2
    nameless = learn("rules", "add", table())
    assert (nameless.code, "--name" in nameless.err) == (2, True)


def test_a_rule_is_deleted_with_a_yes_and_comes_back(learn, rule, run):
    assert learn("rules", "delete", rule).code == 2
    gone = learn("rules", "delete", rule, "-y")
    assert learn("rules", "show", rule).code == 3
    assert run(*gone.err.split("skillyard ")[1].split()).code == 0
    assert learn("rules", "show", rule).code == 0
    assert learn("rules", "change", rule).code == 2


def test_a_table_of_feedback_is_polled_and_what_is_none_is_kept_apart(learn, tmp_path):
    assert "skillyard learn sources add" in learn("sources").err
    with sqlite3.connect(tmp_path / "desk.db") as desk:
        desk.execute("CREATE TABLE tickets (id INTEGER, comment TEXT)")
        desk.executemany("INSERT INTO tickets VALUES (?, ?)", [(1, "Be brief."), (2, ""), (3, "Be kind.")])
    desk.close()
    words = ("--database", f"sqlite:///{tmp_path / 'desk.db'}", "--table", "tickets", "--every", "10m")
    added = learn("sources", "add", "desk", *words, "--field", "content=comment", "--field", "event_id=id")
    assert added.code == 0, added.err
    assert "every 600 s" in learn("sources").out
    polled = learn("sources", "poll", "desk")
    assert (polled.code, polled.out) == (1, "3 read: 2 new, 0 known already.\n")
    dead = learn("sources", "dead", "desk")
    assert (dead.code, "there is no feedback in it" in dead.out) == (1, True)
    assert learn("sources", "poll", "desk", "--json").json["known"] == 2
    assert learn("sources", "switch", "desk", "--off").out == "desk is off.\n"
    assert "off" in learn("sources").out
    assert learn("sources", "remove", "desk").code == 2
    assert learn("sources", "remove", "desk", "-y").code == 0
    assert learn("sources", "poll", "desk").code == 3
    assert learn("sources", "add", "both", "--url", "https://x.example.org", *words).code == 2
