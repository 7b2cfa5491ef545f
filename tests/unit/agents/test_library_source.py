import shutil
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from skillyard.agents.library_source import LibrarySource
from skillyard.agents.source import require
from skillyard.errors import InputError, NotFoundError
from skillyard.library import folder as folder_module
from skillyard.library.folder import FolderLibrary
from skillyard.library.switches import Switches, WithSwitches
from skillyard.skill.bundle import BundleFile, bundle_of
from skillyard.skill.document import parse
from skillyard.skill.library import Catalog, Layered, SkillEntry
from skillyard.usage.events import UsageKind


@pytest.fixture
def watched(folder):
    """A folder that was looked at often enough to be watched."""
    folder.put("first", "Peels potatoes.")
    for _ in range(4):
        folder.source.page()
    if not folder.library.catalog().watched:
        pytest.skip("what is temporary cannot be watched here")
    return folder


def test_a_skill_that_is_broken_says_why(folder):
    folder.put("good")
    (folder.root / "bad").mkdir()
    (folder.root / "bad/SKILL.md").write_text("no frontmatter")
    with pytest.raises(InputError) as refused:
        require(folder.source, "BAD")
    assert refused.value.message.startswith("'bad' cannot be used as a skill: ")
    assert refused.value.hint


def test_a_skill_that_is_off_says_how_it_is_turned_on(folder):
    folder.put("tool")
    library = WithSwitches(FolderLibrary(folder.root), Switches().disable("tool"), root=folder.root)
    source = LibrarySource(Layered([library]))
    with pytest.raises(NotFoundError, match="'tool' is switched off everywhere"):
        require(source, "tool")
    assert source.page().skills == []


def test_an_id_goes_before_a_name(folder):
    folder.put("alpha")
    (folder.root / "beta").mkdir()
    (folder.root / "beta/SKILL.md").write_text("---\nname: alpha\ndescription: Other.\n---\n\nX\n")
    assert folder.source.find("ALPHA").entry.location.endswith("alpha/SKILL.md")


def test_a_lower_case_skill_file_goes_by_its_one_name(folder):
    (folder.root / "tool").mkdir(parents=True)
    (folder.root / "tool/skill.md").write_text("---\nname: tool\ndescription: D.\n---\n\nX\n")
    found = require(folder.source, "tool")
    assert [file.path for file in folder.source.files(found)] == ["SKILL.md"]
    assert folder.source.file(found, "SKILL.md").endswith(b"X\n")


def test_search_reads_bodies(folder):
    folder.put("tool", "Does it.", "Mind the aardvark.")
    assert [hit.skill.id for hit in folder.source.search("aardvark")] == ["tool"]
    assert next(iter(folder.source.catalog_text("aardvark").shown)) == "tool"


def test_uses_are_told_to_who_counts_them(folder):
    folder.put("tool")
    told = []
    source = LibrarySource(folder.library, record=told.append)
    found = require(source, "tool")
    source.record(UsageKind.LOADED, found, session="s", agent="a")
    source.record_all(UsageKind.SHOWN, [found, "tool", "gone"], session="s")
    assert [(use.kind, use.skill.id, use.session, use.agent) for use in told] == [
        (UsageKind.LOADED, "tool", "s", "a"),
        (UsageKind.SHOWN, "tool", "s", ""),
        (UsageKind.SHOWN, "tool", "s", ""),
    ]
    folder.source.record(UsageKind.LOADED, found)  # nobody counts


def test_a_folder_that_is_watched_is_not_walked_while_nothing_changes(watched, monkeypatch):
    monkeypatch.setattr(folder_module, "Walk", None)
    assert watched.source.find("first")
    assert watched.source.stamp() == watched.source.stamp()
    assert watched.source.search("potatoes")
    assert "first" in watched.source.catalog_text().text


def test_what_is_changed_while_a_folder_is_watched_is_seen_at_once(watched):
    source = watched.source
    stamps = [source.stamp()]
    skill = watched.root / "first/SKILL.md"
    for step in (
        lambda: watched.put("second"),
        lambda: skill.write_text(skill.read_text().replace("Do it.", "Do not.")),
        (watched.root / "first/references").mkdir,
        lambda: (watched.root / "first/references/A.md").write_text("a"),
        lambda: (watched.root / "first/references/A.md").write_text("b"),
        lambda: (watched.root / "second").rename(watched.root / "third"),
        (watched.root / "third/deep").mkdir,
        lambda: (watched.root / "third/deep/new.txt").write_text(""),
        lambda: shutil.rmtree(watched.root / "third"),
        lambda: watched.put("second"),
    ):
        step()
        assert source.stamp() != stamps[-1]
        stamps.append(source.stamp())
        assert source.stamp() == stamps[-1]
    assert [skill.id for skill in source.page().skills] == ["first", "second"]


def test_what_changes_between_a_snapshot_and_the_begin_of_a_watch_is_noticed(folder):
    folder.put("first")
    reference = folder.root / "first/A.md"
    reference.write_text("a")
    before, stamp = folder.source.snapshot(), folder.source.stamp()
    reference.write_text("another")
    assert folder.source.stamp() != stamp
    assert folder.library.catalog().watched
    assert folder.source.snapshot() != before
    stamp = folder.source.stamp()
    assert folder.source.stamp() == stamp


def test_a_root_that_is_replaced_is_noticed(watched, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(watched.root, other)
    watched.put("second")
    assert watched.source.find("second")
    watched.root.rename(tmp_path / "away")
    other.rename(watched.root)
    assert watched.source.find("second") is None
    shutil.rmtree(watched.root)
    assert watched.source.page().skills == []


def test_threads_that_share_a_source_all_see_each_change(watched):
    missed = []
    ready = threading.Barrier(5)

    def look():
        for number in range(10):
            ready.wait()
            ready.wait()
            if watched.source.find(f"skill-{number}") is None:
                missed.append(number)

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(10):
        ready.wait()
        watched.put(f"skill-{number}")
        ready.wait()
    for thread in threads:
        thread.join()
    assert missed == []


class Elsewhere:
    """A library whose skills are no files of this machine."""

    label = "elsewhere"
    text = b"---\nname: far\ndescription: Far away.\n---\n\nGo.\n"

    def catalog(self):
        return Catalog(entries=[SkillEntry("far", "far", "Far away.", "https://yard.example/far/SKILL.md", self.label)])

    def read(self, entry):
        return parse(self.text)

    def bundle(self, entry):
        return bundle_of([BundleFile("SKILL.md", self.text), BundleFile("scripts/a.sh", b"a", True)]).require()


def test_skills_that_are_no_files_here_are_read_through_their_library():
    source = LibrarySource(Elsewhere())
    found = require(source, "far")
    assert source.folder(found) is None
    assert source.text(found) == Elsewhere.text.decode()
    assert [(file.path, file.executable) for file in source.files(found)] == [
        ("SKILL.md", False),
        ("scripts/a.sh", True),
    ]
    assert source.file(found, "scripts/a.sh") == b"a"
    stamp = source.stamp()
    assert source.stamp() == stamp


class Counting:
    """A library that takes a while, and counts who begins to read it before anybody has read it once."""

    label = "counting"

    def __init__(self):
        self.begun = 0
        self.was_read = False

    def catalog(self):
        if not self.was_read:
            self.begun += 1
            sum(range(500_000))
            self.was_read = True
        return Catalog(entries=[SkillEntry("pdf", "pdf", "Reads.", "", "counting")])


def test_conversations_that_begin_together_read_a_library_once():
    library = Counting()
    source = LibrarySource(library)
    together = threading.Barrier(8)

    def begin():
        together.wait()
        assert source.find("pdf")

    with ThreadPoolExecutor(8) as pool:
        for each in [pool.submit(begin) for _ in range(8)]:
            each.result()
    assert library.begun == 1
