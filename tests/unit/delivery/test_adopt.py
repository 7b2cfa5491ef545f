import json
from pathlib import Path

import pytest

from skillyard.delivery.adopt import plan_adopt
from skillyard.delivery.apply import apply_plan
from skillyard.delivery.check import check_installed
from skillyard.delivery.lock import LockEntry, read_lock
from skillyard.delivery.place import project_place
from skillyard.delivery.plan import Act
from skillyard.delivery.source import SourceKind
from skillyard.delivery.target import Target
from skillyard.errors import NotFoundError
from skillyard.library.roots import Machine


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    return project


@pytest.fixture
def machine(project: Path, tmp_path: Path) -> Machine:
    return Machine(home=tmp_path / "me", cwd=project, env={})


@pytest.fixture
def targets(project: Path) -> list[Target]:
    return [Target(place=project_place(project), root=project / root) for root in (".agents/skills", ".claude/skills")]


def write(folder: Path, text: str) -> None:
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(text)


def adopted(targets: list[Target], machine: Machine, home: Path, **options: object) -> tuple[LockEntry, ...]:
    apply_plan(plan_adopt(targets, machine=machine, **options), home=home)
    return read_lock(targets[0].place).entries


def test_what_nobody_tracks_becomes_local(targets, machine: Machine, home: Path):
    write(targets[0].root / "own", "---\nname: own\ndescription: d\nmetadata:\n  version: '2.0'\n---\n")
    before = (targets[0].root / "own/SKILL.md").stat()
    (entry,) = adopted(targets, machine, home)
    assert (entry.id, entry.path, entry.version) == ("own", ".agents/skills/own", "2.0")
    assert (entry.source.kind, entry.verified) == (SourceKind.LOCAL, True)
    assert (targets[0].root / "own/SKILL.md").stat() == before
    assert [item.status for item in check_installed(targets, home=home)] == ["ok"]


def test_links_of_other_agents_are_taken_over(project: Path, targets, machine: Machine, home: Path, skill_md):
    write(targets[0].root / "own", skill_md("own"))
    targets[1].root.mkdir(parents=True)
    (targets[1].root / "own").symlink_to("../../.agents/skills/own")
    (entry,) = adopted(targets, machine, home)
    assert entry.links == (".claude/skills/own",)


def test_the_source_that_another_installer_wrote_down_is_taken_over(
    project, targets, machine: Machine, home: Path, skill_md
):
    write(targets[0].root / "pdf", skill_md("pdf"))
    fields = {"source": "o/r", "sourceType": "github", "skillPath": "skills/pdf/SKILL.md", "computedHash": "0" * 64}
    (project / "skills-lock.json").write_text(json.dumps({"version": 1, "skills": {"pdf": fields}}))
    (entry,) = adopted(targets, machine, home)
    assert (entry.source.location, entry.source.subpath) == ("https://github.com/o/r", "skills/pdf")
    assert not entry.verified


def test_a_skill_is_also_known_by_its_name(project, targets, machine: Machine, home: Path, skill_md):
    write(targets[0].root / "folder", skill_md("pdf"))
    fields = {"source": "o/r", "sourceType": "github"}
    (project / "skills-lock.json").write_text(json.dumps({"version": 1, "skills": {"pdf": fields}}))
    (entry,) = adopted(targets, machine, home)
    assert entry.source.location == "https://github.com/o/r"


def test_adopting_again_changes_nothing(targets, machine: Machine, home: Path, skill_md):
    write(targets[0].root / "own", skill_md("own"))
    adopted(targets, machine, home)
    assert plan_adopt(targets, machine=machine).actions == ()
    plan = plan_adopt(targets, machine=machine, ids=["OWN"])
    assert [action.act for action in plan.actions] == [Act.UNCHANGED]


def test_only_the_named_skills_are_adopted(targets, machine: Machine, home: Path, skill_md):
    for name in ("a", "b"):
        write(targets[0].root / name, skill_md(name))
    assert [entry.id for entry in adopted(targets, machine, home, ids=["B"])] == ["b"]
    with pytest.raises(NotFoundError, match="nobody"):
        plan_adopt(targets, machine=machine, ids=["nobody"])


def test_an_own_skill_that_was_edited_is_taken_as_it_is_now_when_named(targets, machine: Machine, home: Path, skill_md):
    write(targets[0].root / "own", skill_md("own"))
    adopted(targets, machine, home)
    (targets[0].root / "own/notes.md").write_text("mine")
    (item,) = check_installed(targets, home=home)
    assert (item.status, "skill adopt own" in item.fix) == ("edited", True)
    assert plan_adopt(targets, machine=machine).actions == ()
    adopted(targets, machine, home, ids=["own"])
    assert [item.status for item in check_installed(targets, home=home)] == ["ok"]


def test_a_folder_outside_the_project_is_refused(project: Path, targets, machine: Machine, tmp_path: Path, skill_md):
    write(tmp_path / "outside/own", skill_md("own"))
    (project / ".claude").mkdir()
    (project / ".claude/skills").symlink_to(tmp_path / "outside")
    (action,) = plan_adopt(targets, machine=machine).actions
    assert (action.act, "leads out" in action.reason) == (Act.REFUSED, True)


def test_a_folder_that_cannot_be_a_skill_is_refused(targets, machine: Machine, skill_md):
    write(targets[0].root / "bad", skill_md("bad"))
    (targets[0].root / "bad/link").symlink_to("/etc/passwd")
    (action,) = plan_adopt(targets, machine=machine).actions
    assert action.act is Act.REFUSED
    assert action.fix


def test_an_origin_that_is_not_exact_is_told_and_gives_no_source(tmp_path: Path, skill_md):
    folder = tmp_path / "project/.agents/skills/pdf"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(skill_md("pdf"))
    origin = {"source": "a.example", "sourceUrl": "https://a.example/team/a", "sourceType": "well-known"}
    (tmp_path / "project/skills-lock.json").write_text(json.dumps({"version": 1, "skills": {"pdf": origin}}))
    machine = Machine(home=tmp_path / "person", cwd=tmp_path / "project", env={})
    target = Target(place=project_place(tmp_path / "project"), root=folder.parent)
    (action,) = plan_adopt([target], machine=machine).actions
    assert action.after is not None
    assert action.after.source.kind is SourceKind.LOCAL
    assert "'https://a.example/team/a', which is no exact source" in action.reason
