"""Lists: what was chosen holds on every page of them."""

import re

import pytest
from tests.page_forms import PageClient


@pytest.fixture(scope="module")
def pages(yard):
    with PageClient(yard.url) as client:
        yield client


def walked(pages, path):
    """Every page of a list, from the first on."""
    while path:
        text = pages.get(path).text
        yield text
        found = re.search(r'<a class="button" href="(/?[^"]*\?[^"]+)">', text)
        path = found and (found[1] if found[1].startswith("/") else path.partition("?")[0] + found[1])
        path = path and path.replace("&amp;", "&")


def test_skills_of_one_visibility_are_all_listed(pages):
    for at in range(60):
        text = {"name": f"open-{at}", "description": "Open. Use it.", "content": "x", "visibility": "discoverable"}
        assert pages.post("/api/v1/skills", json=text).status_code == 201
    found = [
        name
        for text in walked(pages, "/skills?visibility=discoverable")
        for name in re.findall(r"open-\d+(?=</a>)", text)
    ]
    assert len(found) == len(set(found)) == 60
    assert "open-1" not in pages.get("/skills?visibility=private").text


def test_candidates_that_fit_a_question_are_narrowed_and_paged(pages, yard):
    sandbox = yard.client.sandboxes.create()["id"]
    run = yard.client.sandboxes.shell(sandbox, "echo 3 > lines.txt")["execution_id"]
    for at in range(110):
        made = {"skill_key": f"count-{at}", "source_execution_ids": [run], "summary": "Counts lines. Use to count."}
        candidate = pages.post("/v1/skills/candidates", json=made).json()["id"]
        if at == 7:
            judged = pages.post(f"/v1/skills/candidates/{candidate}/evaluate", json={"passed": False, "report": "no"})
            assert judged.status_code == 200
    names = [
        name
        for text in walked(pages, "/releases/candidates?q=count")
        for name in re.findall(r"count-\d+(?=</a>)", text)
    ]
    assert len(names) == len(set(names)) == 110
    for narrowed in ("status=rejected", "skill_key=count-7"):
        found = pages.get(f"/releases/candidates.json?q=count&{narrowed}").json()["data"]
        assert [each["skill_key"] for each in found["items"]] == ["count-7"]
        assert found["total"] == 1
    board = pages.get("/releases").text
    assert '<a href="/releases/candidates?status=rejected">1 was rejected</a>' in board
    assert "status=rolled_back" not in board


def test_the_next_page_of_memories_still_has_what_no_longer_holds(pages):
    for at in range(101):
        assert pages.post("/api/v1/memories", json={"text": f"Memory number {at}."}).is_success
    first = pages.get("/learning/memories?everything=true").text
    assert re.search(r"cursor=[^\"]+everything=true", first)
