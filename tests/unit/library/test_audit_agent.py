import subprocess
from pathlib import Path

from skillyard.library.audit import audit
from skillyard.library.audit_model import AgentView, AuditReport, Issue, Reason
from skillyard.library.roots import Configured, Machine
from skillyard.skill.models import Severity

UNQUOTED = "---\nname: pdf\ndescription: Use it for: reading.\n---\nDo it.\n"


def view_of(report: AuditReport, agent: str) -> AgentView:
    (view,) = [view for view in report.agents if view.id == agent]
    return view


def sees(report: AuditReport, agent: str) -> list[str]:
    return [entry.id for entry in view_of(report, agent).sees]


def only(report: AuditReport, code: str) -> Issue:
    (issue,) = [issue for issue in report.issues if issue.code == code]
    return issue


def run(command: str) -> None:
    subprocess.run(command, shell=True, check=True)


def test_frontmatter_that_is_no_strict_yaml_is_not_seen_by_codex(machine: Machine, claude, codex, shared, write_skill):
    path = write_skill(shared / "pdf", text=UNQUOTED)
    (claude / "pdf").symlink_to(shared / "pdf")
    report = audit(machine)
    assert (sees(report, "claude-code"), sees(report, "codex")) == (["pdf"], [])
    assert view_of(report, "codex").why("pdf")[0].reason is Reason.YAML
    issue = only(report, "yaml-unquoted")
    assert (issue.severity, issue.agents, issue.path) == (Severity.WARNING, ("codex",), str(path))
    assert "Codex refuses the file as it is" in issue.message
    assert (issue.fix, issue.see) == ("", f"skillyard validate {path}")


def test_frontmatter_that_is_no_strict_yaml_is_told_without_such_an_agent(machine: Machine, claude, write_skill):
    write_skill(claude / "pdf", text=UNQUOTED)
    issue = only(audit(machine), "yaml-unquoted")
    assert issue.agents == ()
    assert "Some agents refuse the file as it is" in issue.message


def test_codex_follows_links_to_folders_wherever_they_lead(machine: Machine, codex, tmp_path: Path, write_skill):
    write_skill(tmp_path / "elsewhere/pdf")
    write_skill(tmp_path / "many/one")
    (codex / "pdf").symlink_to(tmp_path / "elsewhere/pdf")
    (codex / "all").symlink_to(tmp_path / "many")
    report = audit(machine)
    assert sees(report, "codex") == ["one", "pdf"]
    assert view_of(report, "codex").unseen == ()
    issue = only(report, "link-outside")
    assert issue.severity is Severity.INFO
    assert issue.message.endswith("Codex follows it; Skillyard does not, and whether other agents do is not known.")


def test_codex_passes_over_a_skill_file_that_is_a_link(machine: Machine, codex, tmp_path: Path, write_skill):
    (codex / "pdf").mkdir()
    (codex / "pdf/SKILL.md").symlink_to(write_skill(tmp_path / "elsewhere/pdf"))
    report = audit(machine)
    assert sees(report, "codex") == []
    assert only(report, "link-outside").severity is Severity.WARNING


def test_codex_passes_over_it_behind_a_link_to_a_folder_too(machine: Machine, codex, tmp_path: Path, write_skill):
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked/SKILL.md").symlink_to(write_skill(tmp_path / "elsewhere/pdf"))
    (codex / "pdf").symlink_to(tmp_path / "linked")
    assert sees(audit(machine), "codex") == []


def test_other_agents_are_not_said_to_follow_links(machine: Machine, claude, tmp_path: Path, write_skill):
    write_skill(tmp_path / "elsewhere/pdf")
    (claude / "pdf").symlink_to(tmp_path / "elsewhere/pdf")
    report = audit(machine)
    assert sees(report, "claude-code") == []
    assert only(report, "link-outside").severity is Severity.WARNING


def test_a_link_to_a_folder_of_skills_outside_stays_where_it_leads(
    machine: Machine, claude, tmp_path: Path, write_skill
):
    write_skill(tmp_path / "many/one")
    write_skill(tmp_path / "many/two")
    (tmp_path / "many/README.md").write_text("# Mine\n")
    (claude / "all").symlink_to(tmp_path / "many")
    issue = only(audit(machine), "link-without-skill")
    assert (issue.fix, issue.advice) == ("", "Put a link to each skill, or a copy of it, beside this link.")


def test_a_link_through_which_an_agent_reads_skills_is_not_replaced(machine: Machine, codex, claude, write_skill):
    write_skill(claude / "one")
    (codex / "all").symlink_to(claude)
    report = audit(machine)
    assert sees(report, "codex") == ["one"]
    assert only(report, "link-without-skill").fix == ""


def test_a_broken_skill_in_a_folder_it_does_not_read_is_explained(machine: Machine, claude, codex, write_skill):
    write_skill(claude / "bad", text="no frontmatter")
    (why,) = view_of(audit(machine), "codex").why("bad")
    assert why.reason is Reason.OTHER_FOLDER
    assert "only in ~/.claude/skills, which Codex does not read" in why.message


def test_a_skill_file_right_in_the_folder_of_skills_is_moved(machine: Machine, claude, write_skill):
    write_skill(claude, name="pdf")
    report = audit(machine)
    assert sees(report, "claude-code") == []
    run(only(report, "file-name").fix)
    report = audit(machine)
    assert (sees(report, "claude-code"), report.issues) == (["pdf"], ())


def test_a_configured_root_may_be_a_skill_itself(machine: Machine, tmp_path: Path, write_skill):
    write_skill(tmp_path / "pdf")
    assert audit(machine, configured=Configured(extra=[tmp_path / "pdf"])).issues == ()


def test_a_link_is_right_where_the_agents_folder_is_a_link_itself(machine: Machine, shared, write_skill):
    write_skill(shared / "pdf")
    (machine.home / "dot/files/claude/skills").mkdir(parents=True)
    (machine.home / ".claude").symlink_to("dot/files/claude")
    run(view_of(audit(machine), "claude-code").why("pdf")[0].advice.split("`")[1])
    assert sees(audit(machine), "claude-code") == ["pdf"]


def test_a_link_takes_the_place_of_an_empty_folder(machine: Machine, claude, shared, write_skill):
    write_skill(shared / "pdf")
    (claude / "pdf").mkdir()
    run(view_of(audit(machine), "claude-code").why("pdf")[0].advice.split("`")[1])
    assert sees(audit(machine), "claude-code") == ["pdf"]


def test_an_empty_folder_is_a_note(machine: Machine, claude):
    (claude / "pdf").mkdir()
    issue = only(audit(machine), "empty-folder")
    assert (issue.severity, issue.fix) == (Severity.INFO, f"rmdir {claude / 'pdf'}")
