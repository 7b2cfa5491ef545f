import pytest

from skillyard.server.api import agents, skills


@pytest.fixture
def routers():
    return [skills.router, agents.router]


@pytest.fixture
def boss(api):
    return api.person("boss", admin=True)


@pytest.fixture
def skill(ana):
    body = {"name": "tool", "description": "A tool", "content": "Do it.\n", "is_public": True}
    return ana.post("skills", json=body).json()["data"]


@pytest.fixture
def helper(boss):
    answer = boss.post("agents", json={"id": "helper", "name": "Helper", "role": "Helps", "goal": "Peace"})
    assert answer.status_code == 201
    return answer.json()["data"]


def attached(person, url="agents/helper/skills"):
    return [(each["full_name"], each["version"], each["via"]) for each in person.get(url).json()["data"]["attached"]]


def test_an_agent_is_made_listed_changed_and_deleted(boss, ana, helper):
    assert {key: helper[key] for key in ("id", "name", "role", "goal")} == {
        "id": "helper",
        "name": "Helper",
        "role": "Helps",
        "goal": "Peace",
    }
    assert ana.get("agents").json()["data"] == [helper]
    changed = boss.put("agents/helper", json={"goal": "Quiet"}).json()["data"]
    assert changed == {**helper, "goal": "Quiet"} == ana.get("agents/helper").json()["data"]
    assert boss.delete("agents/helper").status_code == 200
    assert boss.get("agents/helper").status_code == 404
    assert boss.post("agents", json={"name": "Helper"}).status_code == 201


def test_who_does_not_administer_the_tenant_changes_nothing(ana, helper, skill):
    assert ana.post("agents", json={"name": "x"}).status_code == 403
    assert ana.put("agents/helper", json={}).status_code == 403
    assert ana.delete("agents/helper").status_code == 403
    assert ana.put(f"agents/helper/skills/{skill['id']}", json={}).status_code == 403
    assert ana.put(f"tenant/skills/{skill['id']}", json={}).status_code == 403
    assert ana.post("agents/apply", json={}).status_code == 403


def test_skills_are_attached_to_an_agent_and_to_all(boss, ana, helper, skill):
    made = boss.put(f"tenant/skills/{skill['id']}", json={"version": "latest"}).json()["data"]
    assert made == {"skill_id": skill["id"], "full_name": "ana/tool", "version": "", "via": "tenant"}
    assert attached(ana) == attached(ana, "tenant/skills") == [("ana/tool", "", "tenant")]
    boss.put(f"agents/helper/skills/{skill['id']}", json={})
    assert attached(ana) == [("ana/tool", "", "agent")]
    locked = ana.get("agents/helper/skills").json()["data"]["locked"]
    assert [(item["full_name"], item["version"], item["digest"]) for item in locked] == [
        ("ana/tool", None, skill["digest"])
    ]
    assert boss.put(f"agents/helper/skills/{skill['id']}", json={"version": "2"}).status_code == 404
    assert boss.delete(f"agents/helper/skills/{skill['id']}").status_code == 200
    assert boss.delete(f"tenant/skills/{skill['id']}").status_code == 200
    assert boss.delete(f"tenant/skills/{skill['id']}").status_code == 404
    assert attached(ana) == []


def test_a_declaration_is_applied(boss, helper, skill):
    body = {
        "agents": [{"id": "helper", "goal": "Quiet", "skills": ["ana/tool"]}, {"id": "new"}],
        "everyone": {"skills": []},
    }
    rehearsed = boss.post("agents/apply", json={**body, "dry_run": True}).json()["data"]
    assert rehearsed["applied"] is False
    assert boss.get("agents/new").status_code == 404
    done = boss.post("agents/apply", json=body).json()["data"]
    assert done == {**rehearsed, "applied": True}
    assert [(step["action"], step["agent"], step["skill"]) for step in done["steps"]] == [
        ("update", "helper", None),
        ("attach", "helper", "ana/tool"),
        ("create", "new", None),
    ]
    assert boss.post("agents/apply", json=body).json()["data"]["steps"] == []


@pytest.mark.parametrize(
    "body",
    [
        {"agents": [{"name": "x"}]},
        {"agents": [{"id": "a/b"}]},
        {"agents": [{"id": "a"}, {"id": "a"}]},
        {"agents": [{"id": "a", "skills": ["no/where"]}]},
        {"agents": [{"id": "a", "skills": ["@"]}]},
        {"agents": {"a": {}}},
        {"agents": [], "extra": 1},
    ],
)
def test_a_wrong_declaration_is_refused(boss, body):
    answer = boss.post("agents/apply", json=body)
    assert answer.status_code == 422
    assert answer.json()["error"]["hint"]
    assert boss.get("agents").json()["data"] == []


@pytest.mark.parametrize("body", [{}, {"name": ""}, {"name": "x", "id": "a/b"}, {"name": "x", "owner": "me"}])
def test_a_wrong_agent_is_refused(boss, body):
    assert boss.post("agents", json=body).status_code == 422
