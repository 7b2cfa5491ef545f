import pytest

from skillyard.server.api import similar, skills

TEXT = " ".join(f"step{number} does thing{number * 7 % 31} and then goes on" for number in range(60))
OTHER = "Something else entirely, about painting. " * 12


@pytest.fixture
def routers():
    return [skills.router, similar.router]


def make(person, name, content=TEXT, **more):
    body = {"name": name, "description": "Reads tables.", "content": content, **more}
    answer = person.post("skills", json=body)
    assert answer.status_code == 201, answer.text
    return answer.json()["data"]


def like(person, skill, **params):
    answer = person.get(f"skills/{skill['id']}/similar", params=params)
    assert answer.status_code == 200, answer.text
    return [(one["full_name"], one["kind"], one["differs"]) for one in answer.json()["data"]["similar"]]


def test_copies_variants_and_namesakes_are_told(ana, bob):
    mine = make(ana, "tables")
    make(ana, "sheets")
    make(ana, "tables-2", f"{TEXT} and more")
    make(ana, "unlike", OTHER, description="Paints.")
    make(bob, "tables", OTHER, description="Paints.", is_public=True)
    make(bob, "copy", is_public=True)
    assert sorted(like(ana, mine)) == [
        ("ana/sheets", "exact", ["name"]),
        ("ana/tables-2", "near", ["name", "body"]),
        ("bob/copy", "exact", ["name"]),
        ("bob/tables", "same-name", ["description", "body"]),
    ]
    assert [kind for _, kind, _ in like(ana, mine)] == ["exact", "exact", "near", "same-name"]


def test_what_others_keep_private_never_takes_part(ana, bob):
    mine = make(ana, "tables")
    theirs = make(bob, "tables")
    make(bob, "sheets")
    assert like(ana, mine) == []
    assert like(bob, theirs) == [("bob/sheets", "exact", ["name"])]
    assert ana.get(f"skills/{theirs['id']}/similar").status_code == 404


def test_a_skill_that_is_hidden_again_or_deleted_is_no_longer_told(ana, bob):
    mine = make(ana, "tables")
    theirs = make(bob, "sheets", is_public=True)
    assert [name for name, *_ in like(ana, mine)] == ["bob/sheets"]
    assert bob.put(f"skills/{theirs['id']}", json={"is_public": False}).status_code == 200
    assert like(ana, mine) == []
    own = make(ana, "sheets")
    assert [name for name, *_ in like(ana, mine)] == ["ana/sheets"]
    assert ana.delete(f"skills/{own['id']}").status_code == 200
    assert like(ana, mine) == []


def test_what_differs_in_files_alone_is_a_variant(ana):
    mine = make(ana, "tables")
    make(ana, "sheets", files=[{"path": "notes.md", "content": "More."}])
    assert like(ana, mine) == [("ana/sheets", "near", ["name", "files"])]


def test_an_edit_is_seen_at_once(ana):
    mine, other = make(ana, "tables"), make(ana, "sheets", OTHER, description="Paints.")
    assert like(ana, mine) == []
    assert ana.put(f"skills/{other['id']}", json={"content": TEXT}).status_code == 200
    assert like(ana, mine) == [("ana/sheets", "near", ["name", "description"])]


@pytest.mark.parametrize("threshold", ["0.4", "1.1", "nan", "much"])
def test_a_threshold_that_means_nothing_is_refused(ana, threshold):
    mine = make(ana, "tables")
    assert ana.get(f"skills/{mine['id']}/similar", params={"threshold": threshold}).status_code == 422


def test_a_skill_without_text_can_be_asked_about(ana):
    mine = make(ana, "tables", "", description="。")
    assert like(ana, mine) == []
