import pytest

from skillyard.identity.principals import Scope
from skillyard.server.api import skills, usage


@pytest.fixture
def routers():
    return [skills.router, usage.router]


@pytest.fixture
def skill(ana):
    body = {"name": "tool", "description": "A tool", "content": "Do it.\n"}
    return ana.post("skills", json=body).json()["data"]


def report(person, *events):
    return person.post("usage", json={"events": list(events)})


def test_uses_are_reported_and_counted(ana, skill):
    event = {"id": "e1", "skill": "ana/tool", "version": "1.0.0", "agent": "helper", "event": "failed"}
    answer = report(ana, event, event, {"skill": "ana/none", "event": "shown"}).json()["data"]
    assert (answer["recorded"], answer["repeated"]) == (1, 1)
    assert [each["position"] for each in answer["refused"]] == [2]
    (day,) = ana.get(f"skills/{skill['id']}/usage").json()["data"]
    assert {key: day[key] for key in ("version", "agent", "event", "count")} == {
        "version": "1.0.0",
        "agent": "helper",
        "event": "failed",
        "count": 1,
    }
    (totals,) = ana.get("usage", params={"skill": skill["id"], "days": 1}).json()["data"]
    assert (totals["full_name"], totals["failed"], totals["shown"], totals["failure_rate"]) == ("ana/tool", 1, 0, 1.0)


def test_the_report_names_never_used_and_often_failing(ana, skill):
    report(ana, {"skill": skill["id"], "event": "failed"})
    data = ana.get("usage/report", params={"least": 1}).json()["data"]
    assert [each["full_name"] for each in data["often_failing"]] == ["ana/tool"]
    assert data["never_used"] == []


def test_a_token_to_read_is_enough_to_report(api, skill):
    reader = api.person("ana", scope=Scope.READ)
    assert report(reader, {"skill": "ana/tool", "event": "shown"}).json()["data"]["recorded"] == 1


def test_others_learn_nothing_of_a_private_skill(ana, bob, skill):
    hidden = report(bob, {"skill": skill["id"], "event": "shown"}).json()["data"]
    assert hidden["recorded"] == 0
    assert bob.get(f"skills/{skill['id']}/usage").status_code == 404
    assert bob.get("usage").json()["data"] == []


@pytest.mark.parametrize(
    "event",
    [
        {"skill": "ana/tool"},
        {"skill": "ana/tool", "event": "eaten"},
        {"skill": "ana/tool", "event": "shown", "at": "2026-01-01T00:00:00"},
        {"skill": "ana/tool", "event": "shown", "agent": "x" * 129},
        {"skill": "ana/tool", "event": "shown", "session": "a\nb"},
        {"skill": "ana/tool", "event": "shown", "id": ""},
        {"skill": "ana/tool", "event": "shown", "owner": "me"},
    ],
)
def test_a_wrong_event_is_refused(ana, event):
    assert report(ana, event).status_code == 422


def test_too_many_events_are_refused(ana):
    assert report(ana, *[{"skill": "ana/tool", "event": "shown"}] * 1001).status_code == 422
