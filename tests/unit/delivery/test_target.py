from pathlib import Path

import pytest

from skillyard.delivery.place import folder_place, project_place, user_place
from skillyard.delivery.target import Target, agent_targets, folder_target, root_targets
from skillyard.errors import NotFoundError
from skillyard.library.agents import Scope
from skillyard.library.roots import Machine, Root


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    project = tmp_path / "me" / "work" / "project"
    (project / ".git").mkdir(parents=True)
    (project / "sub").mkdir()
    return Machine(home=tmp_path / "me", cwd=project / "sub", env={})


def test_one_agent_gets_the_skill_in_its_own_folder_of_the_project(machine: Machine, home: Path):
    project = machine.cwd.parent
    targets = agent_targets(["claude"], Scope.PROJECT, machine=machine, home=home)
    assert targets == (Target(place=project_place(project), root=project / ".claude/skills"),)


def test_several_agents_share_one_copy_and_get_links(machine: Machine, home: Path):
    project = machine.cwd.parent
    targets = agent_targets(["claude", "codex", "cursor", "claude-code"], Scope.PROJECT, machine=machine, home=home)
    links = (project / ".claude/skills", project / ".cursor/skills")
    assert targets == (Target(place=project_place(project), root=project / ".agents/skills", links=links),)


def test_with_copy_every_agent_gets_its_own(machine: Machine, home: Path):
    targets = agent_targets(["claude", "codex"], Scope.PROJECT, machine=machine, home=home, copy=True)
    assert [target.root.parent.name for target in targets] == [".claude", ".agents"]
    assert all(target.links == () for target in targets)


def test_a_persons_own_folders_are_in_the_lock_of_skillyards_home(machine: Machine, home: Path):
    targets = agent_targets(["claude", "codex"], Scope.USER, machine=machine, home=home)
    place = user_place(home, machine.home)
    assert targets == (
        Target(place=place, root=machine.home / ".agents/skills", links=(machine.home / ".claude/skills",)),
    )


def test_a_folder_that_a_variable_puts_elsewhere_gets_its_own_copy_and_lock(
    machine: Machine, home: Path, tmp_path: Path
):
    elsewhere = tmp_path / "elsewhere"
    apart = Machine(home=machine.home, cwd=machine.cwd, env={"CLAUDE_CONFIG_DIR": str(elsewhere)})
    shared, claude = agent_targets(["claude", "codex"], Scope.USER, machine=apart, home=home)
    assert (shared.root, shared.links) == (machine.home / ".agents/skills", ())
    assert claude == Target(place=folder_place(elsewhere / "skills"), root=elsewhere / "skills")


def test_the_home_folder_is_nobodys_project(machine: Machine, home: Path):
    at_home = Machine(home=machine.home, cwd=machine.home, env={})
    (target,) = agent_targets(["claude"], Scope.PROJECT, machine=at_home, home=home)
    assert target.place == user_place(home, machine.home)


def test_an_unknown_agent_is_named(machine: Machine, home: Path):
    with pytest.raises(NotFoundError, match="nobody"):
        agent_targets(["nobody"], Scope.PROJECT, machine=machine, home=home)


def test_any_folder_has_a_lock_that_speaks_for_it(machine: Machine, home: Path, tmp_path: Path):
    project = machine.cwd.parent

    def place(root: str | Path):
        return folder_target(Path(root), machine=machine, home=home).place

    assert place("skills") == project_place(project)
    assert folder_target(Path("../other"), machine=machine, home=home).root == project / "other"
    assert place("../../outside") == folder_place(project.parent / "outside")
    assert place(machine.home / ".claude/skills") == user_place(home, machine.home)
    assert place(machine.home / "my-skills") == folder_place(machine.home / "my-skills")
    assert place(tmp_path / "srv") == folder_place(tmp_path / "srv")


def test_the_folders_of_a_library_have_their_locks(machine: Machine, home: Path, tmp_path: Path):
    roots = [
        Root(path=machine.cwd.parent / ".claude/skills", label="p", scope=Scope.PROJECT),
        Root(path=machine.home / ".claude/skills", label="u", scope=Scope.USER),
        Root(path=tmp_path / "extra", label="e", scope=Scope.EXTRA),
        Root(path=machine.cwd.parent / "extra", label="e", scope=Scope.EXTRA),
    ]
    places = [target.place for target in root_targets(roots, machine=machine, home=home)]
    assert places == [
        project_place(machine.cwd.parent),
        user_place(home, machine.home),
        folder_place(tmp_path / "extra"),
        project_place(machine.cwd.parent),
    ]
