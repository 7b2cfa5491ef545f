import pytest

from skillyard.server.api import outcomes, skills, usage


@pytest.fixture
def routers():
    return [skills.router, usage.router, outcomes.router]


@pytest.fixture
def skill(ana):
    body = {"name": "tool", "description": "A tool", "content": "Do it.\n"}
    return ana.post("skills", json=body).json()["data"]


def test_an_outcome_is_counted_and_says_why_it_is_no_run(ana, skill):
    body = {"skill": "ana/tool", "succeeded": False, "agent": "helper", "session": "s1", "id": "o1", "detail": "no"}
    told = ana.post("outcomes", json=body).json()["data"]
    assert (told["event"], told["recorded"], told["skill"], told["version"]) == ("failed", True, "ana/tool", "")
    assert (told["release_id"], told["run_id"]) == (None, None)
    assert "Which version was used is not known" in told["remark"]
    assert ana.post("outcomes", json=body).json()["data"]["recorded"] is False
    (totals,) = ana.get("usage").json()["data"]
    assert (totals["failed"], totals["succeeded"]) == (1, 0)


def test_a_skill_that_cannot_be_seen_is_not_there(bob, skill):
    answer = bob.post("outcomes", json={"skill": skill["id"], "succeeded": True})
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    "body",
    [
        {"skill": "ana/tool"},
        {"succeeded": True},
        {"skill": "ana/tool", "succeeded": True, "session": "line\nbreak"},
        {"skill": "ana/tool", "succeeded": True, "detail": "x" * 2001},
        {"skill": "ana/tool", "succeeded": True, "execution_ids": ["e"] * 101},
        {"skill": "ana/tool", "succeeded": True, "more": 1},
    ],
)
def test_what_is_wrong_is_refused(ana, skill, body):
    assert ana.post("outcomes", json=body).status_code == 422
