import os
import time

from skillyard.app import searching
from skillyard.app.searching import SkillSearch
from skillyard.errors import NotFoundError
from skillyard.library.folder import FolderLibrary
from skillyard.search.index import Index
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


def ids(matches):
    return [match.entry.id for match in matches.best]


def test_names_descriptions_and_bodies_are_searched():
    assert ids(SkillSearch(Shelf()).search("table work"))[0] == "table"
    assert ids(SkillSearch(Shelf()).search("aardvark")) == ["paint"]


def test_a_skill_that_goes_away_does_not_stop_the_search():
    assert ids(SkillSearch(Shelf("paint")).search("table")) == ["table"]


def test_large_libraries_are_searched_without_their_bodies(monkeypatch):
    monkeypatch.setattr(searching, "MAX_WITH_BODIES", 1)
    shelf = Shelf()
    assert ids(SkillSearch(shelf).search("aardvark")) == []
    assert shelf.reads == 0


def test_no_more_than_the_limit_is_told_but_all_are_counted():
    found = SkillSearch(Shelf()).search("work", limit=1)
    assert len(found.best) == 1
    assert found.total == 2


class Counting(FolderLibrary):
    reads = 0

    def read(self, entry):
        self.reads += 1
        return super().read(entry)


def write(root, name, body, *, age):
    folder = root / name
    folder.mkdir(exist_ok=True)
    (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: Does {name} work.\n---\n{body}\n")
    os.utime(folder / "SKILL.md", ns=(age, age))


def test_only_what_changed_is_read_again(tmp_path, monkeypatch):
    # A file's change time cannot be set, so the clock is moved instead.
    now = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now() + 10 * searching.YOUNG_NS)
    for name in BODIES:
        write(tmp_path, name, "Plain.", age=1)
    library = Counting(tmp_path)
    search = SkillSearch(library)
    for _ in range(3):
        assert ids(search.search("aardvark")) == []
    assert library.reads == len(BODIES)
    write(tmp_path, "paint", "Uses the aardvark brush.", age=2)
    assert ids(search.search("aardvark")) == ["paint"]
    assert library.reads == len(BODIES) + 1
    (tmp_path / "paint/SKILL.md").unlink()
    assert ids(search.search("aardvark")) == []
    assert library.reads == len(BODIES) + 1


def test_a_file_that_was_just_written_is_not_trusted_to_stay(tmp_path):
    write(tmp_path, "paint", "Plain at first.", age=1)
    search = SkillSearch(FolderLibrary(tmp_path))
    assert ids(search.search("aardvark")) == []
    write(tmp_path, "paint", "Uses aardvark.", age=1)
    assert ids(search.search("aardvark")) == ["paint"]


def test_the_index_is_built_once_for_one_state(monkeypatch):
    built = []
    monkeypatch.setattr(searching, "Index", lambda documents: built.append(1) or Index(documents))
    search = SkillSearch(Shelf())
    for _ in range(3):
        search.search("table")
    assert len(built) == 2  # the empty one, and one


def test_bodies_are_kept_up_to_a_limit_and_names_beyond_it(monkeypatch):
    monkeypatch.setattr(searching, "MAX_KEPT", 1)
    shelf = Shelf()
    search = SkillSearch(shelf)
    assert ids(search.search("aardvark")) == ["paint"]
    assert ids(search.search("cells")) == []
    assert ids(search.search("table")) == ["table"]


def test_a_body_is_kept_up_to_what_is_searched_of_it(monkeypatch):
    monkeypatch.setattr(searching, "MAX_BODY", len("Uses the "))
    assert ids(SkillSearch(Shelf()).search("aardvark")) == []
