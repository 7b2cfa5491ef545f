"""What every library of skills keeps to, whichever way it is put together."""

import shutil
import sys
import threading
from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from skillyard.errors import SkillyardError
from skillyard.library.agents import Scope
from skillyard.library.folder import FolderLibrary
from skillyard.library.layers import LiveLayers
from skillyard.library.roots import Root
from skillyard.library.switches import Switches, SwitchesFile, WithSwitches
from skillyard.skill.library import Catalog, Layered, Library

TraceFunction = Callable[[FrameType, str, Any], Any]

MAKERS: dict[str, Callable[[Path, Path], Library]] = {
    "folder": lambda root, _: FolderLibrary(root, label="here"),
    "folder with an index": lambda root, beside: FolderLibrary(root, label="here", index_dir=beside / "index"),
    "layered": lambda root, beside: Layered(
        [FolderLibrary(beside / "stronger", label="stronger"), FolderLibrary(root, label="here")]
    ),
    "live layers": lambda root, _: LiveLayers(
        lambda: tuple(Root(path=path, label="here", scope=Scope.EXTRA) for path in [root] if path.is_dir()),
        lambda roots: [FolderLibrary(found.path, label=found.label) for found in roots],
    ),
    "with switches": lambda root, _: WithSwitches(FolderLibrary(root, label="here"), Switches().disable("other")),
    "with a file of switches": lambda root, beside: WithSwitches(
        FolderLibrary(root, label="here"), SwitchesFile(beside / "config"), root=root
    ),
    "layers with switches": lambda root, beside: Layered(
        [WithSwitches(FolderLibrary(root, label="here"), SwitchesFile(beside / "config"), root=root)]
    ),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "skills"


@pytest.fixture(params=MAKERS)
def library(request: pytest.FixtureRequest, root: Path, tmp_path: Path) -> Library:
    return MAKERS[request.param](root, tmp_path)


def write(folder: Path, description: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "SKILL.md"
    text = f"---\nname: {folder.name}\ndescription: {description or f'Does {folder.name}.'}\n---\nDo it.\n"
    path.write_text(text, encoding="utf-8")
    return path


def ids(library: Library) -> list[str]:
    return [entry.id for entry in library.catalog().entries]


def test_a_library_of_nothing_is_empty(library: Library):
    catalog = library.catalog()
    assert (list(catalog.entries), list(catalog.problems), list(catalog.shadowed)) == ([], [], [])
    assert library.label


def test_skills_are_listed_once_each_in_the_order_of_their_ids(library: Library, root: Path):
    for path in ("b", "group/a", "C", "한국어", "group/b", "deep/er/c"):
        write(root / path)
    assert ids(library) == ["C", "a", "b", "c", "한국어"]


def test_every_skill_listed_can_be_read_and_bundled(library: Library, root: Path):
    for name in ("one", "two", "three"):
        write(root / name)
        (root / name / "notes.txt").write_text(name, encoding="utf-8")
    entries = library.catalog().entries
    assert len(entries) == 3
    for entry in entries:
        document = library.read(entry).document
        assert document is not None
        assert (document.name, document.description) == (entry.name, entry.description)
        notes = library.bundle(entry).get("notes.txt")
        assert notes is not None
        assert notes.data == entry.id.encode()


def test_a_broken_neighbour_is_a_problem_and_stops_nothing(library: Library, root: Path):
    write(root / "good")
    write(root / "broken").write_text("no frontmatter", encoding="utf-8")
    assert ids(library) == ["good"]
    (problem,) = library.catalog().problems
    assert (problem.id, problem.location) == ("broken", str(root / "broken/SKILL.md"))
    assert problem.findings[0].fix


def test_a_skill_hidden_by_another_is_reported_with_the_one_that_hides_it(library: Library, root: Path):
    deep, shallow = write(root / "x/y/same"), write(root / "z/same")
    catalog = library.catalog()
    assert [entry.location for entry in catalog.entries] == [str(shallow)]
    assert [(item.entry.location, item.by.location) for item in catalog.shadowed] == [(str(deep), str(shallow))]


def test_every_change_between_two_looks_is_seen(library: Library, root: Path):
    write(root / "changed", "Before.")
    write(root / "removed")
    assert ids(library) == ["changed", "removed"]
    write(root / "changed", "After it.")
    write(root / "added")
    shutil.rmtree(root / "removed")
    assert [(entry.id, entry.description) for entry in library.catalog().entries] == [
        ("added", "Does added."),
        ("changed", "After it."),
    ]


def test_an_unchanged_library_gives_the_same_listing(library: Library, root: Path):
    for name in ("one", "two"):
        write(root / name)
    assert library.catalog() == library.catalog()


def test_a_skill_is_found_by_id_or_name_without_regard_to_case(library: Library, root: Path):
    write(root / "pdf")
    found = library.catalog().find("PDF")
    assert found is not None
    assert found.id == "pdf"
    assert library.catalog().find("missing") is None


@pytest.mark.parametrize("action", ["read", "bundle"])
def test_a_skill_that_went_away_is_a_typed_error(library: Library, root: Path, action: str):
    write(root / "gone")
    (entry,) = library.catalog().entries
    shutil.rmtree(root / "gone")
    with pytest.raises(SkillyardError):
        getattr(library, action)(entry)


def test_a_look_that_another_thread_interrupts_never_mixes_up_skills(library: Library, root: Path):
    for name in ("a", "b", "c"):
        write(root / name)
    inside, outside = root / "b", root.parent / "away"
    inside.rename(outside)

    def change_and_look() -> None:
        outside.rename(inside)
        library.catalog()

    for line in count(1):
        library.catalog()
        catalog = look_interrupted(library, line, change_and_look)
        if catalog is None:
            break
        inside.rename(outside)
        for entry in catalog.entries:
            folder = Path(entry.location).parent.name
            assert (folder, entry.name, entry.description) == (entry.id, entry.id, f"Does {entry.id}."), line
    assert line > 20


def look_interrupted(library: Library, line: int, other: Callable[[], None]) -> Catalog | None:
    """A look in which another thread runs before the given line of it; None when there are not so many lines.

    Tried for every line, this finds what a race finds once in a thousand runs.
    """
    lines = count(1)
    thread = threading.Thread(target=other)

    def before_line(_frame: FrameType, event: str, _argument: object) -> TraceFunction:
        if event == "line" and next(lines) == line:
            thread.start()
            # One that waits for a lock of this look goes on after it.
            thread.join(timeout=0.1)
        return before_line

    def before_call(frame: FrameType, _event: str, _argument: object) -> TraceFunction | None:
        return before_line if "skillyard" in frame.f_code.co_filename else None

    tracing = sys.gettrace()
    sys.settrace(before_call)
    try:
        catalog = library.catalog()
    finally:
        sys.settrace(tracing)
    if thread.ident is None:
        return None
    thread.join()
    return catalog
