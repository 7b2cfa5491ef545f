"""Sandboxes and cargos over HTTP, as clients of the control plane know them."""

import pytest

from skillyard.identity.principals import Scope


def test_a_sandbox_has_every_field_that_clients_read(ana):
    made = ana.sandbox(ttl=3600)
    assert made["status"] == "idle"
    assert made["profile"] == "python-default"
    assert made["capabilities"] == ["python", "shell", "filesystem"]
    assert made["cargo_id"].startswith("cargo-")
    assert made["created_at"] < made["expires_at"]
    assert made["idle_expires_at"] is None
    assert made["containers"] is None
    assert (made["backend"], made["network"], made["labels"], made["isolation"]) == ("unsafe", "none", {}, [])
    assert ana.get(f"sandboxes/{made['id']}") == made
    assert ana.sandbox()["expires_at"] is None


def test_what_is_ours_can_be_asked_for_too(ana):
    made = ana.sandbox(
        network={"allow": ["http://127.0.0.1:8080"]},
        limits={"processes": 16},
        labels={"task": "7"},
        idle_ttl=60,
        profile="shell-default",
    )
    assert made["network"] == {"allow": ["http://127.0.0.1:8080"]}
    assert (made["limits"]["processes"], made["labels"], made["idle_ttl"]) == (16, {"task": "7"}, 60)
    assert made["capabilities"] == ["shell", "filesystem"]


@pytest.mark.parametrize(
    "body",
    [
        {"profile": "none"},
        {"network": "all"},
        {"network": {"allow": ["ftp://x"]}},
        {"limits": {"speed": 3}},
        {"isolation": ["walls"]},
        {"isolation": "moat"},
    ],
)
def test_a_wrong_wish_is_a_validation_error(ana, body):
    error = ana.fails("POST", "sandboxes", "validation_error", 400, json=body)
    assert error["message"]
    assert ana.get("sandboxes")["items"] == []


@pytest.mark.parametrize("body", [{"ttl": "soon"}, {"ttl": -1}, {"limits": {"processes": "many"}}])
def test_a_field_of_another_type_or_out_of_its_range_is_unprocessable(ana, body):
    error = ana.fails("POST", "sandboxes", "validation_error", 422, json=body)
    assert error["details"]["problems"][0]["field"].startswith("body.")


def test_a_sandbox_and_a_cargo_are_made_without_a_body(ana):
    assert ana.request("POST", "sandboxes", 201).json()["profile"] == "python-default"
    assert ana.request("POST", "cargos", 201).json()["size_limit_mb"] == 1024


def test_what_nobody_knows_is_ignored(ana):
    made = ana.sandbox(ttl=60, colour="red", metadata={"a": 1})
    sandbox = f"sandboxes/{made['id']}"
    ana.post(f"{sandbox}/extend_ttl", {"extend_by": 1, "why": "more to do"})
    done = ana.post(f"{sandbox}/python/exec", {"code": "1", "silent": True})
    ana.patch(f"{sandbox}/history/{done['execution_id']}", {"notes": "n", "stars": 5})
    ana.put(f"{sandbox}/filesystem/files", {"path": "a", "content": "1", "mode": "0644"})
    ana.post("cargos", {"name": "mine"}, 201)


def test_a_barrier_that_cannot_be_enforced_is_refused(ana):
    ana.fails("POST", "sandboxes", "session_not_ready", 503, json={"isolation": ["files"]})


def test_a_life_from_making_to_deleting(ana):
    sandbox = f"sandboxes/{ana.sandbox()['id']}"
    assert ana.post(f"{sandbox}/keepalive") == {"status": "ok"}
    assert ana.get(sandbox)["status"] == "idle"
    assert ana.post(f"{sandbox}/python/exec", {"code": "1"})["success"]
    running = ana.get(sandbox)
    assert running["status"] == "ready"
    assert running["idle_expires_at"] > running["created_at"]
    assert running["containers"][0]["healthy"] is True
    assert ana.get(f"{sandbox}/stats")["processes"] >= 1
    for _ in range(2):
        assert ana.post(f"{sandbox}/stop") == {"status": "stopped"}
    assert (ana.get(sandbox)["status"], ana.get(sandbox)["containers"]) == ("idle", None)
    ana.delete(sandbox)
    ana.fails("GET", sandbox, "not_found", 404)
    ana.fails("DELETE", sandbox, "not_found", 404)
    ana.fails("POST", f"{sandbox}/stop", "not_found", 404)


def test_every_call_moves_the_end_of_idleness(ana):
    sandbox = f"sandboxes/{ana.sandbox(idle_ttl=60)['id']}"
    ends = []
    for _ in range(3):
        ana.post(f"{sandbox}/python/exec", {"code": "1"})
        ends.append(ana.get(sandbox)["idle_expires_at"])
    assert ends == sorted(set(ends))
    assert ana.get("sandboxes")["items"][0]["idle_expires_at"] == ends[-1]


def test_others_find_nothing(ana, plane):
    sandbox = f"sandboxes/{ana.sandbox()['id']}"
    for other in (plane("ben"), plane("cyn", admin=True), plane("dan", tenant="elsewhere")):
        other.fails("GET", sandbox, "not_found", 404)
        other.fails("POST", f"{sandbox}/python/exec", "not_found", 404, json={"code": "1"})
        other.fails("GET", f"{sandbox}/filesystem/files", "not_found", 404, params={"path": "x"})
        assert other.get("sandboxes")["items"] == []


def test_whoever_is_unknown_or_may_only_read_is_told_so(ana, plane):
    sandbox = f"sandboxes/{ana.sandbox()['id']}"
    ana.fails("GET", sandbox, "unauthorized", 401, headers={"authorization": "Bearer wrong-token"})
    reader = plane("ana", scope=Scope.READ)
    assert reader.get(sandbox)["status"] == "idle"
    reader.fails("POST", "sandboxes", "forbidden", 403, json={})
    reader.fails("POST", f"{sandbox}/shell/exec", "forbidden", 403, json={"command": "true"})


def test_a_time_is_extended_once_per_key(ana):
    made = ana.sandbox(ttl=3600)
    path = f"sandboxes/{made['id']}/extend_ttl"
    first = ana.post(path, {"extend_by": 100}, headers={"idempotency-key": "key-1"})
    assert first["expires_at"] > made["expires_at"]
    assert ana.post(path, {"extend_by": 100}, headers={"idempotency-key": "key-1"}) == first
    assert ana.post(path, {"extend_by": 100})["expires_at"] > first["expires_at"]
    ana.fails("POST", path, "validation_error", 422, json={"extend_by": 0})
    endless = ana.sandbox()
    ana.fails("POST", f"sandboxes/{endless['id']}/extend_ttl", "sandbox_ttl_infinite", 409, json={"extend_by": 1})


def test_one_key_makes_one_sandbox(ana):
    key = {"idempotency-key": "make-1"}
    first = ana.post("sandboxes", {}, 201, headers=key)
    assert ana.post("sandboxes", {}, 201, headers=key) == first
    ana.fails("POST", "sandboxes", "conflict", 409, json={"ttl": 1}, headers=key)
    ana.fails("POST", "sandboxes", "conflict", 409, json={}, headers={"idempotency-key": "with spaces"})
    assert len(ana.get("sandboxes")["items"]) == 1
    cargo = ana.post("cargos", {}, 201, headers={"idempotency-key": "make-2"})
    assert ana.post("cargos", {}, 201, headers={"idempotency-key": "make-2"}) == cargo


def test_sandboxes_are_listed_page_by_page(ana):
    made = [ana.sandbox()["id"] for _ in range(3)]
    first = ana.get("sandboxes", params={"limit": 2})
    second = ana.get("sandboxes", params={"limit": 2, "cursor": first["next_cursor"]})
    assert [each["id"] for each in (*first["items"], *second["items"])] == made[::-1]
    assert second["next_cursor"] is None
    assert len(ana.get("sandboxes", params={"status": "idle"})["items"]) == 3
    assert ana.get("sandboxes", params={"status": "ready"})["items"] == []
    ana.fails("GET", "sandboxes", "validation_error", 422, params={"status": "tired"})
    ana.fails("GET", "sandboxes", "validation_error", 400, params={"cursor": "?"})
    ana.fails("GET", "sandboxes", "validation_error", 422, params={"limit": 0})


def test_nobody_has_more_than_allowed(start):
    with start(sandbox_backend="unsafe", sandboxes_per_person=1) as served:
        token = served.token("ana")
        assert token.post("/v1/sandboxes", json={}).status_code == 201
        refused = token.post("/v1/sandboxes", json={})
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, "quota_exceeded")


PRIVATE = {"network": {"allow": ["https://example.org", "http://169.254.169.254", "http://localhost:5432"]}}


def test_with_tokens_only_whoever_runs_the_yard_lists_what_is_not_public(start):
    first = "the-first-token-of-all"
    with start(sandbox_backend="unsafe", auth="token", admin_token=first) as served:
        ana = served.token("ana", admin=True)
        refused = ana.post("/v1/sandboxes", json=PRIVATE)
        error = refused.json()["error"]
        assert (refused.status_code, error["code"]) == (403, "forbidden")
        assert error["details"]["value"] == ["http://169.254.169.254:80", "http://localhost:5432"]
        assert "sandbox_allow_private" in error["hint"]
        assert ana.get("/v1/sandboxes").json()["items"] == []
        public = {"network": {"allow": ["https://example.org"]}}
        assert ana.post("/v1/sandboxes", json=public).status_code == 201
        operator = {"authorization": f"Bearer {first}"}
        assert served.client.post("/v1/sandboxes", json=PRIVATE, headers=operator).status_code == 201


@pytest.mark.parametrize(
    ("settings", "status"),
    [
        ({"auth": "token", "sandbox_allow_private": True}, 201),
        ({"auth": "local", "sandbox_allow_private": False}, 403),
        ({"auth": "local"}, 201),
    ],
)
def test_the_settings_say_who_lists_what_is_not_public(start, settings, status):
    with start(sandbox_backend="unsafe", **settings) as served:
        assert served.token("ana").post("/v1/sandboxes", json=PRIVATE).status_code == status


def test_a_cargo_has_every_field_that_clients_read(ana):
    made = ana.post("cargos", {"size_limit_mb": 2048}, 201)
    assert (made["managed"], made["managed_by_sandbox_id"], made["size_limit_mb"]) == (False, None, 2048)
    assert {"backend", "created_at", "last_accessed_at"} <= set(made)
    assert ana.get(f"cargos/{made['id']}") == made
    for wrong in (0, 100_000):
        ana.fails("POST", "cargos", "validation_error", 422, json={"size_limit_mb": wrong})
    ana.fails("GET", "cargos/cargo-none", "not_found", 404)
    ana.delete(f"cargos/{made['id']}")
    ana.fails("DELETE", f"cargos/{made['id']}", "not_found", 404)


def test_a_cargo_outlives_its_sandboxes_but_not_one_that_uses_it(ana):
    cargo = ana.post("cargos", {}, 201)
    user = ana.sandbox(cargo_id=cargo["id"])
    assert user["cargo_id"] == cargo["id"]
    ana.put(f"sandboxes/{user['id']}/filesystem/files", {"path": "kept.txt", "content": "here"})
    error = ana.fails("DELETE", f"cargos/{cargo['id']}", "conflict", 409)
    assert error["details"]["active_sandbox_ids"] == [user["id"]]
    own = ana.sandbox()
    ana.fails("DELETE", f"cargos/{own['cargo_id']}", "conflict", 409)
    assert [each["id"] for each in ana.get("cargos")["items"]] == [cargo["id"]]
    assert [each["id"] for each in ana.get("cargos", params={"managed": True})["items"]] == [own["cargo_id"]]
    ana.delete(f"sandboxes/{user['id']}")
    again = ana.sandbox(cargo_id=cargo["id"])
    read = ana.get(f"sandboxes/{again['id']}/filesystem/files", params={"path": "kept.txt"})
    assert read == {"content": "here"}
    ana.fails("POST", "sandboxes", "not_found", 404, json={"cargo_id": "cargo-none"})


def test_a_snapshot_is_a_cargo(ana):
    made = ana.sandbox()
    ana.put(f"sandboxes/{made['id']}/filesystem/files", {"path": "a", "content": "1"})
    copy = ana.post(f"sandboxes/{made['id']}/snapshot", status=201)
    other = ana.sandbox(cargo_id=copy["id"])
    assert ana.get(f"sandboxes/{other['id']}/filesystem/files", params={"path": "a"}) == {"content": "1"}
