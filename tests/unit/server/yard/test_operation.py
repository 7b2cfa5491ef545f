"""Profiles, the sweep, health, and errors that come before any route."""


def test_profiles_tell_what_each_can_do(ana):
    items = {item["id"]: item for item in ana.get("profiles")["items"]}
    default = items["python-default"]
    assert default["capabilities"] == ["python", "shell", "filesystem"]
    assert default["idle_timeout"] == 1800
    assert default["resources"] == {"cpus": 1.0, "memory": "1024m"}
    assert default["image"]
    assert (default["description"], default["containers"]) == (None, None)
    assert "browser" in items["browser-python"]["capabilities"]
    detailed = ana.get("profiles", params={"detail": True})["items"][0]
    assert detailed["description"]
    assert detailed["containers"][0]["resources"] == default["resources"]


def test_administrators_sweep(plane):
    boss, ana = plane("boss", admin=True), plane("ana")
    ana.sandbox(ttl=3600)
    swept = boss.post("admin/gc/run")
    assert [task["task_name"] for task in swept["results"]] == [
        "idle_session",
        "expired_sandbox",
        "orphan_cargo",
        "orphan_container",
    ]
    assert (swept["total_cleaned"], swept["total_errors"]) == (0, 0)
    assert len(boss.post("admin/gc/run", {"tasks": ["orphan_cargo"]})["results"]) == 1
    assert boss.post("admin/gc/run", {"tasks": ["orphan_workspace"]})["results"] == []
    assert len(boss.post("admin/gc/run", {"tasks": ["idle_session", "tea"]})["results"]) == 1
    status = boss.get("admin/gc/status")
    assert (status["enabled"], status["is_running"]) == (True, False)
    assert status["instance_id"].startswith("host-")
    assert status["tasks"]["idle_session"] == {"enabled": True}
    ana.fails("POST", "admin/gc/run", "forbidden", 403)
    ana.fails("GET", "admin/gc/status", "forbidden", 403)


def test_health_needs_no_token(plane, ana):
    answer = ana.token.served.client.get("/health")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


def test_errors_before_and_beside_the_routes_have_the_same_shape(ana):
    ana.fails("GET", "nowhere", "not_found", 404)
    ana.fails("PATCH", "sandboxes", "validation_error", 405)
    ana.fails("POST", "sandboxes", "validation_error", 422, content=b"{", headers={"content-type": "application/json"})
    ana.fails("POST", "sandboxes", "limit_exceeded", 413, content=b"x" * (21 * 1024 * 1024))
    answer = ana.token.served.client.get("/v1/sandboxes")
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "unauthorized")
    other = ana.token.request("GET", "/api/v1/nowhere")
    assert other.json()["success"] is False
