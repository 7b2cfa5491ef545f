"""`GET /search`: what it answers, what it refuses, and how long an answer is kept."""

import shutil

import pytest

from skillyard.app.yard import search_folder
from skillyard.registry.skills import Visibility


@pytest.fixture
def ana(served):
    return served.token("ana")


def search(caller, query, **given):
    answer = caller.get("search", params={"q": query, **given})
    assert answer.status_code == 200, answer.text
    return answer.json()


def names(answer):
    return [skill["full_name"] for skill in answer["data"]]


def written(caller, name, description, **given):
    answer = caller.post("skills", json={"name": name, "description": description, **given})
    assert answer.status_code == 201, answer.text
    return answer.json()["data"]


def test_a_hit_is_the_summary_of_the_skill_with_its_score_and_why_it_was_found(ana):
    made = written(ana, "walrus-feeder", "Feeds a walrus.", content="# Feeding\n", tags=["sea"])
    written(ana, "pdf-tables", "Extracts tables from PDF files.")
    found = search(ana, "feed the walrus")
    assert found["success"] is True
    assert (found["total"], found["is_more"]) == (1, False)
    (hit,) = found["data"]
    summary = ana.get("skills", params={"view": "summary", "q": "walrus"}).json()["data"][0]
    score, snippet = hit.pop("score"), hit.pop("snippet")
    assert hit == summary
    assert hit["id"] == made["id"]
    assert score > 0
    assert [snippet["text"][start:end] for start, end in snippet["marks"]] == ["Feeds", "walrus"]


def test_an_unrelated_query_finds_nothing(ana):
    written(ana, "walrus-feeder", "Feeds a walrus.")
    assert search(ana, "quarterly tax return")["data"] == []


def test_the_best_come_first_and_no_more_than_asked_for(ana):
    for number in range(5):
        written(ana, f"walrus-{number}", f"Feeds walrus number {number}.")
    written(ana, "walrus", "Feeds it.")
    assert names(search(ana, "walrus", limit=1)) == ["ana/walrus"]
    found = search(ana, "walrus", limit=3)
    assert len(found["data"]) == 3
    assert found["total"] == 6


def test_filters_narrow_the_search(served, ana):
    written(ana, "walrus-a", "Feeds a walrus.", tags=["sea", "big"])
    written(ana, "walrus-b", "Feeds a walrus.", tags=["sea"], is_public=True)
    bob = served.token("bob")
    written(bob, "walrus-c", "Feeds a walrus.", is_public=True)
    assert sorted(names(search(ana, "walrus"))) == ["ana/walrus-a", "ana/walrus-b", "bob/walrus-c"]
    assert names(search(ana, "walrus", namespace="bob")) == ["bob/walrus-c"]
    assert names(search(ana, "walrus", tag=["sea", "big"])) == ["ana/walrus-a"]
    assert names(search(ana, "walrus", visibility="private")) == ["ana/walrus-a"]
    assert search(ana, "walrus", stage="published")["data"] == []
    assert len(search(ana, "walrus", stage="draft")["data"]) == 3
    assert names(search(bob, "walrus", namespace="ana")) == ["ana/walrus-b"]


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({}, "q"),
        ({"q": ""}, "q"),
        ({"q": " \n"}, "q"),
        ({"q": "x", "limit": 0}, "limit"),
        ({"q": "x", "limit": 101}, "limit"),
        ({"q": "x", "stage": "canary-ish"}, "stage"),
        ({"q": "x", "visibility": "secret"}, "visibility"),
        ({"q": "x", "tag": ["t"] * 21}, "tag"),
    ],
    ids=str,
)
def test_what_is_no_query_is_refused_with_the_field(ana, given, field):
    answer = ana.get("search", params=given)
    assert answer.status_code == 422
    error = answer.json()["error"]
    assert error["code"] == "invalid_input"
    assert field in str(error)
    assert error["hint"]


@pytest.mark.parametrize(
    "query",
    [
        "\x01\x02",
        "\x1b[2J",
        "walrus AND (",
        'name:"x" OR *:*',
        "*",
        "?",
        "a" * 5_000,
        "walrus " * 4_000,
        "산" * 3_000,
        "\ufffd",
    ],
    ids=lambda query: ascii(query)[:20],
)
def test_any_text_is_a_query(ana, query):
    written(ana, "walrus-feeder", "Feeds a walrus.")
    assert set(names(search(ana, query))) <= {"ana/walrus-feeder"}
    assert names(search(ana, "walrus")) == ["ana/walrus-feeder"]


def test_an_answer_is_kept_until_the_next_change(ana):
    written(ana, "walrus-feeder", "Feeds a walrus.")
    first = ana.get("search?q=walrus")
    etag = first.headers["etag"]
    assert ana.get("search?q=walrus", headers={"if-none-match": etag}).status_code == 304
    written(ana, "walrus-washer", "Washes a walrus.")
    second = ana.get("search?q=walrus", headers={"if-none-match": etag})
    assert sorted(names(second.json())) == ["ana/walrus-feeder", "ana/walrus-washer"]


def test_an_answer_that_misses_the_last_change_is_not_kept(start, monkeypatch):
    with start() as served:
        ana = served.token("ana")
        written(ana, "walrus-feeder", "Feeds a walrus.")
        assert len(search(ana, "walrus")["data"]) == 1
        # As in a process that does not write the index, while the one that does is slow.
        index = served.yard.search.index
        monkeypatch.setattr(index._folder, "take_pen", lambda: False)
        written(ana, "walrus-washer", "Washes a walrus.")
        assert len(search(ana, "walrus")["data"]) == 1
        monkeypatch.undo()
        assert len(search(ana, "walrus")["data"]) == 2


def test_without_an_index_the_answer_says_so_and_later_it_is_there(start, tmp_path):
    blocked = search_folder(tmp_path / "home")
    blocked.parent.mkdir(parents=True)
    blocked.write_text("in the way")
    with start() as served:
        ana = served.token("ana")
        answer = ana.get("search?q=walrus")
        assert answer.status_code == 503
        assert answer.json()["error"]["code"] == "unavailable"
        assert str(tmp_path) not in answer.text
    blocked.unlink()
    with start() as served:
        assert search(served.token("ana"), "walrus")["data"] == []
    shutil.rmtree(blocked)


def test_what_is_shown_to_some_is_not_found_by_others(served, ana):
    bob = served.token("bob")
    made = served.skill(ana, "walrus")
    assert search(bob, "walrus") == {"success": True, "data": [], "total": 0, "is_more": False}
    served.skill(ana, "walrus-shown", visibility=Visibility.PUBLIC)
    assert names(search(bob, "walrus")) == ["ana/walrus-shown"]
    assert ana.put(f"skills/{made.id}", json={"is_public": True}).status_code == 200
    assert len(search(bob, "walrus")["data"]) == 2
