from pathlib import Path

import pytest

from skillyard.delivery.add import plan_add
from skillyard.delivery.apply import apply_plan
from skillyard.delivery.fetch import fetch_source
from skillyard.delivery.fetched import Fetched
from skillyard.delivery.lock import read_lock
from skillyard.delivery.place import project_place
from skillyard.delivery.plan import Act
from skillyard.delivery.restore import restore_item
from skillyard.delivery.source import Source, SourceKind
from skillyard.delivery.target import Target
from skillyard.delivery.trash import Trash
from skillyard.delivery.update import plan_update
from skillyard.errors import UnavailableError
from skillyard.library.disk import read_folder


@pytest.fixture
def source(tmp_path: Path, skill_md) -> Path:
    source = tmp_path / "source/pdf"
    source.mkdir(parents=True)
    (source / "SKILL.md").write_text(skill_md("pdf"))
    return source


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


@pytest.fixture
def shared(project: Path) -> Target:
    return Target(place=project_place(project), root=project / ".agents/skills", links=(project / ".claude/skills",))


def fetched(source: Path) -> Fetched:
    return fetch_source(Source(kind=SourceKind.FOLDER, location=str(source)))


def state(target: Target) -> tuple[str, bytes]:
    return read_folder(target.root / "pdf").require().digest, target.place.lock.read_bytes()


def test_a_merge_is_undone_and_the_undoing_is_undone(shared: Target, source: Path, home: Path):
    apply_plan(plan_add(fetched(source), [shared]), home=home)
    (shared.root / "pdf/mine.md").write_text("mine")
    before = state(shared)
    (source / "new.md").write_text("new")
    outcome = apply_plan(plan_update([shared.place], home=home), home=home)
    assert [action.act for action in outcome.done] == [Act.MERGE]
    after = state(shared)
    restored = restore_item(outcome.trashed[0].name, home=home)
    assert state(shared) == before
    assert restored.replaced is not None
    again = restore_item(restored.replaced.name, home=home)
    assert state(shared) == after
    assert again.replaced is not None
    assert [item.name for item in Trash(home).items()] == [again.replaced.name]


def test_what_was_not_tracked_is_not_tracked_again_and_has_no_links(
    project: Path, shared: Target, source: Path, home: Path, skill_md
):
    own = shared.root / "pdf/SKILL.md"
    own.parent.mkdir(parents=True)
    own.write_text(skill_md("pdf", body="Mine."))
    outcome = apply_plan(plan_add(fetched(source), [shared], force=True), home=home)
    link = project / ".claude/skills/pdf"
    assert link.is_symlink()
    restored = restore_item(outcome.trashed[0].name, home=home)
    assert "Mine." in own.read_text()
    assert read_lock(shared.place).entries == ()
    assert not link.is_symlink()
    assert restored.replaced is not None
    restore_item(restored.replaced.name, home=home)
    assert "Mine." not in own.read_text()
    assert read_lock(shared.place).entries[0].links == (".claude/skills/pdf",)
    assert link.is_symlink()


def test_a_folder_that_made_way_for_a_link_comes_back(project: Path, shared: Target, source: Path, home: Path):
    claude = Target(place=shared.place, root=project / ".claude/skills")
    apply_plan(plan_add(fetched(source), [claude]), home=home)
    (first,) = read_lock(shared.place).entries
    outcome = apply_plan(plan_add(fetched(source), [shared], force=True), home=home)
    restore_item(outcome.trashed[0].name, home=home)
    assert (claude.root / "pdf/SKILL.md").is_file()
    assert not (claude.root / "pdf").is_symlink()
    lock = read_lock(shared.place)
    assert lock.at(".claude/skills/pdf") == first
    assert [entry.links for entry in lock.entries] == [(), ()]


def test_when_it_cannot_come_back_what_is_there_stays(shared: Target, source: Path, home: Path, monkeypatch):
    apply_plan(plan_add(fetched(source), [shared]), home=home)
    (shared.root / "pdf/mine.md").write_text("mine")
    (source / "new.md").write_text("new")
    (item,) = apply_plan(plan_update([shared.place], home=home), home=home).trashed
    before, rename = state(shared), Path.rename

    def failing(path: Path, target: Path) -> Path:
        if path == item.content:
            raise PermissionError(13, "Permission denied", str(path))
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(UnavailableError, match="put back"):
        restore_item(item.name, home=home)
    assert state(shared) == before
    assert [kept.name for kept in Trash(home).items()] == [item.name]
