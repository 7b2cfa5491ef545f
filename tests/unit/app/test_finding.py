from skillyard.app import finding
from skillyard.app.finding import find_skills
from skillyard.errors import NotFoundError
from skillyard.skill.document import parse
from skillyard.skill.library import Catalog, SkillEntry

BODIES = {"paint": "Uses the aardvark brush.", "table": "Reads cells."}


class Shelf:
    """A library of two skills, one of which may have gone away."""

    label = "shelf"

    def __init__(self, *gone):
        self.gone = gone
        self.reads = 0

    def catalog(self):
        return Catalog(entries=[SkillEntry(name, name, f"Does {name} work.", f"/{name}", "shelf") for name in BODIES])

    def read(self, entry):
        self.reads += 1
        if entry.id in self.gone:
            raise NotFoundError("gone")
        return parse(f"---\nname: {entry.id}\ndescription: d\n---\n{BODIES[entry.id]}".encode())

    def bundle(self, entry):
        raise NotImplementedError


def test_names_descriptions_and_bodies_are_searched():
    assert find_skills(Shelf(), "table work")[0].entry.id == "table"
    assert [match.entry.id for match in find_skills(Shelf(), "aardvark")] == ["paint"]


def test_a_skill_that_goes_away_does_not_stop_the_search():
    assert [match.entry.id for match in find_skills(Shelf("paint"), "table")] == ["table"]


def test_large_libraries_are_searched_without_their_bodies(monkeypatch):
    monkeypatch.setattr(finding, "MAX_WITH_BODIES", 1)
    shelf = Shelf()
    assert find_skills(shelf, "aardvark") == []
    assert shelf.reads == 0


def test_no_more_than_the_limit_is_found():
    assert len(find_skills(Shelf(), "work", limit=1)) == 1
