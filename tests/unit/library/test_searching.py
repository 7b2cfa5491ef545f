import json
import os
import time

import pytest

from skillyard.errors import NotFoundError
from skillyard.library import revisions, searching
from skillyard.library.folder import FolderLibrary
from skillyard.library.searching import SkillSearch, search_folder
from skillyard.search.index_folder import IndexFolder
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
        return parse(f"---\nname: {entry.id}\ndescription: d\ntags: [easel]\n---\n{BODIES[entry.id]}".encode())

    def bundle(self, entry):
        raise NotImplementedError


@pytest.fixture(params=["memory", "folder"])
def make(request, tmp_path):
    """Makes a search of a library, the index in memory or in a folder."""
    folder = tmp_path / "kept" if request.param == "folder" else None
    return lambda library: SkillSearch(library, folder)


def ids(matches):
    return [match.entry.id for match in matches.best]


def test_names_descriptions_tags_and_bodies_are_searched(make):
    assert ids(make(Shelf()).search("table work"))[0] == "table"
    assert ids(make(Shelf()).search("aardvark")) == ["paint"]
    assert len(ids(make(Shelf()).search("easel"))) == 2


def test_a_match_shows_the_words_that_were_asked_for(make):
    snippet = make(Shelf()).search("aardvark").best[0].snippet
    assert [snippet.text[start:end] for start, end in snippet.marks] == ["aardvark"]


def test_a_skill_that_goes_away_does_not_stop_the_search(make):
    assert ids(make(Shelf("paint")).search("table")) == ["table"]


def test_no_more_than_the_limit_is_told_but_all_are_counted(make):
    found = make(Shelf()).search("work", limit=1)
    assert len(found.best) == 1
    assert found.total == 2


class Counting(FolderLibrary):
    reads = 0

    def read(self, entry):
        self.reads += 1
        return super().read(entry)


def write(root, name, body, *, age):
    folder = root / name
    folder.mkdir(exist_ok=True, parents=True)
    (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: Does {name} work.\n---\n{body}\n")
    os.utime(folder / "SKILL.md", ns=(age, age))


@pytest.fixture
def aged(monkeypatch):
    """Files that were just written count as old. A file's change time cannot be set, so the clock is moved instead."""
    now = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now() + 10 * revisions.YOUNG_NS)


@pytest.mark.usefixtures("aged")
def test_only_what_changed_is_read_again_by_the_next_process_too(tmp_path):
    root, kept = tmp_path / "skills", tmp_path / "kept"
    for name in BODIES:
        write(root, name, "Plain.", age=1)
    library = Counting(root)
    for _ in range(3):
        assert ids(SkillSearch(library, kept).search("aardvark")) == []
    assert library.reads == len(BODIES)
    write(root, "paint", "Uses the aardvark brush.", age=2)
    assert ids(SkillSearch(library, kept).search("aardvark")) == ["paint"]
    assert library.reads == len(BODIES) + 1
    (root / "paint/SKILL.md").unlink()
    assert ids(SkillSearch(library, kept).search("aardvark")) == []
    assert library.reads == len(BODIES) + 1


def test_a_file_that_was_just_written_is_not_trusted_to_stay(tmp_path, make):
    write(tmp_path / "skills", "paint", "Plain at first.", age=1)
    search = make(FolderLibrary(tmp_path / "skills"))
    assert ids(search.search("aardvark")) == []
    write(tmp_path / "skills", "paint", "Uses aardvark.", age=1)
    assert ids(search.search("aardvark")) == ["paint"]


def test_while_another_process_writes_the_index_is_made_in_memory(tmp_path):
    other = IndexFolder(tmp_path)
    assert other.take_pen()
    assert ids(SkillSearch(Shelf(), tmp_path).search("aardvark")) == ["paint"]
    other.close()


def test_an_index_that_was_damaged_is_made_again(tmp_path):
    assert ids(SkillSearch(Shelf(), tmp_path).search("aardvark")) == ["paint"]
    for file in tmp_path.rglob("meta.json"):
        file.write_text(json.dumps({"not": "an index"}))
    shelf = Shelf()
    assert ids(SkillSearch(shelf, tmp_path).search("aardvark")) == ["paint"]
    assert shelf.reads == len(BODIES)


def test_a_folder_that_cannot_be_written_to_is_done_without(tmp_path):
    (tmp_path / "file").write_text("in the way")
    assert ids(SkillSearch(Shelf(), tmp_path / "file" / "kept").search("aardvark")) == ["paint"]


def test_every_place_that_is_searched_from_has_its_own_index_and_old_ones_go(tmp_path, monkeypatch):
    monkeypatch.setattr(searching, "MAX_FOLDERS", 2)
    one, two = (search_folder(tmp_path / "home", [name]) for name in ("/one", "/two"))
    assert one != two
    assert search_folder(tmp_path / "home", ["/one"]) == one
    search_folder(tmp_path / "home", [], environment="third")
    assert not two.exists()
    assert one.exists()
