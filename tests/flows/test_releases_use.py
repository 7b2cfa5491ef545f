"""Learned skills as a program uses them: the client of the yard of this machine, without a server."""

import time

import pytest

from skillyard import Skillyard
from skillyard.errors import ConflictError, InputError, NotFoundError
from skillyard.remote.release_following import finished_mining

STEPS = {
    "kind": "code",
    "variables": {"name": {"type": "string", "description": "Who is greeted"}},
    "steps": [
        {"type": "shell", "cmd": "printf 'Hello, %s' {{name}} > greeting"},
        {"type": "python", "code": "print(open('greeting').read())"},
    ],
    "postconditions": [{"kind": "file_contains", "path": "greeting", "text": "{{name}}"}],
}


@pytest.fixture(scope="module")
def yard(tmp_path_factory):
    with Skillyard(home=tmp_path_factory.mktemp("home") / "yard") as client:
        yield client


@pytest.fixture(scope="module")
def sandbox(yard):
    return yard.sandboxes.create(profile="browser-python")["id"]


@pytest.fixture(scope="module")
def execution(yard, sandbox):
    return yard.sandboxes.shell(sandbox, "echo seen")["execution_id"]


def released(yard, execution, key, steps=STEPS, *, kind="code", stage="stable"):
    ref = yard.releases.payloads.create(steps, kind=kind)["payload_ref"]
    made = yard.releases.create_candidate(
        skill_key=key, source_execution_ids=[execution], payload_ref=ref, summary=f"{key} for people"
    )
    yard.releases.evaluate(made["id"], passed=True)
    return yard.releases.promote(made["id"], stage=stage)


def test_a_skill_is_run_in_a_sandbox_and_what_came_of_it_is_told(yard, sandbox, execution):
    release = released(yard, execution, "greet")
    ran = yard.releases.run_skill("greet", {"name": "Ada"}, sandbox_id=sandbox)
    assert (ran["success"], ran["verdict"], ran["release_id"], ran["version"]) == (True, "PASS", release["id"], 1)
    assert (ran["total_steps"], [step["type"] for step in ran["steps"]]) == (2, ["shell", "python"])
    assert "Hello, Ada" in ran["steps"][1]["output"]
    fresh = yard.releases.execute_hybrid_skill("greet", {"name": "Bo"})
    assert fresh["verdict"] == "PASS"
    assert fresh["sandbox_id"] != sandbox
    runs = yard.releases.runs(release_id=release["id"])
    assert [one["id"] for one in runs["items"]] == [fresh["id"], ran["id"]]
    health = yard.releases.health(release["id"])
    assert (health["samples"], health["success_rate"], health["should_rollback"]) == (2, 1.0, False)
    (insight,) = [one for one in yard.releases.insights()["skills"] if one["skill_key"] == "greet"]
    assert (insight["runs"], insight["passed"]) == (2, 2)
    with pytest.raises(InputError, match="name"):
        yard.releases.run_skill("greet", sandbox_id=sandbox)
    with pytest.raises(NotFoundError, match="No active release found"):
        yard.releases.run_skill("nothing")
    with pytest.raises(NotFoundError):
        yard.releases.run_screenshot(ran["id"])


def test_a_released_skill_is_in_the_sandbox_until_it_is_switched_off(yard, execution):
    released(yard, execution, "carry")
    fresh = yard.sandboxes.create()["id"]
    text = yard.sandboxes.shell(fresh, "cat skills/carry/SKILL.md")["output"]
    assert "source: learned" in text
    assert yard.releases.kill_skill("carry", reason="no more")["total"] == 1
    again = yard.sandboxes.create()["id"]
    assert not yard.sandboxes.shell(again, "ls skills/carry")["success"]
    yard.sandboxes.stop(fresh)
    assert not yard.sandboxes.shell(fresh, "ls skills/carry")["success"]


def test_clients_of_the_control_plane_run_their_own_payloads_in_the_browser(yard, sandbox, execution):
    payload = {
        "commands": ["open about:blank"],
        "variables": {"city": {"type": "string", "default_value": "Edinburgh", "action_index": 0}},
    }
    release = released(yard, execution, "look", payload, kind="candidate_payload", stage="canary")
    ask = yard.connection.ask
    path = f"/v1/sandboxes/{sandbox}/browser/skills"
    body = {"timeout": 60, "stop_on_error": True, "include_trace": True}
    ran = ask("POST", f"{path}/look/run", json=body, timeout=90).json()
    assert (ran["verdict"], ran["reason"]) == ("PASS", "")
    assert (ran["success"], ran["total_steps"], ran["completed_steps"]) == (True, 1, 1)
    assert (ran["skill_key"], ran["release_id"]) == ("look", release["id"])
    assert ran["execution_id"].startswith("exec-")
    assert ran["trace_ref"].startswith("blob:")
    assert (ran["results"][0]["cmd"], ran["results"][0]["exit_code"]) == ("open about:blank", 0)
    trace = yard.releases.payloads.get(ran["trace_ref"])
    assert trace["payload"] == yard.sandboxes.trace(sandbox, ran["trace_ref"])["trace"]
    released(yard, execution, "stumble", ["open about:blank", "click #nowhere", "get url"], kind="browser")
    said = {"stop_on_error": False, "description": "Looked around", "tags": "weekly"}
    ran = ask("POST", f"{path}/stumble/run", json=said, timeout=90).json()
    assert (ran["success"], ran["verdict"], ran["step"]) == (False, "STEP_FAIL", 1)
    assert [(one["step_index"], one["exit_code"]) for one in ran["results"]] == [(0, 0), (1, 1), (2, 0)]
    kept = ask("GET", f"/v1/sandboxes/{sandbox}/history/{ran['execution_id']}").json()
    assert (kept["description"], kept["tags"], kept["success"]) == ("Looked around", "skill-replay,weekly", False)
    missing = ask("POST", f"{path}/missing/run", json=body)
    assert (missing.status_code, "No active release found" in missing.text) == (404, True)
    released(yard, execution, "foreign", ["open about:blank"], kind="generic")
    foreign = yard.releases.create_candidate(
        skill_key="elsewhere", source_execution_ids=[execution], payload_ref="s3://skills/1"
    )
    yard.releases.evaluate(foreign["id"], passed=True)
    yard.releases.promote(foreign["id"])
    refused = ask("POST", f"{path}/elsewhere/run", json=body)
    assert (refused.status_code, "Unsupported payload_ref" in refused.text) == (400, True)


def test_a_candidate_of_chosen_executions_can_be_replayed_without_a_payload(yard, sandbox):
    ran = [
        yard.sandboxes.shell(sandbox, command)["execution_id"]
        for command in ("mkdir -p notes", "printf 'one\\n' > notes/list.txt", "cat notes/list.txt")
    ]
    made = yard.releases.create_candidate(skill_key="note-down", source_execution_ids=ran)
    assert made["payload_ref"].startswith("blob:")
    yard.releases.evaluate(made["id"], passed=True)
    yard.releases.promote(made["id"])
    done = yard.releases.run_skill("note-down")
    assert done["verdict"] == "PASS"
    assert [step["text"].split()[0] for step in done["steps"]][:2] == ["mkdir", "printf"]


def test_two_releases_are_told_apart_by_their_steps_and_variables(yard, execution):
    old = released(yard, execution, "change")
    steps = {**STEPS, "variables": {**STEPS["variables"], "town": {"type": "string", "default": "Bath"}}}
    steps["steps"] = [STEPS["steps"][0], {"type": "shell", "cmd": "echo {{town}}"}]
    new = released(yard, execution, "change", steps)
    diff = yard.releases.diff(old["id"], new["id"])
    assert (diff["old"]["id"], diff["new"]["id"], diff["changed"]) == (old["id"], new["id"], True)
    assert [(one["change"], one["old"], one["new"]) for one in diff["steps"]] == [
        ("same", STEPS["steps"][0]["cmd"], STEPS["steps"][0]["cmd"]),
        ("changed", STEPS["steps"][1]["code"], "echo {{town}}"),
    ]
    assert [(one["name"], one["change"]) for one in diff["variables"]] == [("name", "same"), ("town", "added")]
    assert not yard.releases.diff(old["id"], old["id"])["changed"]


def test_replays_with_a_benchmark_go_on_behind_the_request(yard, execution):
    ref = yard.releases.payloads.create(STEPS, kind="code")["payload_ref"]
    made = yard.releases.create_candidate(skill_key="tried", source_execution_ids=[execution], payload_ref=ref)
    cases = [{"variables": {"name": name, "other": 1}, "checks": []} for name in ("Ada", "Bo")]
    saved = yard.releases.save_benchmark("names", cases)
    assert [case["variables"]["name"] for case in saved["cases"]] == ["Ada", "Bo"]
    assert yard.releases.benchmark("names") == yard.releases.benchmarks()["items"][0] == saved
    with pytest.raises(InputError, match="keeps no secrets"):
        yard.releases.save_benchmark("bad", [{"variables": {"password": "hunter2"}}])
    evaluation = yard.releases.replay(made["id"], runs=3, benchmark="names")
    assert evaluation["kind"] == "replay"
    while evaluation["state"] in {"queued", "running"}:
        time.sleep(0.05)
        evaluation = yard.releases.evaluation(evaluation["id"])
    assert (evaluation["state"], evaluation["score"]) == ("done", 1.0)
    assert [run["variables"]["name"] for run in evaluation["runs"]] == ["Ada", "Bo", "Ada"]
    assert yard.releases.evaluations(made["id"])["total"] == 1
    yard.releases.delete_benchmark("names")
    with pytest.raises(NotFoundError):
        yard.releases.benchmark("names")


def test_executions_of_all_sandboxes_are_listed_and_looked_through(yard, sandbox, execution):
    entries = yard.releases.executions(exec_type="shell", sandbox_id=sandbox)
    assert execution in [entry["id"] for entry in entries["entries"]]
    assert {entry["sandbox_id"] for entry in entries["entries"]} == {sandbox}
    mining = finished_mining(yard.releases, yard.releases.mine(execution_ids=[execution]))
    assert (mining["state"], mining["examined"]) == ("done", 1)
    assert yard.releases.mining(mining["id"]) == mining
    assert "items" in yard.releases.gaps()


def test_learned_skills_are_found_by_what_they_are_for(yard, execution):
    release = released(yard, execution, "invoice-totals")
    found = yard.releases.search("totals of invoices")
    assert found["items"][0]["candidate"]["skill_key"] == "invoice-totals"
    assert found["items"][0]["release"]["id"] == release["id"]
    assert yard.releases.search("zeppelin maintenance")["items"] == []


def test_retiring_and_taking_back_leave_the_candidate_its_evidence(yard, execution):
    release = released(yard, execution, "old")
    assert yard.releases.retirements()["cap"] > 0
    retired = yard.releases.retire(release["id"], reason="unused")
    assert (retired["state"], retired["is_active"]) == ("retired", False)
    with pytest.raises(ConflictError):
        yard.releases.rollback(release["id"])
    assert yard.releases.promote(release["candidate_id"])["version"] == 2
    assert yard.releases.releases(skill_key="old")["total"] == 2
    yard.releases.kill(yard.releases.releases(skill_key="old", active_only=True)["items"][0]["id"])
    yard.releases.delete_release(release["id"])
    yard.releases.delete_candidate(release["candidate_id"], reason="done with it")
    with pytest.raises(NotFoundError):
        yard.releases.candidate(release["candidate_id"])
