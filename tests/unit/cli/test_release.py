"""`skillyard release` on the yard of this machine, where sandboxes are plain processes."""

import json

import pytest

PAYLOAD = {
    "kind": "code",
    "variables": {
        "customer": {"type": "string", "description": "Who orders"},
        "quantity": {"type": "integer", "default": "1"},
        "password": {"type": "string", "secret": True},
    },
    "steps": [
        {"type": "shell", "cmd": "test -n {{password}}"},
        {"type": "shell", "cmd": "test {{quantity}} -gt 0 || { echo 'none is wanted' >&2; exit 3; }"},
        {
            "type": "shell",
            "cmd": "printf 'for %s\\n' {{customer}}",
            "postcondition": {"kind": "output_contains", "value": "for"},
        },
    ],
}
SECRET = "correct-horse-battery"


@pytest.fixture
def release(open_yard, run, monkeypatch):
    """Run `skillyard release …`, with a password in the environment."""
    monkeypatch.setenv("SKILLYARD_SANDBOX_BACKEND", "unsafe")
    monkeypatch.setenv("PASSWORD", SECRET)
    return lambda *words: run("release", *words)


@pytest.fixture
def candidate(release, run, tmp_path):
    """The id of a candidate for a skill `order-tea`."""
    sandbox = run("sandbox", "create").out.strip()
    run("sandbox", "exec", sandbox, "echo tea")
    (tmp_path / "payload.json").write_text(json.dumps(PAYLOAD))
    execution = release("executions", "--json").json["entries"][0]["id"]
    made = release("create", "order-tea", execution, "--payload", tmp_path / "payload.json", "--summary", "Orders tea.")
    assert made.code == 0, made.err
    return made.out.strip()


@pytest.fixture
def promoted(release, candidate):
    """The id of a stable release of it, on the word of someone else."""
    assert release("evaluate", candidate, "--passed", "--score", "0.9").code == 0
    return release("promote", candidate, "--stage", "stable", "--json").json["id"]


def test_what_was_run_is_listed_across_sandboxes(release, run):
    assert "skillyard sandbox exec" in release("executions").err
    boxes = [run("sandbox", "create").out.strip() for _ in range(2)]
    for box, line in zip(boxes, ("echo one", "false"), strict=True):
        run("sandbox", "exec", box, line)
    lines = release("executions").out.splitlines()
    assert [line.split()[0] for line in lines] == ["✗", "✓"]
    assert [line.split()[2] for line in lines] == [boxes[1], boxes[0]]
    assert "1 more" in release("executions", "-n", "1").err
    assert release("executions", "--successful", "--json").json["total"] == 1
    assert release("executions", "--sandbox", boxes[1], "--json").json["total"] == 1
    assert release("executions", "--type", "python").out == ""
    assert release("executions", "--since", "1h", "--json").json["total"] == 2
    run("sandbox", "exec", boxes[0], "--learn", "echo three")
    assert [one["code"] for one in release("executions", "--learn", "pending", "--json").json["entries"]] == [
        "echo three"
    ]
    assert release("executions", "--learn", "maybe").code == 2


def test_a_candidate_is_shown_with_its_steps_variables_and_evidence(release, candidate):
    line = release("candidates").out.split()
    assert line[:4] == [candidate, "order-tea", "code", "draft"]
    shown = release("show", candidate)
    for text in ("test -n {{password}}", "Who orders", "Evidence: 1 execution", "by hand"):
        assert text in shown.out
    assert f"skillyard release replay {candidate}" in shown.err
    assert release("show", candidate, "--json").json["payload"]["kind"] == "code"
    assert release("candidates", "--status", "promoted").err == "None matches.\n"


def test_a_candidate_passes_by_its_replays_and_the_secret_is_nowhere(release, candidate, open_yard):
    done = release("replay", candidate, "--var", "customer=Ada & Co", "--secret", "password")
    assert done.code == 0, done.err
    assert done.out.count("✓ PASS") == 5
    assert "5 of 5 replays passed" in done.out
    assert f"skillyard release promote {candidate}" in done.err
    kept = [path for path in open_yard.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    assert kept == []


def test_a_replay_that_fails_says_where_and_why(release, candidate):
    done = release(
        "replay", candidate, "-n", "5", "--var", "customer=Ada", "--var", "quantity=0", "--secret", "password"
    )
    assert done.code == 1
    assert done.out.count("✗ STEP_FAIL") == 5
    assert "step 2 of 3" in done.out
    evaluation = done.err.split()[-1]
    shown = release("show", evaluation).out
    assert "none is wanted" in shown
    assert "1 more step not taken" in shown
    assert release("show", candidate, "--json").json["status"] == "rejected"
    refused = release("promote", candidate)
    assert (refused.code, "skillyard release replay" in refused.err) == (5, True)


def test_a_document_has_every_run(release, candidate):
    told = release("replay", candidate, "-n", "1", "--var", "customer=Ada", "--secret", "password", "--json")
    assert told.code == 1  # one replay proves nothing
    assert [run["verdict"] for run in told.json["runs"]] == ["PASS"]
    assert told.json["runs"][0]["variables"]["customer"] == "Ada"
    assert told.json["screenshots"] == []


def test_before_a_replay_it_is_said_where_its_steps_are_really_taken_and_how_often(release, candidate, run, tmp_path):
    alone = release("replay", candidate, "-n", "1", "--var", "customer=Ada", "--secret", "password")
    assert "really" not in alone.err  # nothing outside its sandbox is reached
    networked = {**PAYLOAD, "network": {"allow": ["http://127.0.0.1:9", "https://shop.example"]}}
    (tmp_path / "networked.json").write_text(json.dumps(networked))
    execution = release("executions", "--json").json["entries"][0]["id"]
    made = release("create", "order-tea", execution, "--payload", tmp_path / "networked.json").out.strip()
    words = ("--var", "customer=Ada", "--secret", "password")
    for times, said in ((1, "once"), (2, "2 times")):
        first = release("replay", made, "-n", str(times), *words).err.splitlines()[0]
        assert first.startswith(f"Its steps are really taken at http://127.0.0.1:9, https://shop.example, {said}: ")


def test_a_missing_value_is_named(release, candidate):
    refused = release("replay", candidate, "--secret", "password")
    assert (refused.code, "customer" in refused.err) == (1, True)
    assert SECRET not in refused.err


def test_a_verdict_from_elsewhere_is_told_as_one(release, candidate):
    assert release("evaluate", candidate).code == 2
    assert "external" in release("evaluate", candidate, "--passed", "--report", "Seen to work.").out
    release("promote", candidate)
    line = release("list").out
    assert "external" in line
    assert "canary" in line
    assert "a verdict from elsewhere" in release("show", line.split()[0]).out


def test_a_released_skill_runs_with_new_values(release, promoted):
    done = release("run", "order-tea", "--var", "customer=Ada", "--secret", "password")
    assert done.code == 0, done.err
    assert "\nfor Ada\n" in done.out
    assert done.out.endswith("✓ PASS  order-tea version 1 (stable)\n")
    failed = release("run", "order-tea", "--var", "customer=Ada", "--var", "quantity=0", "--secret", "password")
    assert failed.code == 1
    assert "✗ STEP_FAIL" in failed.out
    health = release("health", promoted)
    assert health.code == 0
    assert "2 runs" in health.out
    assert "the last 2 runs, 1 failed" in health.out
    insights = release("insights").out
    assert insights.split()[:5] == ["order-tea", "stable", "1", "2", "runs"]
    assert "2 runs in 30 days, 1 passed." in insights
    assert release("run", "no-such-skill").code == 3


def test_a_release_is_taken_back_to_what_was_good(release, promoted, candidate):
    second = release("promote", candidate, "--json").json["id"]
    assert [line.split()[0] for line in release("list").out.splitlines()] == [second, promoted]
    assert release("diff", promoted, second).err == "They do the same.\n"
    back = release("rollback", second, "-m", "It is slow.")
    assert back.code == 0, back.err
    assert release("list").out.split()[0] != second
    assert release("rollback", second).code == 0
    assert "rolled_back" in release("list", "--all").out


def test_a_release_is_switched_off_only_when_that_is_meant(release, promoted):
    refused = release("kill", promoted)
    assert (refused.code, "-y" in refused.err) == (2, True)
    assert "is switched off" in release("kill", promoted, "-y", "-m", "It orders twice.").out
    assert "skillyard release candidates" in release("list").err
    assert release("run", "order-tea", "--var", "customer=Ada", "--secret", "password").code == 3


def test_a_skill_is_switched_off_with_all_its_releases(release, promoted, candidate):
    canary = release("promote", candidate, "--json").json["id"]
    off = release("kill", "order-tea", "-y", "--json").json["releases"]
    assert {one["id"] for one in off} == {promoted, canary}
    nothing = release("kill", "order-tea", "-y")
    assert (nothing.code, "skillyard release list" in nothing.err) == (3, True)


def test_releases_that_differ_are_told_apart(release, run, promoted, tmp_path):
    changed = {
        "kind": "code",
        "variables": {**PAYLOAD["variables"], "colour": {"type": "string", "default": "green"}},
        "steps": [*PAYLOAD["steps"][:2], {"type": "shell", "cmd": "echo {{colour}} {{customer}}"}],
    }
    (tmp_path / "changed.json").write_text(json.dumps(changed))
    execution = release("executions", "--json").json["entries"][-1]["id"]
    other = release("create", "order-tea", execution, "--payload", tmp_path / "changed.json").out.strip()
    release("evaluate", other, "--passed")
    new = release("promote", other, "--json").json["id"]
    found = release("diff", promoted, new)
    assert found.code == 1
    assert "+ colour: string = green" in found.out
    assert "+ echo {{colour}} {{customer}}" in found.out
    assert "  test -n {{password}}" in found.out


def test_a_benchmark_is_used_with_a_candidate(release, candidate, tmp_path):
    cases = {"cases": [{"variables": {"customer": "Ada"}}, {"variables": {"customer": "Bo", "quantity": 0}}]}
    (tmp_path / "cases.json").write_text(json.dumps(cases))
    assert "skillyard release benchmarks save" in release("benchmarks", "list").err
    assert release("benchmarks", "save", "two", tmp_path / "cases.json").out == "two: 2 cases.\n"
    assert release("benchmarks", "list").out.split()[:3] == ["two", "2", "cases"]
    assert json.loads(release("benchmarks", "show", "two").out)["cases"][1]["variables"]["customer"] == "Bo"
    done = release("replay", candidate, "-n", "2", "--benchmark", "two", "--secret", "password", "--json")
    assert [one["verdict"] for one in done.json["runs"]] == ["PASS", "STEP_FAIL"]
    assert release("benchmarks", "delete", "two", "-y").code == 0
    assert release("benchmarks", "show", "two").code == 3
    (tmp_path / "cases.json").write_text("{}")
    assert release("benchmarks", "save", "two", tmp_path / "cases.json").code == 2


def test_a_payload_is_checked_kept_and_read(release, tmp_path):
    file = tmp_path / "payload.json"
    file.write_text(json.dumps(PAYLOAD))
    reference = release("payload", "put", file).out.strip()
    assert reference.startswith("blob:")
    assert json.loads(release("payload", "get", reference).out)["kind"] == "code"
    file.write_text(json.dumps({"kind": "code", "steps": [{"type": "shell", "cmd": "echo {{unknown}}"}]}))
    refused = release("payload", "put", file)
    assert (refused.code, "unknown" in refused.err) == (1, True)
    assert release("create", "x", "exec-000000000000", "--payload", tmp_path / "none.json").code == 2


def test_learned_skills_are_found_by_what_they_do(release, promoted):
    assert release("search", "order", "tea").out.split()[:2] == ["order-tea", "stable"]
    nothing = release("search", "telescope")
    assert (nothing.code, nothing.out) == (1, "")


def test_what_is_in_use_is_not_deleted_by_mistake(release, promoted, candidate):
    assert release("delete", candidate, "-y").code == 5
    assert release("delete", promoted).code == 2
    assert release("delete", promoted, "-y", "-m", "Wrong one.").out == f"Deleted {promoted}.\n"
    assert release("delete", candidate, "-y").code == 0
    assert release("candidates").out == ""


def test_what_should_be_retired_is_proposed_and_done(release, promoted):
    assert "Nothing is proposed" in release("retire").err
    assert "is retired" in release("retire", promoted, "-m", "Nobody orders tea.").out
    assert release("list", "--all").out.split()[4:6] == ["stable", "retired"]
    assert "No gaps" in release("gaps").err


@pytest.mark.parametrize("words", [("show", "sc-000000000000"), ("show", "x"), ("health", "sr-0"), ("replay", "sc-0")])
def test_what_is_not_there_is_told_with_where_to_look(release, words):
    refused = release(*words)
    assert (refused.code, refused.out) == (3, "")
    assert "Fix: " in refused.err
