from pathlib import Path

import pytest

from skillyard.delivery.add import plan_add
from skillyard.delivery.apply import apply_plan
from skillyard.delivery.check import Status, check_installed
from skillyard.delivery.fetch import fetch_source
from skillyard.delivery.place import project_place
from skillyard.delivery.source import Source, SourceKind
from skillyard.delivery.target import Target


@pytest.fixture
def targets(tmp_path: Path, home: Path, skill_md) -> list[Target]:
    """A project with the skill `pdf`, shared by two agents."""
    (tmp_path / "source" / "pdf").mkdir(parents=True)
    (tmp_path / "source" / "pdf" / "SKILL.md").write_text(skill_md("pdf"))
    project = tmp_path / "project"
    project.mkdir()
    shared, claude = project / ".agents/skills", project / ".claude/skills"
    fetched = fetch_source(Source(kind=SourceKind.FOLDER, location=str(tmp_path / "source/pdf")))
    target = Target(place=project_place(project), root=shared, links=(claude,))
    apply_plan(plan_add(fetched, [target]), home=home)
    return [Target(place=target.place, root=root) for root in (shared, claude)]


def statuses(targets: list[Target], home: Path) -> list[tuple[str, str]]:
    return [(item.id, item.status.value) for item in check_installed(targets, home=home)]


def test_what_is_as_installed_is_ok(targets: list[Target], home: Path):
    assert statuses(targets, home) == [("pdf", "ok")]


def test_an_edit_is_told_with_its_difference(targets: list[Target], home: Path):
    (targets[0].root / "pdf/notes.md").write_text("mine\n")
    (item,) = check_installed(targets, home=home)
    assert item.status is Status.EDITED
    assert item.diff is not None
    assert [file.path for file in item.diff.added] == ["notes.md"]
    assert item.fix == "skillyard update pdf"


def test_an_edit_is_told_even_when_the_installed_content_is_not_kept_here(targets: list[Target], tmp_path: Path):
    (targets[0].root / "pdf/notes.md").write_text("mine\n")
    (item,) = check_installed(targets, home=tmp_path / "another-home")
    assert (item.status, item.diff) == (Status.EDITED, None)


def test_caches_are_no_edit(targets: list[Target], home: Path):
    (targets[0].root / "pdf/__pycache__").mkdir()
    (targets[0].root / "pdf/__pycache__/x.pyc").touch()
    assert statuses(targets, home) == [("pdf", "ok")]


def test_an_executable_bit_is_an_edit(targets: list[Target], home: Path):
    (targets[0].root / "pdf/SKILL.md").chmod(0o755)
    assert statuses(targets, home) == [("pdf", "edited")]


def test_a_missing_folder_is_told(targets: list[Target], home: Path, tmp_path: Path):
    (targets[0].root / "pdf").rename(tmp_path / "elsewhere")
    assert statuses(targets, home) == [("pdf", "missing")]


@pytest.mark.parametrize("what", ["file", "link", "linked-file"])
def test_something_that_cannot_be_a_skill_is_unreadable(targets: list[Target], home: Path, tmp_path: Path, what: str):
    folder = targets[0].root / "pdf"
    if what == "linked-file":
        (folder / "x").symlink_to("/etc/passwd")
    else:
        folder.rename(tmp_path / "elsewhere")
        folder.write_text("x") if what == "file" else folder.symlink_to(tmp_path / "elsewhere")
    (item,) = check_installed(targets, home=home)
    assert item.status is Status.UNREADABLE
    assert item.reason


def test_a_link_that_is_missing_or_leads_elsewhere_is_told(targets: list[Target], home: Path, tmp_path: Path):
    link = targets[1].root / "pdf"
    link.unlink()
    assert statuses(targets, home) == [("pdf", "link")]
    link.symlink_to(tmp_path)
    (item,) = check_installed(targets, home=home)
    assert (item.status, str(link) in item.reason) == (Status.LINK, True)


def test_skills_that_no_lock_names_are_untracked(targets: list[Target], home: Path, skill_md):
    for folder in ("own", "group/nested"):
        (targets[1].root / folder).mkdir(parents=True)
        (targets[1].root / folder / "SKILL.md").write_text(skill_md("own"))
    assert statuses(targets, home) == [("pdf", "ok"), ("own", "untracked"), ("nested", "untracked")]


@pytest.mark.parametrize("folder", [".skillyard-0123456789abcdef", ".system/own", "group/.old/own"])
def test_hidden_folders_are_not_told(targets: list[Target], home: Path, skill_md, folder: str):
    (targets[1].root / folder).mkdir(parents=True)
    (targets[1].root / folder / "SKILL.md").write_text(skill_md("own"))
    assert statuses(targets, home) == [("pdf", "ok")]


def test_a_folder_that_cannot_be_tracked_hides_no_other(targets: list[Target], home: Path, skill_md):
    for folder in ("nul", "own"):
        (targets[1].root / folder).mkdir()
        (targets[1].root / folder / "SKILL.md").write_text(skill_md("own"))
    items = {item.id: item for item in check_installed(targets, home=home)}
    assert items["own"].reason == "No lock names it."
    assert "cannot be tracked" in items["nul"].reason


def test_a_result_as_json_names_the_fix(targets: list[Target], home: Path):
    (targets[0].root / "pdf/notes.md").write_text("mine\n")
    document = check_installed(targets, home=home)[0].as_dict()
    assert (document["status"], document["id"]) == ("edited", "pdf")
    assert document["diff"]["files"][0]["path"] == "notes.md"
