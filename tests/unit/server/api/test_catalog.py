import pytest

from skillyard.identity.principals import Scope
from skillyard.server.api import catalog, skills, usage


@pytest.fixture
def routers():
    return [skills.router, usage.router, catalog.router]


@pytest.fixture
def publish(api):
    def _publish(person, name, description, *, is_public=True):
        body = {"name": name, "description": description, "content": "Do it.\n", "is_public": is_public}
        return person.post("skills", json=body).json()["data"]

    return _publish


def text(person, **params):
    return person.get("catalog", params={"format": "markdown", **params}).json()["data"]["text"]


def test_everyone_gets_what_they_may_see_and_nothing_else(ana, bob, publish):
    publish(ana, "pdf-forms", "Fills in PDF forms.")
    publish(ana, "secret", "Nobody's business.", is_public=False)
    assert text(bob) == "- ana/pdf-forms: Fills in PDF forms."
    assert text(ana) == "- ana/pdf-forms: Fills in PDF forms.\n- ana/secret: Nobody's business."
    assert "secret" not in text(bob, q="Nobody's business")
    assert bob.get("catalog", params={"pin": "ana/secret"}).status_code == 404


def test_a_change_is_in_the_next_catalog(ana, publish):
    skill = publish(ana, "tool", "Old.")
    assert text(ana) == "- ana/tool: Old."
    ana.put(f"skills/{skill['id']}", json={"description": "New."})
    assert text(ana) == "- ana/tool: New."
    ana.delete(f"skills/{skill['id']}")
    assert text(ana) == ""


def test_what_fits_the_query_comes_first_and_what_is_pinned_before_it(ana, publish):
    for name, what in (("a", "Cooks soup."), ("forms", "Fills in PDF forms."), ("z", "Reviews SQL queries.")):
        publish(ana, name, what)
    assert text(ana, q="a PDF form to fill in").startswith("- ana/forms: ")
    lines = text(ana, q="a PDF form to fill in", pin=["z", "ana/a"]).splitlines()
    assert [line.split(":")[0] for line in lines] == ["- ana/z", "- ana/a", "- ana/forms"]


def test_used_skills_come_first(ana, publish):
    for name in ("a", "b"):
        publish(ana, name, "Does it.")
    ana.post("usage", json={"events": [{"skill": "ana/b", "event": "loaded"}]})
    assert text(ana).startswith("- ana/b: ")


def test_the_budget_holds_and_the_counts_are_told(ana, publish):
    for number in range(12):
        publish(ana, f"skill-{number:02}", "Does one thing well. " * 10)
    data = ana.get("catalog", params={"budget": 700}).json()["data"]
    assert data["characters"] == len(data["text"]) <= 700
    assert 8 < data["shown"] == data["whole"] + data["shortened"] + data["named"] <= data["total"] == 12
    assert data["naive_characters"] > 2000
    assert "<location>" not in data["text"]


@pytest.mark.parametrize("params", [{"budget": 199}, {"budget": "x"}, {"format": "html"}, {"pin": ["x"] * 51}])
def test_a_wrong_request_is_refused(ana, params):
    answer = ana.get("catalog", params=params)
    assert answer.status_code == 422
    assert answer.json()["error"]["code"] == "invalid_input"


def test_a_token_to_read_is_enough(api, ana, publish):
    publish(ana, "tool", "Does it.")
    assert text(api.person("ana", scope=Scope.READ)) == "- ana/tool: Does it."
