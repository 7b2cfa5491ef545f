import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from skillyard.library.agents import find_agent
from skillyard.library.audit import audit, present_agents
from skillyard.library.audit_model import AgentView, AuditReport, Issue, Reason
from skillyard.library.folder import FolderLibrary
from skillyard.library.roots import Configured, Machine
from skillyard.library.switches import Switches
from skillyard.skill.models import Severity


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


def test_an_empty_machine_has_nothing_to_tell(machine: Machine):
    report = audit(machine)
    assert (report.agents, report.roots, report.issues) == ((), (), ())


def test_agents_are_known_by_their_files_or_by_a_folder_only_they_read(machine: Machine, claude, shared, write_skill):
    write_skill(machine.cwd / ".windsurf" / "skills" / "x")
    assert [agent.id for agent in present_agents(machine)] == ["claude-code", "windsurf"]


def test_each_agent_sees_what_is_in_its_folders(machine: Machine, claude, codex, shared, write_skill):
    write_skill(claude / "for-claude")
    write_skill(shared / "for-many")
    write_skill(machine.cwd / ".claude/skills/of-project")
    report = audit(machine)
    assert sees(report, "claude-code") == ["for-claude", "of-project"]
    assert sees(report, "codex") == ["for-many"]
    assert [(view.root.label, view.skills) for view in report.roots] == [
        ("~/project/.claude/skills", 1),
        ("~/.claude/skills", 1),
        ("~/.agents/skills", 1),
        ("~/.codex/skills", 0),
    ]


def test_a_skill_only_in_another_agents_folder_is_explained(machine: Machine, claude, shared, write_skill):
    write_skill(shared / "pdf")
    (why,) = view_of(audit(machine), "claude-code").why("PDF")
    assert why.reason is Reason.OTHER_FOLDER
    assert why.message == "It is only in ~/.agents/skills, which Claude Code does not read."
    assert audit(machine).issues == ()
    assert why.fix == ""
    run(why.advice.split("`")[1])
    assert (claude / "pdf").readlink() == Path("../../.agents/skills/pdf")
    report = audit(machine)
    assert (sees(report, "claude-code"), report.issues) == (["pdf"], ())


def test_nothing_needs_explaining_that_is_seen_or_not_there(machine: Machine, claude, write_skill):
    write_skill(claude / "pdf")
    view = view_of(audit(machine), "claude-code")
    assert view.why("pdf") == view.why("unknown") == ()


def test_a_link_into_a_known_root_is_the_same_skill(machine: Machine, claude, shared, write_skill):
    write_skill(shared / "pdf")
    (claude / "pdf").symlink_to(shared / "pdf")
    (machine.home / ".cursor").mkdir()
    report = audit(machine)
    assert sees(report, "claude-code") == ["pdf"]
    assert sees(report, "cursor") == ["pdf"]
    assert report.issues == ()


def test_the_agents_own_rule_decides_which_of_two_wins(machine: Machine, claude, write_skill):
    (machine.home / ".gemini").mkdir()
    for base in (machine.home, machine.cwd):
        for folder in (".claude/skills", ".gemini/skills"):
            write_skill(base / folder / "deploy", body=str(base))
    report = audit(machine)
    (hidden,) = view_of(report, "claude-code").shadowed
    assert hidden.by.location == str(machine.home / ".claude/skills/deploy/SKILL.md")
    (hidden,) = view_of(report, "gemini-cli").shadowed
    assert hidden.by.location == str(machine.cwd / ".gemini/skills/deploy/SKILL.md")


def test_codex_shows_skills_of_one_id_side_by_side(machine: Machine, codex, shared, write_skill):
    write_skill(codex / "pdf", body="one")
    write_skill(shared / "pdf", body="two")
    report = audit(machine)
    assert sees(report, "codex") == ["pdf", "pdf"]
    assert view_of(report, "codex").shadowed == ()
    assert "Codex shows both" in only(report, "conflict").message


def test_a_skill_that_another_agent_uses_is_never_to_be_removed(machine: Machine, claude, write_skill):
    (machine.home / ".cursor").mkdir()
    write_skill(claude / "pdf", body="mine")
    write_skill(machine.cwd / ".claude/skills/pdf", body="theirs")
    issue = only(audit(machine), "conflict")
    assert issue.agents == ("claude-code", "cursor")
    assert (issue.fix, issue.see.split()[:3]) == ("", ["skillyard", "skill", "diff"])


def test_each_copy_is_read_once_however_many_there_are(machine, claude, codex, write_skill, monkeypatch):
    read: list[str] = []
    bundle = FolderLibrary.bundle
    monkeypatch.setattr(FolderLibrary, "bundle", lambda self, entry: read.append(entry.location) or bundle(self, entry))
    (machine.home / ".cursor").mkdir()
    copies = [write_skill(folder / "pdf", body="same") for folder in (claude, codex, machine.home / ".agents/skills")]
    write_skill(claude / "alone")
    audit(machine)
    assert sorted(read) == sorted(map(str, copies))


def test_files_beside_the_instructions_count_as_content(machine: Machine, claude, codex, write_skill):
    write_skill(claude / "pdf")
    write_skill(codex / "pdf")
    (codex / "pdf" / "extra.txt").write_text("more")
    assert only(audit(machine), "conflict").severity is Severity.INFO


@pytest.mark.parametrize("file", ["skill.md", "Skill.md", "SKILL.MD", "SKILL.markdown", "README.md"])
def test_a_skill_file_of_another_name_is_found_and_renamed(machine: Machine, claude, write_skill, file: str):
    write_skill(claude / "pdf", file=file)
    report = audit(machine)
    issue = only(report, "file-name")
    assert (issue.skill, issue.agents, sees(report, "claude-code")) == ("pdf", ("claude-code",), [])
    assert view_of(report, "claude-code").why("pdf")[0].reason is Reason.FILE_NAME
    run(issue.fix)
    report = audit(machine)
    assert (sees(report, "claude-code"), report.issues) == (["pdf"], ())


def test_a_loose_file_becomes_a_folder(machine: Machine, claude, write_skill):
    write_skill(claude, file="pdf tool.md", name="pdf")
    run(only(audit(machine), "file-name").fix)
    report = audit(machine)
    assert (sees(report, "claude-code"), report.issues) == (["pdf tool"], ())


def test_other_files_and_folders_are_nobodys_business(machine: Machine, claude):
    (claude / "README.md").write_text("# My skills\n")
    (claude / "notes").mkdir()
    (claude / "notes" / "README.md").write_text("# Notes\n")
    assert audit(machine).issues == ()


def test_a_skill_deeper_than_an_agent_looks_is_told_and_linked(machine: Machine, claude, codex, write_skill):
    write_skill(claude / "tools" / "pdf")
    write_skill(codex / "tools" / "draw")
    (machine.home / ".cursor").mkdir()
    report = audit(machine)
    issue = only(report, "too-deep")
    assert (issue.skill, issue.agents) == ("pdf", ("claude-code",))
    assert (sees(report, "claude-code"), sees(report, "codex")) == ([], ["draw"])
    run(issue.fix)
    report = audit(machine)
    assert (sees(report, "claude-code"), sees(report, "cursor"), report.issues) == (["pdf"], ["draw", "pdf"], ())
    assert (claude / "tools/pdf/SKILL.md").is_file()
    assert [view.shadowed for view in report.agents] == [()] * 3


def test_a_deeper_skill_whose_place_is_taken_has_no_fix(machine: Machine, claude, write_skill):
    write_skill(claude / "tools" / "pdf", body="one")
    write_skill(machine.cwd / ".claude/skills/pdf", body="the project's")
    issue = only(audit(machine), "too-deep")
    assert (issue.fix, issue.advice) == (
        "",
        "Another skill with this id is in reach: decide which of the two agents should see.",
    )


def test_a_name_that_differs_from_its_folder_matters_to_some_agents(machine: Machine, claude, write_skill):
    write_skill(claude / "pdf", name="reader")
    path = write_skill(machine.home / ".roo/skills/pdf", name="reader")
    report = audit(machine)
    issue = only(report, "name-mismatch")
    assert (issue.agents, sees(report, "claude-code"), sees(report, "roo")) == (("roo",), ["pdf"], [])
    # To rename the folder would take the skill `pdf` away from all who know it by that name.
    assert (issue.fix, issue.see) == ("", f"skillyard validate {path}")
    assert "`name: pdf`" in issue.advice


def test_a_description_too_long_for_an_agent_is_told(machine: Machine, codex, write_skill):
    path = write_skill(codex / "pdf", description="x" * 1025)
    issue = only(audit(machine), "description-length")
    assert "1,025 characters; Codex takes 1,024" in issue.message
    assert (issue.fix, issue.see) == ("", f"skillyard validate {path}")


def test_a_broken_skill_is_an_error_with_its_findings(machine: Machine, claude, write_skill):
    write_skill(claude / "good")
    path = write_skill(claude / "bad", text="no frontmatter")
    report = audit(machine)
    issue = only(report, "broken")
    assert (issue.severity, issue.skill, issue.see) == (Severity.ERROR, "bad", f"skillyard validate {path}")
    assert [finding.code for finding in issue.findings] == ["frontmatter-missing"]
    assert view_of(report, "claude-code").why("bad")[0].reason is Reason.BROKEN


def test_a_dangling_link_is_removed(machine: Machine, claude):
    (claude / "gone").symlink_to("/nowhere/at all")
    issue = only(audit(machine), "link-dangling")
    assert issue.severity is Severity.WARNING
    run(issue.fix)
    assert audit(machine).issues == ()


def test_a_link_out_of_every_root_stays_and_the_choice_is_said(machine: Machine, claude, tmp_path: Path, write_skill):
    write_skill(tmp_path / "elsewhere" / "pdf")
    (claude / "pdf").symlink_to(tmp_path / "elsewhere" / "pdf")
    issue = only(audit(machine), "link-outside")
    assert (issue.severity, issue.fix) == (Severity.WARNING, "")
    assert issue.message == (
        f"This link leads out of your skill folders, to {tmp_path / 'elsewhere/pdf'}. "
        "Agents may follow it; Skillyard does not."
    )
    assert "setting `roots`" in issue.advice


@pytest.mark.parametrize("file", ["SKILL.md", "skill.md"])
def test_a_skill_file_that_is_a_link_out_of_every_root_is_told(machine, claude, tmp_path, write_skill, file):
    (claude / "pdf").mkdir()
    (claude / "pdf" / file).symlink_to(write_skill(tmp_path / "elsewhere" / "pdf"))
    assert f"to {tmp_path / 'elsewhere/pdf/SKILL.md'}." in only(audit(machine), "link-outside").message


def test_a_loose_file_never_takes_the_place_of_a_skill(machine: Machine, claude, write_skill):
    write_skill(claude / "pdf", body="good")
    write_skill(claude, file="pdf.md", name="pdf", body="notes")
    issue = only(audit(machine), "file-name")
    assert (issue.fix, issue.advice[:31]) == ("", "Another skill with this id is i")


def test_two_loose_files_of_one_name_do_not_overwrite_each_other(machine: Machine, claude, write_skill):
    for file in ("pdf.md", "pdf.markdown"):
        write_skill(claude, file=file, name="pdf", body=file)
    for issue in audit(machine).issues:
        subprocess.run(issue.fix, shell=True, check=False)
    kept = "".join(path.read_text() for path in claude.rglob("*") if path.is_file())
    assert "\npdf.md\n" in kept
    assert "\npdf.markdown\n" in kept


def test_a_skill_file_that_is_a_link_out_to_nothing_goes(machine: Machine, claude):
    (claude / "pdf").mkdir()
    (claude / "pdf" / "SKILL.md").symlink_to("/nowhere/SKILL.md")
    run(only(audit(machine), "link-dangling").fix)
    run(only(audit(machine), "empty-folder").fix)
    assert audit(machine).issues == ()


def test_a_link_to_a_folder_of_skills_becomes_links_to_each(machine: Machine, claude, shared, write_skill):
    write_skill(shared / "one")
    write_skill(shared / "two")
    (claude / "all").symlink_to(shared)
    run(only(audit(machine), "link-without-skill").fix)
    report = audit(machine)
    assert (sees(report, "claude-code"), report.issues) == (["one", "two"], ())


def test_what_an_agents_own_settings_turn_off_is_not_seen(machine: Machine, claude, write_skill):
    write_skill(claude / "pdf")
    (claude.parent / "settings.json").write_text('{"skillOverrides": {"pdf": "off"}}')
    report = audit(machine)
    view = view_of(report, "claude-code")
    assert (view.sees, [(item.entry.id, item.by) for item in view.disabled]) == ((), [("pdf", "agent")])
    assert view.why("pdf")[0].fix == "skillyard skill enable pdf -a claude-code"


def test_what_only_skillyard_turns_off_is_still_seen_and_said_so(machine: Machine, claude, shared, write_skill):
    write_skill(claude / "pdf")
    (machine.home / ".cursor").mkdir()
    report = audit(machine, switches=Switches().disable("pdf"))
    assert sees(report, "claude-code") == ["pdf"]
    issue = only(report, "still-visible")
    assert (issue.severity, issue.agents) == (Severity.INFO, ("claude-code", "cursor"))
    assert issue.fix == ""
    assert issue.advice.startswith("Nothing to do if you meant only Skillyard.")
    (off,) = view_of(report, "cursor").disabled
    assert (off.by, off.undo) == ("skillyard", "skillyard skill enable pdf")


def test_settings_that_cannot_be_read_are_told(machine: Machine, claude, write_skill):
    write_skill(claude / "pdf")
    path = claude.parent / "settings.json"
    path.write_text("{")
    issue = only(audit(machine), "settings-unreadable")
    assert (issue.path, issue.agents) == (str(path), ("claude-code",))


def test_a_list_over_the_prompt_budget_is_told_with_its_largest_groups_and_turns_nothing_off(
    machine: Machine, claude, write_skill
):
    for number in range(5):
        write_skill(claude / f"s-{number}", description="x" * 100 * (number + 1))
    small = replace(machine, env={"SLASH_COMMAND_TOOL_CHAR_BUDGET": "1300"})
    view = view_of(audit(small), "claude-code")
    assert (view.budget.used, view.budget.limit, view.budget.over) == (1540, 1300, True)
    assert view.characters == 1540
    issue = only(audit(small), "over-budget")
    assert (issue.fix, issue.see) == ("", "skillyard skill usage")
    assert "The largest groups: s-* (5 skills, 1,540 characters)." in issue.advice
    assert "`skillyard skill disable` with names or patterns and `-a claude-code`" in issue.advice
    assert view_of(audit(machine), "claude-code").budget.limit == find_agent("claude").budget.characters
    assert audit(machine).issues == ()


def test_the_size_of_the_list_is_told_where_no_limit_is_known(machine: Machine, write_skill):
    write_skill(machine.home / ".cursor/skills/pdf", description="x" * 100)
    view = view_of(audit(machine), "cursor")
    assert (view.budget, view.characters) == (None, len("- pdf: \n") + 100)


def test_roots_that_settings_name_are_looked_at_too(machine: Machine, tmp_path: Path, write_skill):
    write_skill(tmp_path / "extra" / "bad", text="no frontmatter")
    report = audit(machine, configured=Configured(extra=[tmp_path / "extra"]))
    assert [view.root.path for view in report.roots] == [tmp_path / "extra"]
    assert only(report, "broken").agents == ()


def test_the_report_is_json_with_the_serious_first(machine: Machine, claude, codex, write_skill):
    write_skill(claude / "bad", text="no frontmatter")
    write_skill(claude / "pdf")
    write_skill(codex / "pdf")
    (claude / "gone").symlink_to("/nowhere")
    document = json.loads(json.dumps(audit(machine).as_dict()))
    assert [issue["severity"] for issue in document["issues"]] == ["error", "warning", "info"]
    assert document["summary"] == {"agents": 2, "skills": 2, "errors": 1, "warnings": 1, "notes": 1}
    assert set(document["agents"][0]) == {
        "id",
        "label",
        "roots",
        "skills",
        "characters",
        "shadowed",
        "disabled",
        "unseen",
        "budget",
    }
    assert set(document["issues"][0]) == {
        "code",
        "severity",
        "message",
        "fix",
        "see",
        "advice",
        "skill",
        "path",
        "agents",
        "findings",
    }


def test_every_issue_says_what_can_be_done(machine: Machine, claude, codex, shared, write_skill):
    write_skill(claude / "bad", text="no frontmatter")
    write_skill(claude / "deep" / "er" / "one")
    write_skill(claude / "pdf", body="a")
    write_skill(codex / "pdf", body="b")
    write_skill(shared / "pdf", body="c")
    (claude / "gone").symlink_to("/nowhere")
    (claude / "odd").mkdir()
    (claude / "odd" / "SKILL.md").mkdir()
    (claude / "bad\u200bname").mkdir()
    write_skill(claude / "bad\u200bname")
    report = audit(machine, switches=Switches().disable("pdf"))
    assert len(report.issues) >= 6
    assert all(issue.fix or issue.see or issue.advice for issue in report.issues)
    assert all(item.fix or item.see or item.advice for view in report.agents for item in view.unseen)


def test_the_documentation_tells_every_code_and_reason():
    text = (Path(__file__).parents[3] / "docs" / "library.md").read_text(encoding="utf-8")
    codes = {"conflict", "duplicate", "override", "over-budget", "still-visible", "settings-unreadable", *Reason}
    codes |= {"link-dangling", "link-outside", "link-without-skill", "empty-folder"}
    assert [code for code in sorted(codes) if f"`{code}`" not in text] == []
