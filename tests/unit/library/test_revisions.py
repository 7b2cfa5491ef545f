import shutil
import time

import pytest

from skillyard.library import beside
from skillyard.library import revisions as revisions_module
from skillyard.library.folder import FolderLibrary
from skillyard.library.revisions import Revisions, file_state


@pytest.fixture
def root(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name / "references").mkdir(parents=True)
        (tmp_path / name / "SKILL.md").write_text(f"---\nname: {name}\ndescription: Does it.\n---\n")
        (tmp_path / name / "references/A.md").write_text("a")
    return tmp_path


@pytest.fixture
def look(root):
    revisions, library = Revisions(), FolderLibrary(root)
    return lambda: revisions.look(library.catalog().entries, library.stamps())


def test_a_number_stays_until_a_file_of_the_skill_changes(root, look):
    first = look()
    assert look() == first
    (root / "a/references/A.md").write_text("other")
    second = look()
    assert second["b"] == first["b"]
    assert second["a"] not in first.values()


@pytest.fixture
def settled(root, monkeypatch):
    """Files that were written before count as old at once."""
    moment = 20_000_000
    monkeypatch.setattr(revisions_module, "YOUNG_NS", moment)
    monkeypatch.setattr(beside, "COARSE_CLOCK_NS", moment)
    newest = max(path.stat().st_ctime_ns for path in root.rglob("*"))
    while time.time_ns() < newest + 3 * moment:
        pass


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("change", ["edit", "add", "delete"])
def test_a_change_beside_an_old_skill_file_is_noticed_from_the_first_look_on(root, look, change):
    first = look()
    if change == "edit":
        (root / "a/references/A.md").write_text("other")
    elif change == "add":
        (root / "a/references/B.md").write_text("new")
    else:
        (root / "a/references/A.md").unlink()
    second = look()
    assert second["b"] == first["b"]
    assert second["a"] not in first.values()
    assert look()["b"] == first["b"]


def test_an_edit_that_leaves_size_and_time_alone_is_noticed_while_the_file_is_young(root, look):
    first = look()
    (root / "a/SKILL.md").write_text("---\nname: a\ndescription: Does at.\n---\n"[:-1] + "\n")
    assert look()["a"] != first["a"]


def test_a_skill_that_comes_back_has_another_number(root, look):
    first = look()
    shutil.move(root / "a", root.parent / "kept-a")
    assert look().keys() == {"b"}
    shutil.move(root.parent / "kept-a", root / "a")
    assert look()["a"] not in first.values()


def test_the_state_of_a_file_is_its_content_while_it_is_young(root, monkeypatch):
    file = root / "a/SKILL.md"
    young = file_state(str(file))
    file.write_text(file.read_text())
    assert file_state(str(file)) == young
    monkeypatch.setattr(revisions_module, "YOUNG_NS", -(10**18))
    assert file_state(str(file)) != young
    assert file_state(str(root / "nowhere")) == (0, 0, 0)
    assert file_state("https://yard.example/SKILL.md") == (0, 0, 0)
