"""Uses of skills in folders are counted where they are known, and nowhere else."""

import pytest

from skillyard.agents.folder_counts import FolderCounts
from skillyard.agents.folder_uses import FolderUses
from skillyard.agents.library_source import LibrarySource
from skillyard.agents.source import require
from skillyard.agents.toolsets.skills import SkillTools
from skillyard.errors import UnavailableError
from skillyard.library.disk import read_folder
from skillyard.search.catalog import Shape
from skillyard.usage.events import UsageKind


@pytest.fixture
def opened():
    return []


@pytest.fixture
def uses(yard, opened):
    def open_yard():
        opened.append(yard)
        return yard

    return FolderUses(open_yard)


@pytest.fixture
def source(folder, uses):
    return LibrarySource(folder.library, record=uses)


def counted(yard, name):
    return [(day["event"], day["version"], day["agent"], day["count"]) for day in yard.usage_of(name)]


def test_a_skill_that_the_yard_has_is_counted_with_the_version_that_is_in_the_folder(folder, source, uses, yard):
    folder.put("tool", body="First.", files={"scripts/run.py": "print()"})
    yard.send(read_folder(folder.root / "tool").require(), "tool", version="1.0.0")
    folder.put("tool", body="Second.")
    yard.send(read_folder(folder.root / "tool").require(), "tool", version="2.0.0")
    folder.put("tool", body="First.")
    tools = SkillTools(source, session="s-1", agent="helper")
    tools.load_skill("tool")
    uses.flush()
    assert counted(yard, "tool") == [("loaded", "1.0.0", "helper", 1)]


def test_a_skill_that_the_yard_does_not_have_or_has_otherwise_is_not_counted(folder, source, uses, yard):
    folder.put("edited", body="Published.")
    folder.put("own")
    yard.send(read_folder(folder.root / "edited").require(), "edited", version="1.0.0")
    folder.put("edited", body="Changed since.")
    tools = SkillTools(source)
    for name in ("edited", "own"):
        tools.load_skill(name)
    uses.flush()
    assert counted(yard, "edited") == []


def test_a_skill_that_is_only_shown_opens_no_yard(folder, source, uses, opened):
    folder.put("tool")
    source.record(UsageKind.SHOWN, require(source, "tool"))
    uses.flush()
    assert opened == []


def test_what_is_used_most_is_told_first_also_by_the_next_process(folder, yard, tmp_path):
    for name in ("a-first", "b-second", "often"):
        folder.put(name)
    yard.send(read_folder(folder.root / "often").require(), "often", version="1.0.0")
    counts = FolderCounts(tmp_path / "uses.json")
    uses = FolderUses(lambda: yard, counts=counts)
    tools = SkillTools(LibrarySource(folder.library, record=uses, uses=counts.read))
    assert tools.source.catalog_text(shape=Shape.MARKDOWN).text.startswith("- a-first: ")
    tools.load_skill("often")
    uses.flush()
    fresh = LibrarySource(folder.library, uses=counts.read)
    assert [line.split(":")[0] for line in fresh.catalog_text(shape=Shape.MARKDOWN).text.splitlines()] == [
        "- often",
        "- a-first",
        "- b-second",
    ]


@pytest.mark.parametrize("kept", [b"", b"[1]", b'{"a-first": "many"}', b"[" * 100_000])
def test_counts_that_make_no_sense_are_none(tmp_path, kept):
    (tmp_path / "uses.json").write_bytes(kept)
    assert FolderCounts(tmp_path / "uses.json").read() == {}


def test_a_yard_that_cannot_be_opened_stops_nothing(folder):
    def no_yard():
        raise UnavailableError("Not now.")

    uses = FolderUses(no_yard)
    folder.put("tool", body="Do it.")
    assert "Do it." in SkillTools(LibrarySource(folder.library, record=uses)).load_skill("tool")
    uses.flush()
