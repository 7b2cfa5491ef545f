import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from skillyard.library.audit import audit
from skillyard.library.audit_model import AuditReport, Issue
from skillyard.library.roots import Configured, Machine


@pytest.fixture
def shell(machine: Machine) -> Callable[[str], int]:
    """Pastes a command into a shell on the machine, where `skillyard` is installed."""
    env = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(machine.home),
        "SKILLYARD_HOME": str(machine.home / ".local/share/skillyard"),
    }
    return lambda command: subprocess.run(command, shell=True, check=False, cwd=machine.cwd, env=env).returncode


def only(report: AuditReport, code: str) -> Issue:
    (issue,) = [issue for issue in report.issues if issue.code == code]
    return issue


def sees(report: AuditReport) -> dict[str, list[str]]:
    return {view.id: [entry.id for entry in view.sees] for view in report.agents}


def test_copies_for_different_agents_become_a_link(machine: Machine, claude, codex, write_skill, shell):
    write_skill(claude / "pdf")
    write_skill(codex / "pdf")
    issue = only(audit(machine), "duplicate")
    assert issue.agents == ()
    assert "rm -r" not in issue.fix
    assert shell(issue.fix) == 0
    report = audit(machine)
    assert (sees(report), report.issues) == ({"claude-code": ["pdf"], "codex": ["pdf"]}, ())
    assert (codex / "pdf").readlink() == Path("../../.claude/skills/pdf")


def test_after_the_fix_of_an_installed_copy_everything_agrees(machine: Machine, claude, codex, write_skill, shell):
    write_skill(claude / "pdf")
    assert shell(f"skillyard add {claude / 'pdf'} -a codex --user >/dev/null") == 0
    assert shell(only(audit(machine), "duplicate").fix) == 0
    assert audit(machine).issues == ()
    assert shell("skillyard skill check >/dev/null") == 0


def test_three_copies_are_told_once_and_one_paste_is_enough(machine: Machine, claude, codex, write_skill, shell):
    for folder in (claude, codex, machine.home / ".agents/skills"):
        write_skill(folder / "pdf")
    issue = only(audit(machine), "duplicate")
    assert len(set(issue.fix.split(" && "))) == len(issue.fix.split(" && "))
    assert shell(issue.fix) == 0
    report = audit(machine)
    assert (sees(report), report.issues) == ({"claude-code": ["pdf"], "codex": ["pdf"]}, ())


def test_a_copy_that_links_lead_to_is_not_taken_away(machine: Machine, claude, codex, write_skill, shell):
    write_skill(machine.home / ".agents/skills/pdf")
    (claude / "pdf").symlink_to("../../.agents/skills/pdf")
    write_skill(codex / "pdf")
    assert shell(only(audit(machine), "duplicate").fix) == 0
    report = audit(machine)
    assert (sees(report), report.issues) == ({"claude-code": ["pdf"], "codex": ["pdf"]}, ())


def test_no_link_is_left_dangling_by_a_fix(machine: Machine, codex, write_skill, shell):
    write_skill(machine.cwd / ".agents/skills/pdf")
    write_skill(machine.home / ".agents/skills/pdf")
    (codex / "pdf").symlink_to("../../.agents/skills/pdf")
    assert shell(only(audit(machine), "duplicate").fix) == 0
    report = audit(machine)
    assert (sees(report), report.issues) == ({"codex": ["pdf"]}, ())


def test_copies_and_a_different_skill_never_give_one_command_twice(machine: Machine, claude, write_skill, shell):
    write_skill(claude / "pdf", body="other")
    for folder in (".claude/skills", "sub/.claude/skills"):
        write_skill(machine.cwd / folder / "pdf")
    below = Machine(home=machine.home, cwd=machine.cwd / "sub", env={})
    fixes = [issue.fix for issue in audit(below).issues]
    assert [issue.code for issue in audit(below).issues] == ["conflict", "duplicate"]
    assert len(set(fixes)) == 2
    assert all(shell(fix) in {0, 1} for fix in fixes)
    assert only(audit(below), "conflict").fix.startswith("skillyard remove pdf ")


def test_a_projects_copy_is_not_linked_to_one_outside_of_it(machine: Machine, claude, write_skill):
    (machine.home / ".codex").mkdir()
    write_skill(claude / "pdf")
    write_skill(machine.cwd / ".agents/skills/pdf")
    assert audit(machine).issues == ()


def test_what_comes_with_the_program_or_an_environment_is_its_own(machine: Machine, claude, tmp_path, write_skill):
    for folder in (claude, tmp_path / "package", tmp_path / "environment"):
        write_skill(folder / "same")
        write_skill(folder / "pdf", body=folder.name)
    own = Configured(builtin=tmp_path / "package", environment=tmp_path / "environment")
    assert audit(machine, configured=own).issues == ()
