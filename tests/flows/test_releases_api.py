"""Learned skills over /v1: what clients of the control plane send, and what they read, over a real yard."""

import itertools
import re
from contextlib import asynccontextmanager
from functools import partial
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient

from skillyard.app.yard import open_yard
from skillyard.config.settings import Settings
from skillyard.history.entries import Why
from skillyard.identity.principals import Scope
from skillyard.library.folder import FolderLibrary
from skillyard.sandbox.executions import ExecType, Run
from skillyard.server.app import Application
from skillyard.server.opened import Opened

ID = re.compile(r"[a-z]+-[0-9a-f]{12}")
CANDIDATE = {
    *("id", "skill_key", "scenario_key", "payload_ref", "skill_type", "auto_release_eligible", "auto_release_reason"),
    *("summary", "usage_notes", "preconditions", "postconditions", "source_execution_ids", "status", "latest_score"),
    *("latest_pass", "last_evaluated_at", "promotion_release_id", "created_by", "created_at", "updated_at"),
    *("is_deleted", "deleted_at", "deleted_by", "delete_reason"),
}
RELEASE = {
    *("id", "skill_key", "candidate_id", "version", "stage", "is_active", "release_mode", "promoted_by"),
    *("promoted_at", "rollback_of", "auto_promoted_from", "health_window_end_at", "upgrade_of_release_id"),
    *("upgrade_reason", "change_summary", "is_deleted", "deleted_at", "deleted_by", "delete_reason"),
}


class Served:
    """A server that all tests here share; each test has people of its own."""

    def __init__(self, client, yard):
        self.client = client
        self.yard = yard

    def run(self, call, *given, **named):
        return self.client.portal.call(partial(call, *given, **named))

    def token(self, name, scope):
        root = self.run(self.yard.access.operator, "root")
        place = self.run(self.yard.people.ensure_tenant, "default")
        self.run(self.yard.people.ensure_person, place, name)
        made = self.run(self.yard.tokens.create, root, label="test", person=name, scope=scope, why=Why())
        return made.secret


class Plane:
    """A caller of /v1; answers are checked by their status."""

    def __init__(self, served, name, scope=Scope.ADMIN):
        self.served = served
        self.name = name
        self.secret = served.token(name, scope)

    @property
    def principal(self):
        return self.served.run(self.served.yard.access.by_token, self.secret).principal

    def request(self, method, path, status, **given):
        headers = {"authorization": f"Bearer {self.secret}", **given.pop("headers", {})}
        answer = self.served.client.request(method, f"/v1/{path}", headers=headers, **given)
        assert answer.status_code == status, answer.text
        return answer

    def get(self, path, status=200, **given):
        return self.request("GET", path, status, **given).json()

    def post(self, path, body=None, status=200, **given):
        return self.request("POST", path, status, json=body, **given).json()

    def put(self, path, body, status=200):
        return self.request("PUT", path, status, json=body).json()

    def delete(self, path, status=200, **given):
        answer = self.request("DELETE", path, status, **given)
        return answer.json() if answer.content else None

    def fails(self, method, path, code, status, **given):
        """The error of a request, which is of the one shape that clients read."""
        body = self.request(method, path, status, **given).json()
        assert set(body) == {"error"}
        assert {"code", "message", "request_id", "details"} <= set(body["error"])
        assert body["error"]["code"] == code
        return body["error"]


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    settings = Settings(home=home, sandbox_backend="unsafe")
    made = {}

    @asynccontextmanager
    async def opening():
        async with open_yard(settings) as yard:
            app = Application(yard, FolderLibrary(home), settings, person=None)
            made.update(yard=yard)
            yield app
            app.close()

    with TestClient(Opened(opening), base_url="http://127.0.0.1:8321", raise_server_exceptions=False) as client:
        yield Served(client, made["yard"])


_people = itertools.count(1)


@pytest.fixture
def ana(served):
    return Plane(served, f"ana-{next(_people)}")


@pytest.fixture
def ben(served):
    return Plane(served, f"ben-{next(_people)}")


class Learner:
    """A caller who has run something, and makes candidates of it."""

    def __init__(self, plane):
        self.plane = plane
        self.sandbox = plane.post("sandboxes", {}, 201)["id"]

    def execution(self, code="print(1)"):
        """One that was written down; nothing is started for it."""
        run = Run(
            exec_type=ExecType.PYTHON,
            code=code,
            success=True,
            ending="exited",
            exit_code=None,
            seconds=0.1,
            output="1\n",
            error=None,
        )
        call, rooms = self.plane.served.run, self.plane.served.yard.sandboxes
        sandbox = call(rooms.sandboxes.get, self.plane.principal, self.sandbox)
        return call(rooms.log.add, sandbox, None, run).id

    def candidate(self, key="csv-loader", **more):
        body = {"skill_key": key, "source_execution_ids": [self.execution()], **more}
        return self.plane.post("skills/candidates", body, 201)

    def passed(self, key="csv-loader", **more):
        made = self.candidate(key, **more)
        self.evaluate(made, passed=True)
        return made

    def evaluate(self, candidate, *, passed, **more):
        return self.plane.post(f"skills/candidates/{candidate['id']}/evaluate", {"passed": passed, **more})

    def promote(self, candidate, stage="canary", status=200, **more):
        return self.plane.post(f"skills/candidates/{candidate['id']}/promote", {"stage": stage, **more}, status)

    def rollback(self, release, status=200):
        return self.plane.post(f"skills/releases/{release['id']}/rollback", None, status)

    def read(self, candidate):
        return self.plane.get(f"skills/candidates/{candidate['id']}")

    def releases(self, **query):
        return self.plane.get("skills/releases", params=query)


@pytest.fixture
def learner(ana):
    return Learner(ana)


def test_from_an_execution_to_a_release_and_back(learner):
    execution = learner.execution()
    first = learner.plane.post(
        "skills/candidates",
        {
            "skill_key": "csv-loader",
            "source_execution_ids": [execution],
            "scenario_key": "etl.csv",
            "payload_ref": "s3://skills/csv-loader/a",
            "summary": "Load CSV",
            "usage_notes": "Needs a warehouse",
            "preconditions": {"runtime": "python"},
            "postconditions": {"table": "created"},
        },
        201,
    )
    assert set(first) >= CANDIDATE
    assert ID.fullmatch(first["id"])
    assert first["id"].startswith("sc-")
    assert (first["status"], first["source_execution_ids"], first["payload_ref"]) == (
        "draft",
        [execution],
        "s3://skills/csv-loader/a",
    )
    assert (first["preconditions"], first["postconditions"]) == ({"runtime": "python"}, {"table": "created"})
    evaluation = learner.evaluate(first, passed=True, score=0.93, benchmark_id="bench-1", report="fine")
    assert evaluation["id"].startswith("se-")
    assert (evaluation["passed"], evaluation["score"], evaluation["benchmark_id"]) == (True, 0.93, "bench-1")
    assert evaluation["kind"] == "external"
    stable = learner.promote(first, "stable", upgrade_reason="by hand", change_summary="The first")
    assert set(stable) >= RELEASE
    assert stable["id"].startswith("sr-")
    assert (stable["version"], stable["stage"], stable["is_active"]) == (1, "stable", True)
    assert (stable["upgrade_of_release_id"], stable["external"]) == (None, True)

    second = learner.passed()
    canary = learner.promote(second, upgrade_of_release_id=stable["id"], upgrade_reason="better")
    assert (canary["version"], canary["upgrade_of_release_id"]) == (2, stable["id"])
    assert canary["health_window_end_at"] is not None

    rolled_back = learner.rollback(canary)
    assert (rolled_back["rollback_of"], rolled_back["version"]) == (canary["id"], 3)
    assert (rolled_back["is_active"], rolled_back["stage"]) == (True, "stable")
    assert rolled_back["candidate_id"] == first["id"]
    assert learner.read(second)["status"] == "rolled_back"
    assert learner.read(first)["status"] == "promoted"


def test_a_canary_leaves_what_is_stable_in_use(learner):
    stable = learner.promote(learner.passed(), "stable")
    canary = learner.promote(learner.passed())
    both = learner.releases(skill_key="csv-loader")
    assert [(one["id"], one["is_active"]) for one in both["items"]] == [(canary["id"], True), (stable["id"], True)]
    active = learner.releases(skill_key="csv-loader", active_only=True)
    assert (active["total"], [one["id"] for one in active["items"]]) == (1, [canary["id"]])
    assert learner.releases(active_only=True, stage="stable")["items"][0]["id"] == stable["id"]
    assert learner.releases(active_only=True, every_stage=True)["total"] == 2


def test_only_what_passed_is_released(learner):
    made = learner.candidate()
    path = f"skills/candidates/{made['id']}/promote"
    learner.plane.fails("POST", path, "conflict", 409, json={"stage": "canary"})
    learner.evaluate(made, passed=True)
    learner.evaluate(made, passed=False, score=0.1)
    assert (learner.read(made)["status"], learner.read(made)["latest_pass"]) == ("rejected", False)
    learner.plane.fails("POST", path, "conflict", 409, json={})
    learner.evaluate(made, passed=True)
    assert learner.promote(made)["version"] == 1


def test_lists_have_filters_pages_and_totals(learner):
    first, second = learner.candidate("loader-a"), learner.candidate("loader-b")
    learner.evaluate(second, passed=False)
    get = learner.plane.get
    by_key = get("skills/candidates", params={"skill_key": "loader-a"})
    assert (by_key["total"], by_key["items"][0]["id"]) == (1, first["id"])
    rejected = get("skills/candidates", params={"status": "rejected"})
    assert [one["id"] for one in rejected["items"]] == [second["id"]]
    page = get("skills/candidates", params={"limit": 1, "offset": 1})
    assert (page["total"], [one["id"] for one in page["items"]]) == (2, [first["id"]])
    for query in ("limit=0", "limit=501", "offset=-1", "status=unknown"):
        learner.plane.fails("GET", f"skills/candidates?{query}", "validation_error", 422)
    learner.plane.fails("GET", "skills/releases?stage=unknown", "validation_error", 422)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"skill_key": "x", "source_execution_ids": ["exec-missing"]}, 400),
        ({"skill_key": "x", "source_execution_ids": []}, 400),
        ({"skill_key": "  ", "source_execution_ids": ["exec-missing"]}, 400),
        ({"skill_key": "", "source_execution_ids": ["exec-missing"]}, 422),
        ({"source_execution_ids": ["exec-missing"]}, 422),
        ({"skill_key": "x"}, 422),
        ({"skill_key": "x", "source_execution_ids": "exec-1"}, 422),
    ],
)
def test_a_candidate_of_nothing_is_refused(ana, body, status):
    ana.fails("POST", "skills/candidates", "validation_error", status, json=body)


def test_a_payload_of_nobody_makes_no_candidate(learner):
    body = {"skill_key": "x", "source_execution_ids": [learner.execution()], "payload_ref": "blob:blob-000000000000"}
    error = learner.plane.fails("POST", "skills/candidates", "validation_error", 400, json=body)
    assert error["details"]["field"] == "payload_ref"


def test_wrong_promotions_are_refused(learner):
    made, other = learner.passed(), learner.promote(learner.passed("other"))
    path = f"skills/candidates/{made['id']}/promote"
    learner.plane.fails("POST", path, "validation_error", 422, json={"stage": "beta"})
    learner.plane.fails("POST", path, "not_found", 404, json={"upgrade_of_release_id": "sr-missing"})
    learner.plane.fails("POST", path, "validation_error", 400, json={"upgrade_of_release_id": other["id"]})
    learner.plane.fails("POST", "skills/candidates/sc-missing/promote", "not_found", 404, json={})


def test_payloads_come_back_as_they_were_sent(ana):
    payload = {"commands": ["open about:blank", "snapshot -i"]}
    made = ana.post("skills/payloads", {"kind": "candidate_payload", "payload": payload}, 201)
    assert made["payload_ref"].startswith("blob:blob-")
    read = ana.get(f"skills/payloads/{made['payload_ref']}")
    assert read == {"payload_ref": made["payload_ref"], "kind": "candidate_payload", "payload": payload}
    assert ana.post("skills/payloads", {"kind": "candidate_payload", "payload": payload}, 201) == made
    assert ana.post("skills/payloads", {"payload": [1, "two"]}, 201)["kind"] == "generic"


def test_payloads_that_are_not_here_cannot_be_read(ana, ben):
    foreign = quote("s3://candidate/payload-1", safe="")
    error = ana.fails("GET", f"skills/payloads/{foreign}", "validation_error", 400)
    assert "Unsupported payload_ref" in error["message"]
    ana.fails("GET", "skills/payloads/blob:missing", "not_found", 404)
    mine = ana.post("skills/payloads", {"payload": {"a": 1}}, 201)["payload_ref"]
    ben.fails("GET", f"skills/payloads/{mine}", "not_found", 404)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"payload": "text"}, 422),
        ({"payload": {}, "kind": ""}, 422),
        ({"kind": "code"}, 422),
        ({"payload": {"steps": []}, "kind": "code"}, 400),
    ],
)
def test_payloads_that_are_wrong_are_refused(ana, body, status):
    ana.fails("POST", "skills/payloads", "validation_error", status, json=body)


def test_deleting_releases_and_candidates(learner):
    first = learner.passed("gone")
    released = learner.promote(first, "stable")
    plane = learner.plane
    plane.fails("DELETE", f"skills/candidates/{first['id']}", "conflict", 409, json={})
    gone = plane.delete(f"skills/releases/{released['id']}", 200, json={"reason": "cleanup"})
    assert (gone["id"], gone["delete_reason"]) == (released["id"], "cleanup")
    assert gone["deleted_at"]
    plane.fails("DELETE", f"skills/releases/{released['id']}", "not_found", 404)
    assert learner.releases(skill_key="gone") == {"items": [], "total": 0}
    deleted = plane.delete(f"skills/candidates/{first['id']}", 200, json={"reason": "stale"})
    assert (deleted["id"], deleted["delete_reason"]) == (first["id"], "stale")
    plane.fails("GET", f"skills/candidates/{first['id']}", "not_found", 404)
    assert plane.get("skills/candidates", params={"skill_key": "gone"})["total"] == 0
    assert learner.promote(learner.passed("gone"))["version"] == 2


def test_another_person_sees_nothing_of_it(learner, ben):
    made = learner.passed()
    released = learner.promote(made)
    assert ben.get("skills/candidates") == {"items": [], "total": 0}
    assert ben.get("skills/releases") == {"items": [], "total": 0}
    for method, path in (
        ("GET", f"skills/candidates/{made['id']}"),
        ("DELETE", f"skills/candidates/{made['id']}"),
        ("GET", f"skills/candidates/{made['id']}/evaluations"),
        ("POST", f"skills/candidates/{made['id']}/promote"),
        ("GET", f"skills/releases/{released['id']}"),
        ("POST", f"skills/releases/{released['id']}/rollback"),
        ("POST", f"skills/releases/{released['id']}/kill"),
        ("DELETE", f"skills/releases/{released['id']}"),
    ):
        ben.fails(method, path, "not_found", 404)
    body = {"skill_key": "mine", "source_execution_ids": made["source_execution_ids"]}
    ben.fails("POST", "skills/candidates", "validation_error", 400, json=body)


def test_rolling_back_the_first_canary_puts_it_out_of_use_and_again_changes_nothing(learner):
    made = learner.passed()
    canary = learner.promote(made)
    once = learner.rollback(canary)
    assert (once["id"], once["is_active"], once["state"]) == (canary["id"], False, "rolled_back")
    assert learner.rollback(canary) == once
    assert learner.releases(active_only=True)["total"] == 0
    path = f"skills/candidates/{made['id']}/promote"
    learner.plane.fails("POST", path, "conflict", 409, json={})
    learner.evaluate(made, passed=True)
    assert learner.promote(made)["version"] == 2


def test_a_rollback_never_brings_back_what_was_rolled_back(learner):
    first = learner.promote(learner.passed(), "stable")
    second = learner.promote(learner.passed(), "stable")
    third = learner.rollback(second)
    assert third["candidate_id"] == first["candidate_id"]
    assert learner.rollback(second) == third
    last = learner.rollback(third)
    assert (last["id"], last["is_active"]) == (third["id"], False)
    learner.plane.fails("POST", f"skills/releases/{first['id']}/rollback", "conflict", 409)


def test_a_canary_after_a_canary_goes_back_to_it(learner):
    first, second = learner.promote(learner.passed()), learner.promote(learner.passed())
    assert learner.plane.get(f"skills/releases/{first['id']}")["state"] == "superseded"
    back = learner.rollback(second)
    assert (back["candidate_id"], back["stage"], back["rollback_of"]) == (first["candidate_id"], "canary", second["id"])


def test_releasing_what_is_released_changes_nothing(learner):
    made = learner.passed()
    canary = learner.promote(made)
    assert learner.promote(made) == canary
    stable = learner.promote(made, "stable")
    assert stable["version"] == 2
    assert [one["id"] for one in learner.releases(active_only=True, every_stage=True)["items"]] == [stable["id"]]


def test_the_kill_switch_leaves_nothing_in_use(learner):
    stable = learner.promote(learner.passed(), "stable")
    canary = learner.promote(learner.passed())
    killed = learner.plane.post(f"skills/releases/{canary['id']}/kill", {"reason": "it burns"})
    assert (killed["state"], killed["end_reason"]) == ("killed", "it burns")
    assert [one["id"] for one in learner.releases(active_only=True)["items"]] == [stable["id"]]
    assert learner.plane.post("skills/csv-loader/kill", {})["items"][0]["id"] == stable["id"]
    assert learner.releases(active_only=True)["total"] == 0


def test_promoting_takes_the_right_to_publish(served, learner):
    made = learner.passed()
    writer = Plane(served, learner.plane.name, Scope.WRITE)
    writer.fails("POST", f"skills/candidates/{made['id']}/promote", "forbidden", 403, json={})
    reader = Plane(served, learner.plane.name, Scope.READ)
    reader.fails("POST", f"skills/candidates/{made['id']}/evaluate", "forbidden", 403, json={"passed": True})
    assert reader.get(f"skills/candidates/{made['id']}")["id"] == made["id"]
