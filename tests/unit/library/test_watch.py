import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from skillyard.library.folder import FolderLibrary
from skillyard.library.watch import Added, Removed, Updated, Watcher, diff_catalogs
from skillyard.skill.library import Catalog, Layered, SkillEntry

ONE = SkillEntry("one", "one", "Does one.", "/srv/one/SKILL.md", "srv")
TWO = SkillEntry("two", "two", "Does two.", "/srv/two/SKILL.md", "srv")
MORE = ONE._replace(description="Does more.")


def diff(before: list[SkillEntry], after: list[SkillEntry], *touched: str):
    return diff_catalogs(Catalog(entries=before), Catalog(entries=after), touched=touched)


def test_what_is_new_gone_or_different_is_told_by_id():
    assert diff([ONE], [ONE, TWO]) == (Added(TWO),)
    assert diff([ONE, TWO], [TWO]) == (Removed(ONE),)
    assert diff([ONE], [MORE]) == (Updated(ONE, MORE),)
    assert diff([ONE], [ONE]) == ()


def test_any_touched_file_of_a_skill_is_an_update():
    assert diff([ONE, TWO], [ONE, TWO], "/srv/one/scripts/run.py") == (Updated(ONE, ONE),)
    assert diff([ONE], [ONE], "/srv/one-more/x", "/srv/README.md") == ()


def test_a_file_touched_through_a_link_is_an_update(tmp_path: Path):
    (tmp_path / "real" / "one").mkdir(parents=True)
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "one").symlink_to(tmp_path / "real" / "one")
    entry = ONE._replace(location=str(tmp_path / "linked/one/SKILL.md"))
    assert diff([entry], [entry], str(tmp_path / "real/one/x.txt")) == (Updated(entry, entry),)


def test_many_touched_files_and_many_skills_are_matched_without_comparing_all(monkeypatch: pytest.MonkeyPatch):
    entries = [ONE._replace(id=f"s{n:04}", location=f"/srv/s{n:04}/SKILL.md") for n in range(2000)]
    touched = [f"/srv/s0001/a/{n}/x" for n in range(5000)]
    asked: list[str] = []
    monkeypatch.setattr("os.path.realpath", lambda path: asked.append(path) or path)
    assert [change.after.id for change in diff(entries, entries, *touched)] == ["s0001"]
    assert asked == []


class Watched:
    """Two roots, of which the second is not there at first."""

    def __init__(self, folder: Path) -> None:
        self.first, self.second = folder / "first", folder / "second"
        self.first.mkdir()
        roots = (self.first, self.second)
        library = Layered(FolderLibrary(root, label=root.name) for root in roots)
        self.watcher = Watcher(library, roots, debounce_ms=50, look_ms=50)
        self.changes = iter(self.watcher)

    def next(self) -> list[tuple[type, str]]:
        return [(type(change), (change[-1]).id) for change in next(self.changes)]


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    watched = Watched(tmp_path)
    # A watcher that misses a change must fail the test, not hold it up.
    timer = threading.Timer(20, watched.watcher.stop.set)
    timer.start()
    yield watched
    timer.cancel()
    watched.watcher.stop.set()


def test_changes_are_told_as_they_happen(watched: Watched, write_skill):
    write_skill(watched.first / "one")
    assert watched.next() == [(Added, "one")]
    (watched.first / "one" / "notes.txt").write_text("x")
    assert watched.next() == [(Updated, "one")]
    write_skill(watched.first / "one", body="Do it better.")
    assert watched.next() == [(Updated, "one")]
    shutil.rmtree(watched.first / "one")
    assert watched.next() == [(Removed, "one")]


def test_a_root_that_appears_later_is_picked_up_and_one_that_goes_is_let_go(watched: Watched, write_skill):
    write_skill(watched.first / "one")
    assert watched.next() == [(Added, "one")]
    write_skill(watched.second / "two")
    assert watched.next() == [(Added, "two")]
    shutil.rmtree(watched.first)
    assert watched.next() == [(Removed, "one")]
    (watched.second / "two" / "x").write_text("x")
    assert watched.next() == [(Updated, "two")]


def test_with_no_root_at_all_it_waits_for_one(tmp_path: Path, write_skill):
    library = FolderLibrary(tmp_path / "later")
    watcher = Watcher(library, [tmp_path / "later"], debounce_ms=50, look_ms=20)
    changes = iter(watcher)
    write_skill(tmp_path / "later" / "one")
    assert [type(change) for change in next(changes)] == [Added]
    watcher.stop.set()
    assert list(changes) == []
