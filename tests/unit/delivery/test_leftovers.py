"""What a crash in the middle of a swap leaves is put right by the next command, and nothing of a person's is lost."""

from importlib import import_module
from pathlib import Path

import pytest

from skillyard.delivery.add import plan_add
from skillyard.delivery.apply import apply_plan
from skillyard.delivery.fetch import fetch_source
from skillyard.delivery.place import project_place
from skillyard.delivery.plan import Act, Plan
from skillyard.delivery.remove import plan_remove
from skillyard.delivery.source import Source, SourceKind
from skillyard.delivery.target import Target
from skillyard.library import disk
from skillyard.library.disk import hidden_beside


class CrashError(BaseException):
    """The machine stops: nothing after it is done."""


@pytest.fixture
def target(tmp_path: Path) -> Target:
    (tmp_path / "project").mkdir()
    return Target(place=project_place(tmp_path / "project"), root=tmp_path / "project/.claude/skills")


@pytest.fixture
def adding(tmp_path: Path, target: Target, skill_md):
    """The plan for installing a skill with this text."""

    def _adding(name: str, body: str = "body") -> Plan:
        folder = tmp_path / "source" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "SKILL.md").write_text(skill_md(name, body=body))
        return plan_add(fetch_source(Source(kind=SourceKind.FOLDER, location=str(folder))), [target])

    return _adding


@pytest.fixture
def pdf(adding, target: Target, home: Path) -> Path:
    """A skill that is installed."""
    apply_plan(adding("pdf"), home=home)
    return target.root / "pdf"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_skill_that_a_crash_left_without_its_name_is_put_back(adding, pdf: Path, home: Path, monkeypatch):
    (pdf / "mine.md").write_text("mine")
    rename = Path.rename

    def crashing(path: Path, to: Path) -> Path:
        if to == pdf:
            raise CrashError
        return rename(path, to)

    with monkeypatch.context() as patched:
        patched.setattr(disk, "exchange", lambda *_: False)
        patched.setattr(Path, "rename", crashing)
        with pytest.raises(CrashError):
            disk.swap_folder(fetch_source(Source(kind=SourceKind.FOLDER, location=str(pdf))).skills[0].bundle, pdf)
    assert not pdf.exists()
    apply_plan(adding("notes"), home=home)
    assert (pdf / "mine.md").read_text() == "mine"
    assert names(pdf.parent) == ["notes", "pdf"]


def test_what_a_crash_left_as_installed_is_removed(adding, pdf: Path, home: Path, monkeypatch):
    def crashing(*_: object) -> None:
        raise CrashError

    with monkeypatch.context() as patched:
        patched.setattr(import_module("skillyard.delivery.apply"), "discard_folder", crashing)
        with pytest.raises(CrashError):
            apply_plan(adding("pdf", "new"), home=home)
    assert len(names(pdf.parent)) == 2
    outcome = apply_plan(adding("notes"), home=home)
    assert names(pdf.parent) == ["notes", "pdf"]
    assert outcome.trashed == ()


def test_what_somebody_saved_in_a_folder_that_a_crash_left_goes_to_the_trash(adding, pdf: Path, home: Path):
    old = hidden_beside(pdf)
    old.mkdir()
    (old / "mine.md").write_text("mine")
    outcome = apply_plan(adding("notes"), home=home)
    assert names(pdf.parent) == ["notes", "pdf"]
    assert [(item.path, (item.content / "mine.md").read_text()) for item in outcome.trashed] == [(pdf, "mine")]


def test_a_removed_skill_does_not_come_back_from_what_a_crash_left(adding, target: Target, pdf: Path, home: Path):
    old = hidden_beside(pdf)
    old.mkdir()
    outcome = apply_plan(plan_remove(["pdf"], [target]), home=home)
    assert [action.act for action in outcome.done] == [Act.REMOVE]
    apply_plan(adding("notes"), home=home)
    assert names(pdf.parent) == ["notes"]


def test_a_folder_of_that_kind_that_no_lock_names_is_left_alone(adding, target: Target, pdf: Path, home: Path):
    own = hidden_beside(target.root / "own")
    own.mkdir()
    apply_plan(adding("notes"), home=home)
    assert names(pdf.parent) == sorted([own.name, "notes", "pdf"])


def test_what_cannot_be_put_right_stops_nothing(adding, pdf: Path, home: Path):
    old = hidden_beside(pdf)
    old.mkdir()
    (old / "mine.md").write_text("mine")
    (home / "trash").write_text("in the way")
    outcome = apply_plan(adding("notes"), home=home)
    assert [action.act for action in outcome.done] == [Act.CREATE]
    assert (old / "mine.md").is_file()
