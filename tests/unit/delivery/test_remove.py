import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skillyard.delivery.add import plan_add
from skillyard.delivery.apply import apply_plan
from skillyard.delivery.check import Status, check_installed
from skillyard.delivery.fetch import fetch_source
from skillyard.delivery.links import leads_to
from skillyard.delivery.lock import read_lock, write_lock
from skillyard.delivery.place import project_place
from skillyard.delivery.plan import Act
from skillyard.delivery.remove import Reader, RemoveOptions, plan_remove
from skillyard.delivery.restore import restore_item
from skillyard.delivery.source import Source, SourceKind
from skillyard.delivery.target import Target
from skillyard.delivery.trash import Trash
from skillyard.errors import InputError, NotFoundError


@pytest.fixture
def project(tmp_path: Path, home: Path, skill_md) -> Path:
    """A project with the skill `pdf`, shared by two agents."""
    source = tmp_path / "source" / "pdf"
    source.mkdir(parents=True)
    (source / "SKILL.md").write_text(skill_md("pdf"))
    project = tmp_path / "project"
    target = Target(place=project_place(project), root=project / ".agents/skills", links=(project / ".claude/skills",))
    project.mkdir()
    apply_plan(plan_add(fetch_source(Source(kind=SourceKind.FOLDER, location=str(source))), [target]), home=home)
    return project


def at(project: Path, root: str) -> Target:
    return Target(place=project_place(project), root=project / root)


def test_a_skill_is_removed_with_its_links_and_its_entry(project: Path, home: Path):
    outcome = apply_plan(plan_remove(["pdf"], [at(project, ".agents/skills")]), home=home)
    assert [action.act for action in outcome.done] == [Act.REMOVE]
    assert list((project / ".agents/skills").iterdir()) == list((project / ".claude/skills").iterdir()) == []
    assert read_lock(project_place(project)).entries == ()


def test_what_was_removed_can_be_brought_back(project: Path, home: Path):
    before = (project / "skillyard.lock").read_bytes()
    outcome = apply_plan(plan_remove(["pdf"], [at(project, ".agents/skills")]), home=home)
    restore_item(outcome.trashed[0].name, home=home)
    assert (project / "skillyard.lock").read_bytes() == before
    assert (project / ".claude/skills/pdf/SKILL.md").is_file()
    assert (project / ".claude/skills/pdf").is_symlink()
    assert Trash(home).items() == []


def test_an_edited_skill_is_removed_only_by_force(project: Path, home: Path):
    (project / ".agents/skills/pdf/notes.md").write_text("mine")
    target = at(project, ".agents/skills")
    plan = plan_remove(["pdf"], [target])
    assert [action.act for action in plan.actions] == [Act.CONFLICT]
    assert apply_plan(plan, home=home).done == ()
    outcome = apply_plan(plan_remove(["pdf"], [target], RemoveOptions(force=True)), home=home)
    assert (outcome.trashed[0].content / "notes.md").read_text() == "mine"


def test_caches_left_by_running_its_scripts_are_no_edit(project: Path):
    cache = project / ".agents/skills/pdf/scripts/__pycache__"
    cache.mkdir(parents=True)
    (cache / "x.cpython-311.pyc").write_bytes(b"x")
    assert plan_remove(["pdf"], [at(project, ".agents/skills")]).actions[0].act is Act.REMOVE


def test_for_one_agent_only_its_link_is_removed(project: Path, home: Path):
    plan = plan_remove(["pdf"], [at(project, ".claude/skills")], RemoveOptions(only_here=True))
    outcome = apply_plan(plan, home=home)
    assert [action.act for action in outcome.done] == [Act.RECORD]
    assert not (project / ".claude/skills/pdf").exists()
    assert (project / ".agents/skills/pdf/SKILL.md").is_file()
    assert read_lock(project_place(project)).entries[0].links == ()


def test_without_naming_an_agent_a_link_leads_to_the_whole_skill(project: Path, home: Path):
    apply_plan(plan_remove(["pdf"], [at(project, ".claude/skills")]), home=home)
    assert not (project / ".agents/skills/pdf").exists()


def test_an_untracked_folder_is_removed_only_by_force(project: Path, home: Path):
    folder = project / ".claude/skills/own"
    folder.mkdir()
    (folder / "SKILL.md").write_text("mine")
    target = at(project, ".claude/skills")
    assert plan_remove(["own"], [target]).actions[0].act is Act.CONFLICT
    outcome = apply_plan(plan_remove(["own"], [target], RemoveOptions(force=True)), home=home)
    assert not folder.exists()
    restore_item(outcome.trashed[0].name, home=home)
    assert (folder / "SKILL.md").read_text() == "mine"


def test_an_untracked_link_is_removed_without_what_it_leads_to(project: Path, home: Path, tmp_path: Path):
    (tmp_path / "precious").mkdir()
    (project / ".claude/skills/own").symlink_to(tmp_path / "precious")
    apply_plan(plan_remove(["own"], [at(project, ".claude/skills")], RemoveOptions(force=True)), home=home)
    assert not (project / ".claude/skills/own").is_symlink()
    assert (tmp_path / "precious").is_dir()


def test_a_skill_whose_folder_is_gone_is_taken_out_of_the_lock(project: Path, home: Path):
    target = at(project, ".agents/skills")
    first = apply_plan(plan_remove(["pdf"], [target]), home=home).trashed[0]
    restore_item(first.name, home=home)
    (project / ".agents/skills/pdf").rename(project / "elsewhere")
    outcome = apply_plan(plan_remove(["pdf"], [target]), home=home)
    assert outcome.trashed == ()
    assert read_lock(target.place).entries == ()
    assert not (project / ".claude/skills/pdf").is_symlink()


def test_a_link_that_a_person_replaced_is_left_alone(project: Path, home: Path):
    link = project / ".claude/skills/pdf"
    link.unlink()
    link.mkdir()
    (link / "SKILL.md").write_text("mine")
    outcome = apply_plan(plan_remove(["pdf"], [at(project, ".agents/skills")]), home=home)
    assert [action.act for action in outcome.done] == [Act.REMOVE]
    assert (link / "SKILL.md").read_text() == "mine"


def test_a_link_that_a_person_made_goes_with_the_skill(project: Path, home: Path):
    (project / ".cursor/skills").mkdir(parents=True)
    (project / ".cursor/skills/pdf").symlink_to("../../.agents/skills/pdf")
    targets = [at(project, ".agents/skills"), at(project, ".cursor/skills")]
    apply_plan(plan_remove(["pdf"], targets), home=home)
    assert not (project / ".cursor/skills/pdf").is_symlink()


def test_a_skill_that_is_not_there_is_not_found(project: Path):
    with pytest.raises(NotFoundError, match="nobody"):
        plan_remove(["nobody"], [at(project, ".agents/skills")])


def test_removing_never_leaves_the_folder_of_skills(project: Path):
    for name in ("..", ".", "../../..", "/etc", "a/b", ""):
        with pytest.raises(NotFoundError):
            plan_remove([name], [at(project, ".agents/skills")], RemoveOptions(force=True))


def test_the_last_thing_thrown_away_is_listed_first(project: Path, home: Path):
    for name in ("a", "b"):
        (project / ".claude/skills" / name).mkdir()
        apply_plan(plan_remove([name], [at(project, ".claude/skills")], RemoveOptions(force=True)), home=home)
    assert [item.name for item in Trash(home).items()] == ["0002-b", "0001-a"]


@pytest.mark.parametrize("name", ["nothing", "../x", "", "..", "0001-x"])
def test_what_is_not_in_the_trash_is_not_found(home: Path, name: str):
    with pytest.raises(NotFoundError):
        restore_item(name, home=home)


def test_a_trash_record_that_is_broken_is_a_typed_error(project: Path, home: Path):
    item = apply_plan(plan_remove(["pdf"], [at(project, ".agents/skills")]), home=home).trashed[0]
    (item.content.parent / "trash.json").write_text("{}")
    with pytest.raises(InputError) as caught:
        restore_item(item.name, home=home)
    assert item.content.is_dir()
    assert str(item.content) in caught.value.hint


def test_a_built_in_skill_is_switched_off_instead(project: Path):
    with pytest.raises(NotFoundError, match="built into") as caught:
        plan_remove(["skill-creator"], [at(project, ".agents/skills")])
    assert caught.value.hint.endswith("skillyard skill disable skill-creator")


CLAUDE, CODEX = ".claude/skills", ".agents/skills"


def for_codex(project: Path, **fields: Any) -> RemoveOptions:
    return RemoveOptions(only_here=True, for_agents=True, shared=[project / CODEX], **fields)


def test_a_folder_that_another_agent_links_to_moves_there(project: Path, home: Path):
    (project / CODEX / "pdf/notes.md").write_text("mine")
    outcome = apply_plan(plan_remove(["pdf"], [at(project, CODEX)], for_codex(project)), home=home)
    assert [action.act for action in outcome.done] == [Act.MOVE]
    assert not os.path.lexists(project / CODEX / "pdf")
    assert not (project / CLAUDE / "pdf").is_symlink()
    assert (project / CLAUDE / "pdf/notes.md").read_text() == "mine"
    (entry,) = read_lock(project_place(project)).entries
    assert (entry.path, entry.links) == (f"{CLAUDE}/pdf", ())
    assert outcome.trashed == ()


def test_of_several_links_one_gets_the_folder_and_the_others_lead_to_it(project: Path, home: Path):
    other = project / ".kiro/skills/pdf"
    other.parent.mkdir(parents=True)
    other.symlink_to(project / CODEX / "pdf")
    targets = [at(project, CODEX), at(project, CLAUDE), at(project, ".kiro/skills")]
    place = project_place(project)
    lock = read_lock(place)
    write_lock(place, lock.having(replace(lock.entries[0], links=(f"{CLAUDE}/pdf", ".kiro/skills/pdf"))))
    apply_plan(plan_remove(["pdf"], targets[:1], for_codex(project)), home=home)
    assert not (project / CLAUDE / "pdf").is_symlink()
    assert leads_to(other, project / CLAUDE / "pdf")
    assert {item.status for item in check_installed(targets, home=home)} == {Status.OK}


def test_what_another_agent_sees_only_in_the_shared_folder_is_not_taken_from_it(project: Path, home: Path):
    gemini = Reader(label="Gemini CLI", roots=(project / ".gemini/skills", project / CODEX))
    cursor = Reader(label="Cursor", roots=(project / CODEX, project / CLAUDE))
    options = for_codex(project, readers=[gemini, cursor], switches=["codex"])
    (action,) = plan_remove(["pdf"], [at(project, CODEX)], options).actions
    assert action.act is Act.CONFLICT
    assert "Gemini CLI" in action.reason
    assert "Cursor" not in action.reason
    assert action.fix == "skillyard skill disable pdf -a codex"
    options = for_codex(project, readers=[cursor])
    assert plan_remove(["pdf"], [at(project, CODEX)], options).actions[0].act is Act.MOVE


def test_an_edited_skill_is_removed_by_the_command_that_is_printed(project: Path):
    (project / CODEX / "pdf/notes.md").write_text("mine")
    (action,) = plan_remove(["pdf"], [at(project, CODEX)], RemoveOptions(where=["--root", "my skills"])).actions
    assert action.fix == "skillyard remove pdf --root 'my skills' --force -y"
