from dataclasses import replace
from pathlib import Path

import pytest

from skillyard.errors import UsageError
from skillyard.library.agents import Scope, find_agent
from skillyard.library.roots import (
    Configured,
    Machine,
    discover_roots,
    install_root,
    label_of,
    project_folders,
    roots_for,
)


def paths(roots) -> list[Path]:
    return [root.path for root in roots]


def test_the_project_reaches_up_to_the_top_of_the_repository(machine: Machine):
    inner = machine.cwd / "packages" / "web"
    inner.mkdir(parents=True)
    assert project_folders(replace(machine, cwd=inner)) == (inner, inner.parent, machine.cwd)


def test_without_a_repository_the_project_is_the_working_folder(tmp_path: Path):
    cwd = tmp_path / "a" / "b"
    cwd.mkdir(parents=True)
    assert project_folders(Machine(home=tmp_path, cwd=cwd, env={})) == (cwd,)


def test_an_agent_that_climbs_reads_every_folder_on_the_way_nearest_first(machine: Machine):
    inner = machine.cwd / "web"
    inner.mkdir()
    roots = roots_for(find_agent("claude"), replace(machine, cwd=inner))
    assert paths(roots) == [
        machine.home / ".claude/skills",
        inner / ".claude/skills",
        machine.cwd / ".claude/skills",
    ]


def test_an_agent_that_does_not_climb_reads_the_top_of_the_project(machine: Machine):
    inner = machine.cwd / "web"
    inner.mkdir()
    roots = roots_for(find_agent("kiro"), replace(machine, cwd=inner))
    assert paths(roots) == [machine.cwd / ".kiro/skills", machine.home / ".kiro/skills"]


def test_in_the_home_folder_nothing_is_a_project(machine: Machine):
    roots = roots_for(find_agent("claude"), replace(machine, cwd=machine.home))
    assert [(root.path, root.scope) for root in roots] == [(machine.home / ".claude/skills", Scope.USER)]


def test_only_own_folders_can_be_asked_for(machine: Machine):
    roots = roots_for(find_agent("cursor"), machine, own=True)
    assert paths(roots) == [machine.cwd / ".cursor/skills", machine.home / ".cursor/skills"]


@pytest.mark.parametrize(
    ("agent", "scope", "expected"),
    [
        ("claude", Scope.PROJECT, "project/.claude/skills"),
        ("claude", Scope.USER, ".claude/skills"),
        ("codex", Scope.USER, ".agents/skills"),
        ("gemini", Scope.USER, ".gemini/skills"),
    ],
)
def test_a_skill_for_an_agent_goes_to_its_own_folder(machine: Machine, agent: str, scope: Scope, expected: str):
    inner = machine.cwd / "deep"
    inner.mkdir()
    root = install_root(find_agent(agent), scope, replace(machine, cwd=inner))
    assert root.path == machine.home / expected
    assert root.label == f"~/{expected}"


def test_an_agent_without_a_project_folder_says_so(machine: Machine):
    with pytest.raises(UsageError, match="OpenClaw has no project folder") as caught:
        install_root(find_agent("openclaw"), Scope.PROJECT, machine)
    assert "user" in caught.value.hint


def test_all_roots_are_found_in_the_order_in_which_they_win(machine: Machine, tmp_path: Path):
    wanted = {
        "extra": tmp_path / "extra",
        "environment": tmp_path / "environment",
        "project": machine.cwd / ".claude/skills",
        "documents": tmp_path / "documents/skills",
        "user": machine.home / ".claude/skills",
        "builtin": tmp_path / "builtin",
    }
    for path in wanted.values():
        path.mkdir(parents=True)
    configured = Configured(
        extra=[wanted["extra"]],
        environment=wanted["environment"],
        document_root=tmp_path / "documents",
        builtin=wanted["builtin"],
    )
    assert paths(discover_roots(machine, configured)) == list(wanted.values())


def test_a_root_tells_every_agent_that_reads_it(machine: Machine):
    (machine.home / ".agents/skills").mkdir(parents=True)
    (root,) = discover_roots(machine)
    assert {"codex", "gemini-cli", "roo"} <= set(root.agents)
    assert "claude-code" not in root.agents
    assert len(root.agents) == len(set(root.agents))


def test_roots_that_are_not_there_yet_are_not_told(machine: Machine):
    assert discover_roots(machine) == ()


def test_paths_below_the_home_are_written_with_a_tilde():
    home = Path("/home/person")
    assert label_of(home / ".claude/skills", home=home) == "~/.claude/skills"
    assert label_of(Path("/srv/skills"), home=home) == "/srv/skills"
    assert label_of(home, home=home) == "/home/person"


def test_this_process_is_a_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    here = Machine.here()
    assert (here.home, here.cwd, here.env["HOME"]) == (tmp_path, tmp_path, str(tmp_path))
