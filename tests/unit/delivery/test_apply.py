from importlib import import_module
from pathlib import Path

import pytest

from skillyard.delivery.add import plan_add
from skillyard.delivery.apply import apply_plan
from skillyard.delivery.fetch import fetch_source
from skillyard.delivery.fetched import Fetched
from skillyard.delivery.place import project_place
from skillyard.delivery.plan import Act
from skillyard.delivery.source import Source, SourceKind
from skillyard.delivery.target import Target
from skillyard.delivery.trash import Trash

MODULE = import_module("skillyard.delivery.apply")


@pytest.fixture
def source(tmp_path: Path, skill_md) -> Path:
    source = tmp_path / "source/pdf"
    source.mkdir(parents=True)
    (source / "SKILL.md").write_text(skill_md("pdf"))
    return source


@pytest.fixture
def target(tmp_path: Path, home: Path, source: Path) -> Target:
    """A project with the skill `pdf`, of which there is a new version."""
    (tmp_path / "project").mkdir()
    target = Target(place=project_place(tmp_path / "project"), root=tmp_path / "project/.claude/skills")
    apply_plan(plan_add(fetched(source), [target]), home=home)
    (source / "new.md").write_text("new\n")
    return target


def fetched(source: Path) -> Fetched:
    return fetch_source(Source(kind=SourceKind.FOLDER, location=str(source)))


def test_what_changed_since_the_plan_is_left_alone(target: Target, source: Path, home: Path):
    plan = plan_add(fetched(source), [target])
    (target.root / "pdf/mine.md").write_text("mine")
    outcome = apply_plan(plan, home=home)
    assert [action.act for action in outcome.left] == [Act.CONFLICT]
    assert (target.root / "pdf/mine.md").read_text() == "mine"
    assert not (target.root / "pdf/new.md").exists()


@pytest.mark.parametrize("saved", ["mine.md", "__pycache__"])
def test_what_is_saved_in_the_last_moment_is_in_the_trash(
    target: Target, source: Path, home: Path, monkeypatch, saved: str
):
    swap_folder = MODULE.swap_folder

    def saving(bundle: object, path: Path) -> Path | None:
        (path / saved).mkdir()
        (path / saved / "x").write_text("mine")
        return swap_folder(bundle, path)

    monkeypatch.setattr(MODULE, "swap_folder", saving)
    outcome = apply_plan(plan_add(fetched(source), [target]), home=home)
    assert [action.act for action in outcome.done] == [Act.REPLACE]
    assert [(item.path, (item.content / saved / "x").read_text()) for item in outcome.trashed] == [
        (target.root / "pdf", "mine")
    ]
    assert [path.name for path in target.root.iterdir()] == ["pdf"]


def test_caches_are_kept_once(target: Target, source: Path, home: Path):
    (target.root / "pdf/__pycache__").mkdir()
    outcome = apply_plan(plan_add(fetched(source), [target]), home=home)
    assert [item.name for item in outcome.trashed] == ["0001-pdf"]
    assert [path.name for path in target.root.iterdir()] == ["pdf"]


def test_a_folder_that_cannot_be_read_as_a_skill_goes_to_the_trash_whole(
    target: Target, source: Path, home: Path, tmp_path: Path
):
    (target.root / "pdf/linked").symlink_to(tmp_path)
    outcome = apply_plan(plan_add(fetched(source), [target], force=True), home=home)
    assert outcome.left == ()
    assert [(item.content / "linked").is_symlink() for item in Trash(home).items()] == [True]
    assert (target.root / "pdf/new.md").is_file()
