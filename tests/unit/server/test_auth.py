from datetime import UTC, datetime, timedelta

import pytest

from skillyard.errors import UnauthenticatedError
from skillyard.identity.principals import Scope
from skillyard.server.auth import Doorkeeper, bearer_token
from skillyard.server.cache import FRESH_UNTIL

ADMIN = "an-administrators-token"


def problem(answer):
    return answer.status_code, answer.json()["error"]["code"]


@pytest.mark.parametrize("value", [b"Bearer sky_a", b"bearer sky_a", b"BEARER  sky_a", b"bEaReR sky_a "])
def test_the_scheme_is_written_in_any_case(value):
    assert bearer_token(value) == "sky_a"


@pytest.mark.parametrize(
    "value", [b"", b"Bearer", b"Bearer ", b"sky_a", b"Basic c2t5X2E=", b"Bearer a b", b"Bearer\tsky_a", b"Bearer \xff"]
)
def test_other_credentials_are_refused_and_not_overlooked(value):
    with pytest.raises(UnauthenticatedError):
        bearer_token(value)


@pytest.mark.parametrize("path", ["/api/v1/me", "/", "/openapi.json", "/metrics", "/nowhere", "/api/v1/events"])
def test_without_a_token_nothing_is_shown(served, path):
    answer = served.client.get(path)
    assert problem(answer) == (401, "unauthenticated")
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_probes_need_none_and_look_at_none(served, path):
    assert served.client.get(path).status_code == 200
    assert served.client.get(path, headers={"authorization": "Bearer wrong"}).status_code == 200


def test_discovery_is_open_to_everyone_but_not_to_a_wrong_token(served):
    path = "/.well-known/agent-skills/index.json"
    assert served.client.get(path).status_code == 200
    assert served.client.get(path, headers={"authorization": "Bearer wrong"}).status_code == 401
    assert served.client.get("/.well-known/other").status_code == 401


def test_a_token_in_the_query_is_none(served):
    ana = served.token("ana")
    for name in ("token", "access_token", "authorization"):
        assert served.client.get(f"/api/v1/me?{name}={ana.secret}").status_code == 401


def test_metrics_are_for_administrators_whatever_their_tokens_scope(served):
    assert problem(served.token("ana").get("/metrics")) == (403, "not_allowed")
    watcher = served.token("watcher", admin=True, scope=Scope.READ)
    assert "skillyard_requests" in watcher.get("/metrics").text


def test_metrics_are_for_whoever_is_at_the_machine_of_a_local_server(start):
    with start(person="root") as served:
        assert "skillyard_requests" in served.client.get("/metrics").text
        assert problem(served.token("ana").get("/metrics")) == (403, "not_allowed")


def test_a_wrong_an_ended_and_no_valid_token_get_the_same_answer(served):
    ana, other = served.token("ana"), served.token("ana")
    assert ana.get("me").status_code == 200
    other.delete(f"tokens/{ana.id}")
    wrong = served.client.get("/api/v1/me", headers={"authorization": "Bearer sky_wrong"})
    ended = ana.get("me")
    assert problem(ended) == (401, "unauthenticated")
    assert ended.json() == wrong.json()


def test_a_kept_answer_is_not_told_to_others_nor_after_the_token_ended(served):
    ana, bob = served.token("ana"), served.token("bob", admin=True)
    for _ in range(2):
        assert ana.data("me")["name"] == "ana"
        assert bob.data("me")["name"] == "bob"
    assert b"skillyard_cache_hits_total 2.0" in bob.get("/metrics").content
    bob.delete(f"tokens/{bob.id}")
    assert bob.get("me").status_code == 401


def test_an_answer_is_kept_no_longer_than_its_token_lasts(served):
    now = datetime.now(UTC)
    keeper = Doorkeeper(served.yard.access, clock=lambda: now)

    def fresh_until(caller):
        scope = {"path": "/api/v1/me", "headers": [(b"authorization", f"Bearer {caller.secret}".encode())]}
        served.run(keeper.enter, scope)
        return datetime.fromtimestamp(scope["state"][FRESH_UNTIL], UTC)

    soon = served.token("ana", expires_in=timedelta(seconds=20))
    assert fresh_until(soon) == soon.served.run(served.yard.access.by_token, soon.secret).until
    # One that lasts is asked for again each minute, so that when it was last used is known.
    assert fresh_until(served.token("ana")) == now + timedelta(minutes=1)


def test_the_one_at_this_machine_needs_no_token_and_may_use_one(start):
    with start(person="root") as served:
        me = served.client.get("/api/v1/me").json()["data"]
        assert (me["name"], me["operator"], me["token_id"]) == ("root", True, None)
        ana = served.token("ana", scope=Scope.READ)
        assert ana.data("me")["name"] == "ana"
        assert ana.data("me")["scope"] == "read"
        for wrong in ("Bearer sky_wrong", "Basic abc"):
            assert served.client.get("/api/v1/me", headers={"authorization": wrong}).status_code == 401


def test_a_local_server_takes_no_request_from_elsewhere(start):
    with start(person="root") as served:
        for headers in ({"host": "evil.example"}, {"x-forwarded-for": "1.2.3.4"}, {"origin": "https://evil.example"}):
            assert served.client.get("/api/v1/me", headers=headers).status_code == 403


def test_a_server_for_others_takes_any_name(served):
    ana = served.token("ana")
    assert ana.get("me", headers={"host": "yard.example"}).status_code == 200


def test_the_folders_of_the_machine_are_for_whoever_runs_it(start):
    with start(admin_token=ADMIN) as served:
        path = "/api/v1/library/skills"
        assert problem(served.token("ana", admin=True).get(path)) == (403, "not_allowed")
        assert served.client.get(path, headers={"authorization": f"Bearer {ADMIN}"}).status_code == 200


def test_an_idempotent_request_is_told_again_to_the_same_caller_only(served):
    ana, bob = served.token("ana"), served.token("bob")
    key = {"idempotency-key": "k-1"}
    first = ana.post("namespaces", json={"name": "crew"}, headers=key)
    again = ana.post("namespaces", json={"name": "crew"}, headers=key)
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.headers["idempotency-replayed"] == "true"
    assert problem(bob.post("namespaces", json={"name": "crew"}, headers=key)) == (409, "conflict")
    nobody = served.client.post("/api/v1/namespaces", json={"name": "crew"}, headers=key)
    assert problem(nobody) == (401, "unauthenticated")


def test_who_waits_too_long_to_write_is_told_when_to_come_back(served, monkeypatch):
    ana = served.token("ana")
    monkeypatch.setattr(served.yard.database, "_busy_seconds", 0.01)
    served.run(served.yard.database._pen.acquire)
    answer = ana.post("namespaces", json={"name": "crew"})
    assert problem(answer) == (503, "busy")
    assert answer.headers["retry-after"] == "2"
    served.client.portal.call(served.yard.database._pen.release)
    assert ana.post("namespaces", json={"name": "crew"}).status_code == 201


def test_too_many_requests_are_refused_per_token(start):
    with start(rate_limit=60) as served:
        ana, bob = served.token("ana"), served.token("bob")
        assert ana.get("me").status_code == bob.get("me").status_code == 200
        statuses = {ana.get("me").status_code for _ in range(15)}
        assert statuses == {200, 429}
        assert bob.get("me").status_code == 200
