import pytest

from skillyard.library.audit import audit
from skillyard.library.audit_model import AuditReport, Issue
from skillyard.library.roots import Configured, Machine
from skillyard.skill.models import Severity


def only(report: AuditReport, code: str) -> Issue:
    (issue,) = [issue for issue in report.issues if issue.code == code]
    return issue


def test_copies_for_different_agents_are_a_note_without_a_fix(machine: Machine, claude, codex, write_skill):
    write_skill(claude / "pdf")
    write_skill(codex / "pdf")
    issue = only(audit(machine), "duplicate")
    assert (issue.severity, issue.agents, issue.fix, issue.see) == (Severity.INFO, (), "", "")
    assert "may be the only one that some agent, or some other project, reads" in issue.advice


def test_all_copies_are_told_in_one_note(machine: Machine, claude, codex, write_skill):
    for folder in (claude, codex, machine.home / ".agents/skills"):
        write_skill(folder / "pdf")
    issue = only(audit(machine), "duplicate")
    assert all(str(folder) in issue.message for folder in (claude, codex, machine.home / ".agents/skills"))


def test_a_copy_that_only_one_agent_needs_is_never_to_be_removed(machine: Machine, claude, write_skill):
    (machine.home / ".cursor").mkdir()
    write_skill(claude / "pdf")
    write_skill(machine.home / ".cursor/skills/pdf")
    issue = only(audit(machine), "duplicate")
    assert (issue.agents, issue.fix) == (("cursor",), "")


def test_a_copy_of_the_project_is_no_issue(machine: Machine, claude, write_skill):
    (machine.home / ".codex").mkdir()
    write_skill(claude / "pdf")
    write_skill(machine.cwd / ".agents/skills/pdf")
    assert audit(machine).issues == ()


def test_a_project_that_overrides_a_personal_skill_is_as_meant(machine: Machine, write_skill):
    (machine.home / ".cursor").mkdir()
    (machine.home / ".gemini").mkdir()
    write_skill(machine.home / ".agents/skills/lint", body="mine")
    write_skill(machine.cwd / ".agents/skills/lint", body="the project's")
    report = audit(machine)
    issue = only(report, "override")
    assert [issue.code for issue in report.issues] == ["override"]
    assert (issue.severity, issue.fix, issue.agents) == (Severity.INFO, "", ("cursor", "gemini-cli"))
    assert issue.message.startswith("This project's own 'lint' wins over your personal one,")
    assert issue.advice.startswith("Nothing to do")
    assert issue.see.startswith("skillyard skill diff ")


def test_a_personal_skill_that_hides_the_projects_is_told_and_nothing_is_removed(machine, claude, write_skill):
    write_skill(claude / "pdf", body="mine")
    write_skill(machine.cwd / ".claude/skills/pdf", body="theirs")
    issue = only(audit(machine), "conflict")
    assert (issue.severity, issue.agents, issue.fix) == (Severity.WARNING, ("claude-code",), "")
    assert f"Claude Code uses {claude / 'pdf'}" in issue.message
    assert issue.see == f"skillyard skill diff {machine.cwd / '.claude/skills/pdf'} {claude / 'pdf'}"
    assert "your other projects use the personal one" in issue.advice


@pytest.mark.parametrize("off", [False, True])
def test_a_skill_that_is_switched_off_is_not_unneeded(machine: Machine, claude, codex, write_skill, off: bool):
    write_skill(claude / "figma", body="upstream")
    mine = write_skill(codex / "figma", body="mine")
    (machine.home / ".cursor").mkdir()
    if off:
        rule = f'[[skills.config]]\npath = "{mine}"\nenabled = false\n'
        (codex.parent / "config.toml").write_text(rule)
    issue = only(audit(machine), "conflict")
    assert (issue.fix, issue.see.split()[:3]) == ("", ["skillyard", "skill", "diff"])


def test_what_comes_with_the_program_or_an_environment_is_its_own(machine: Machine, claude, tmp_path, write_skill):
    for folder in (claude, tmp_path / "package", tmp_path / "environment"):
        write_skill(folder / "same")
        write_skill(folder / "pdf", body=folder.name)
    own = Configured(builtin=tmp_path / "package", environment=tmp_path / "environment")
    assert audit(machine, configured=own).issues == ()
