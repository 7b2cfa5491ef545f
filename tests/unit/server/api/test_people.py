import pytest

from skillyard.identity.principals import Scope


def problem(answer):
    return answer.status_code, answer.json()["error"]["code"]


def test_me_says_who_is_asking_and_what_they_may(served):
    jane = served.token("jane", scope=Scope.PUBLISH)
    me = jane.data("me")
    assert (me["name"], me["scope"], me["admin"], me["operator"]) == ("jane", "publish", False, False)
    assert me["tenant"]["name"] == "default"
    assert me["token_id"] == jane.id
    assert [(one["name"], one["kind"], one["role"]) for one in me["namespaces"]] == [
        ("jane", "person", "admin"),
        ("system", "system", "viewer"),
    ]


def test_administrators_add_list_disable_and_enable_people(served):
    adam, bob = served.token("adam", admin=True), served.token("bob")
    made = adam.post("people?reason=hired", json={"name": "eve"})
    assert made.status_code == 201
    assert made.json()["data"]["admin"] is False
    assert {"adam", "bob", "eve"} <= {person["name"] for person in adam.data("people")}
    assert bob.get("me").status_code == 200
    assert adam.post("people/bob/disable").json()["data"]["disabled"] is True
    assert problem(bob.get("me")) == (401, "unauthenticated")
    assert adam.post("people/bob/enable").json()["data"]["disabled"] is False
    assert bob.get("me").status_code == 200
    created = next(entry for entry in adam.data("audit") if entry["subject"]["label"] == "eve")
    assert created["reason"] == "hired"


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "people", None),
        ("POST", "people", {"name": "eve"}),
        ("POST", "people/jane/disable", None),
        ("POST", "people/jane/enable", None),
        ("POST", "tenants", {"name": "acme"}),
        ("GET", "tokens?everyone=true", None),
        ("GET", "audit", None),
    ],
)
def test_others_do_not(served, method, path, body):
    served.token("jane")
    callers = [served.token("bob"), served.token("adam", admin=True, scope=Scope.PUBLISH)]
    for caller in callers:
        assert problem(caller.request(method, path, json=body)) == (403, "not_allowed")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("people", {"name": "Not A Name"}),
        ("people", {"name": "eve", "owner": "me"}),
        ("people", {}),
        ("tokens", {"label": ""}),
        ("tokens", {"label": "x", "scope": "root"}),
        ("tokens", {"label": "x", "expires_in_days": 0}),
        ("namespaces", {"name": ".."}),
    ],
)
def test_wrong_bodies_are_refused_and_nothing_changes(served, path, body):
    adam = served.token("adam", admin=True)
    number = served.number()
    assert problem(adam.post(path, json=body)) == (422, "invalid_input")
    assert served.number() == number


def test_a_team_its_members_and_its_policy(served):
    ana, bob = served.token("ana"), served.token("bob")
    assert ana.post("namespaces", json={"name": "crew"}).json()["data"]["role"] == "admin"
    assert problem(bob.get("namespaces/crew")) == (404, "not_found")
    assert problem(bob.put("namespaces/crew/policy", json={})) == (404, "not_found")
    assert ana.put("namespaces/crew/members/bob", json={"role": "editor"}).status_code == 200
    assert bob.data("namespaces/crew")["role"] == "editor"
    assert [(one["name"], one["role"]) for one in bob.data("namespaces/crew/members")] == [
        ("ana", "admin"),
        ("bob", "editor"),
    ]
    assert problem(bob.put("namespaces/crew/policy", json={})) == (403, "not_allowed")
    policy = ana.put("namespaces/crew/policy", json={"review": True, "file_types": [".MD"]}).json()["data"]["policy"]
    assert policy["review"] is True
    assert policy["file_types"] == [".md"]
    assert problem(ana.put("namespaces/crew/policy", json={"max_files": 0})) == (422, "invalid_input")
    assert problem(ana.delete("namespaces/crew/members/ana")) == (409, "conflict")
    assert bob.delete("namespaces/crew/members/bob").json() == {"success": True, "data": None}
    assert [one["name"] for one in bob.data("namespaces")] == ["bob", "system"]


def test_a_token_is_shown_once_and_never_kept_or_told_again(served):
    ana = served.token("ana")
    key = {"idempotency-key": "k-1"}
    made = ana.post("tokens", json={"label": "ci", "scope": "write", "expires_in_days": 7}, headers=key)
    assert made.status_code == 201
    assert made.headers["cache-control"] == "no-store"
    secret = made.json()["data"]["secret"]
    again = ana.post("tokens", json={"label": "ci", "scope": "write", "expires_in_days": 7}, headers=key)
    assert problem(again) == (409, "already_done")
    assert secret not in ana.get("tokens").text
    assert served.client.get("/api/v1/me", headers={"authorization": f"Bearer {secret}"}).status_code == 200
    ended = ana.delete(f"tokens/{made.json()['data']['id']}").json()["data"]
    assert ended["revoked_at"] is not None
    assert served.client.get("/api/v1/me", headers={"authorization": f"Bearer {secret}"}).status_code == 401


def test_ending_a_token_ends_what_was_made_with_it_unless_that_is_kept(served):
    ana = served.token("ana")
    made = [ana.post("tokens", json={"label": "ci", "scope": "admin"}).json()["data"] for _ in range(2)]
    assert {one["parent_id"] for one in made} == {ana.id}
    kept, lost = ({"authorization": f"Bearer {one['secret']}"} for one in made)
    of_kept = served.client.post("/api/v1/tokens", json={"label": "of kept"}, headers=kept).json()["data"]["secret"]
    assert ana.delete(f"tokens/{made[0]['id']}?keep_made=true").status_code == 200
    me = {"authorization": f"Bearer {of_kept}"}
    assert served.client.get("/api/v1/me", headers=me).status_code == 200
    assert ana.delete(f"tokens/{ana.id}").status_code == 200
    for headers in (kept, lost, me):
        assert served.client.get("/api/v1/me", headers=headers).status_code == 401


def test_the_list_of_tokens_tells_when_each_was_last_used(served):
    ana = served.token("ana")
    assert ana.data("tokens")[0]["last_used_at"] is None
    served.run(served.yard.access.save_last_used)
    assert ana.data("tokens")[0]["last_used_at"] is not None


def test_someone_elses_token_is_not_there(served):
    ana, bob = served.token("ana"), served.token("bob")
    assert problem(bob.delete(f"tokens/{ana.id}")) == (404, "not_found")
    assert ana.get("me").status_code == 200


def test_the_operator_opens_a_tenant_that_sees_nothing_of_the_others(start):
    with start(person="root") as served:
        served.client.post("/api/v1/tenants", json={"name": "acme"}).raise_for_status()
        body = {"name": "zoe", "admin": True, "tenant": "acme"}
        served.client.post("/api/v1/people", json=body).raise_for_status()
        body = {"label": "first", "scope": "admin", "person": "zoe", "tenant": "acme"}
        secret = served.client.post("/api/v1/tokens", json=body).json()["data"]["secret"]
        headers = {"authorization": f"Bearer {secret}"}

        def ask(path):
            return served.client.get(f"/api/v1/{path}", headers=headers).json()["data"]

        assert ask("me")["tenant"]["name"] == "acme"
        assert [person["name"] for person in ask("people")] == ["zoe"]
        assert {entry["subject"]["label"] for entry in ask("audit")} == {"acme", "zoe", "first"}
        assert {one["subject"]["label"] for one in ask("changes")["changes"]} == {"acme", "zoe", "first"}
