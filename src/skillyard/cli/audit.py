"""`skillyard audit`, and `skillyard` alone."""

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Final

import typer

from skillyard.app.auditing import audit_machine, skill_id
from skillyard.cli.options import Agents
from skillyard.cli.output import Answer, sink_of
from skillyard.cli.safe_text import inline
from skillyard.cli.text import BAD, FAINT, GOOD, MAX_SHOWN, STYLES, count, hanging, print_more, print_rows, styled
from skillyard.config.load import load_settings
from skillyard.library.agents import Scope, find_agent
from skillyard.library.audit_model import AgentView, AuditReport, Issue, Unseen
from skillyard.library.roots import Machine
from skillyard.skill.models import Severity

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_MARKS: Final = {Severity.ERROR: "✗", Severity.WARNING: "!", Severity.INFO: "·"}
_INDENT: Final = "    "
_DEEPER: Final = "      "
_PIPED_WIDTH: Final = 120
"""Width of a line of names when the output is not a terminal."""


def audit(
    context: typer.Context,
    agent: Agents = None,
    *,
    why: Annotated[
        str, typer.Option("--why", metavar="SKILL", help="Which agents see this skill, and why others do not.")
    ] = "",
    unseen: Annotated[bool, typer.Option("--unseen", help="Also list what each agent does not see, and why.")] = False,
) -> Answer:
    """Show what each agent really sees, and what is wrong.

    Every skill is scanned too. An issue that a command can fix comes with that command; no fix takes a skill away from
    an agent. Exit code 1 when something is broken or hostile.
    """
    with sink_of(context).busy("Looking at every agent"):
        settings, machine = load_settings(), Machine.here()
        report = audit_machine(settings, machine)
    wanted = {find_agent(name).id for name in agent or ()}
    if wanted:
        report = replace(
            report,
            agents=tuple(view for view in report.agents if view.id in wanted),
            issues=tuple(issue for issue in report.issues if wanted & set(issue.agents)),
        )
    if why:
        return _why(report.agents, skill_id(settings, report, why), machine)

    def text(console: "Console") -> None:
        issues = [short_issue(issue, machine) for issue in report.issues]
        print_verdict(console, report)
        for view in report.agents:
            print_agent(console, short_view(view, machine) if unseen else view, unseen=unseen)
        if not report.agents:
            console.print("There is no agent here that reads skills.")
        print_issues(console, issues)
        if not any(view.sees for view in report.agents):
            _print_first_steps(console)

    broken = any(issue.severity is Severity.ERROR for issue in report.issues)
    return Answer(document=report.as_dict(), text=text, exit_code=1 if broken else 0)


def print_verdict(console: "Console", report: AuditReport) -> None:
    """The result in one line."""
    summary = report.as_dict()["summary"]
    nouns = {"errors": "error", "warnings": "warning", "notes": "note"}
    counts = [count(summary[key], noun) for key, noun in nouns.items() if summary[key]]
    skills = sum(view.skills for view in report.roots if view.root.scope is not Scope.BUILTIN)
    looked_at = f"{count(skills, 'skill')} of {count(summary['agents'], 'agent')}"
    if summary["errors"] or summary["warnings"]:
        style = STYLES[Severity.ERROR if summary["errors"] else Severity.WARNING]
        console.print(styled((f"{', '.join(counts)}", style), f" in {looked_at}.\n"), soft_wrap=True)
        return
    notes = "".join(f", {each}" for each in counts)
    console.print(styled(("Nothing is wrong.", GOOD), f" {looked_at}{notes}.\n"), soft_wrap=True)


def print_issues(console: "Console", issues: Sequence[Issue]) -> None:
    """Everything that is wrong, the most serious first; what similar issues have in common is printed once."""
    groups: dict[tuple[Severity, str, str], list[Issue]] = {}
    for issue in issues[:MAX_SHOWN]:
        groups.setdefault((issue.severity, issue.code, issue.advice), []).append(issue)
    text = styled()
    for (severity, code, advice), alike in groups.items():
        text.append(f"\n{_MARKS[severity]} {code}", STYLES[severity])
        said = inline(advice)
        if len(alike) == 1:
            text.append(f"  {hanging(console, inline(alike[0].message), _INDENT, len(code) + 4)}\n")
            text.append(f"{_INDENT}{hanging(console, said, _INDENT)}\n" if said else "")
            _append_rest(text, alike[0], _INDENT)
            continue
        text.append(f"  {len(alike)} times{'.' if not said else ''}")
        text.append(f"  {hanging(console, said, _INDENT, len(code) + 14)}\n" if said else "\n")
        for issue in alike:
            text.append(f"{_INDENT}{hanging(console, inline(issue.message), _DEEPER)}\n")
            _append_rest(text, issue, _DEEPER)
    console.print(text, soft_wrap=True)
    print_more(console, len(issues), "issue")


def _append_rest(text: "Text", issue: Issue, indent: str) -> None:
    """The path, unless it was already printed, and the commands."""
    said = f"{issue.message} {issue.see} {issue.fix}"
    if issue.path and issue.path not in said and not issue.message.startswith(f"{issue.path.rpartition('/')[0]} "):
        text.append(f"{indent}{inline(issue.path)}\n", FAINT)
    if issue.see:
        text.append(f"{indent}see: {inline(issue.see)}\n", FAINT)
    if issue.fix:
        text.append(f"{indent}fix: {inline(issue.fix)}\n", GOOD)


def print_agent(console: "Console", view: AgentView, *, unseen: bool = False) -> None:
    """One agent: how much it sees, and from which folders."""
    title = styled((view.label, "bold"), f"  {count(len(view.sees), 'skill')}")
    if view.budget:
        style = BAD if view.budget.over else FAINT
        setting = f" (setting {view.budget.setting})" if view.budget.setting else ""
        title.append(f"  {view.budget.used:,} of {view.budget.limit:,} characters{setting}", style)
    elif view.sees:
        title.append(f"  {view.characters:,} characters", FAINT)
    more = {"shadowed": view.shadowed, "off": view.disabled, "unseen": view.unseen}
    title.append("".join(f"  {len(items)} {word}" for word, items in more.items() if items), FAINT)
    console.print(title, soft_wrap=True)
    by_source = {root.label: [e.id for e in view.sees if e.source == root.label] for root in view.roots}
    width = max((_cells(label) for label, ids in by_source.items() if ids), default=0)
    room = (console.width if console.is_terminal else _PIPED_WIDTH) - width - 4
    rows = [(f"  {inline(label)}", _names_within(ids, room)) for label, ids in by_source.items() if ids]
    print_rows(console, rows)
    for item in view.unseen if unseen else ():
        line = styled(f"  {inline(f'{item.skill}: {item.message}')}\n")
        _append_remedy(line, item)
        console.print(line, end="", soft_wrap=True)


def _cells(text: str) -> int:
    return styled(text).cell_len


def _names_within(ids: Sequence[str], room: int) -> str:
    """As many names as fit, and how many more there are."""
    names = [inline(skill) for skill in ids]
    if _cells(", ".join(names)) <= room:
        return ", ".join(names)
    shown: list[str] = []
    for name in names:
        more = f"{', '.join([*shown, name])}, and {len(names) - len(shown) - 1:,} more"
        if shown and _cells(more) > room:
            break
        shown.append(name)
    return f"{', '.join(shown)}, and {len(names) - len(shown):,} more"


def _append_remedy(text: "Text", item: Unseen, indent: str = "    ") -> None:
    if item.advice:
        text.append(f"{indent}{inline(item.advice)}\n", FAINT)
    if item.see:
        text.append(f"{indent}see: {inline(item.see)}\n", FAINT)
    if item.fix:
        text.append(f"{indent}fix: {inline(item.fix)}\n", GOOD)


def short_issue(issue: Issue, machine: Machine) -> Issue:
    """The issue with `~` for the home folder, as people write it."""
    return replace(
        issue,
        message=_short(issue.message, machine),
        path=_short(issue.path, machine),
        fix=_short_command(issue.fix, machine),
        see=_short_command(issue.see, machine),
        advice=_short(issue.advice, machine),
    )


def short_view(view: AgentView, machine: Machine) -> AgentView:
    """The view with `~` for the home folder in what it says of skills that are not seen."""
    return replace(view, unseen=tuple(_short_reason(item, machine) for item in view.unseen))


def _short_reason(item: Unseen, machine: Machine) -> Unseen:
    return item._replace(
        message=_short(item.message, machine),
        path=_short(item.path, machine),
        fix=_short_command(item.fix, machine),
        see=_short_command(item.see, machine),
        advice=_short(item.advice, machine),
    )


def _short(text: str, machine: Machine) -> str:
    for home in dict.fromkeys((str(machine.home), os.path.realpath(machine.home))):
        text = text.replace(f"{home}/", "~/")
    return text


def _short_command(command: str, machine: Machine) -> str:
    # A shell expands ~ only at the start of a word without quotes; a word in quotes starts with one.
    homes = dict.fromkeys((str(machine.home), os.path.realpath(machine.home)))
    return re.sub(rf"(?<= )(?:{'|'.join(map(re.escape, homes))})/", "~/", command)


def _print_first_steps(console: "Console") -> None:
    console.print()
    print_rows(
        console,
        [
            ("skillyard demo", styled(("see a messy home audited and fixed", FAINT))),
            ("skillyard init NAME", styled(("start a skill of your own", FAINT))),
            ("skillyard add SOURCE", styled(("install one from a folder, an archive or a repository", FAINT))),
        ],
    )


def _why(views: Sequence[AgentView], skill: str, machine: Machine) -> Answer:
    """For each agent: that it sees the skill and from where, or every reason why it does not."""
    folded = skill.casefold()
    seen = {view.id: [entry for entry in view.sees if entry.id.casefold() == folded] for view in views}
    hidden = {view.id: [item for item in view.shadowed if item.entry.id.casefold() == folded] for view in views}

    def text(console: "Console") -> None:
        for view in views:
            mark = styled(("✓ ", GOOD)) if seen[view.id] else styled(("✗ ", BAD))
            where = inline(", ".join(_short(entry.location, machine) for entry in seen[view.id]))
            if not where and not view.why(skill):
                where = "It is in no folder that agents read."
            console.print(mark + styled((view.label, "bold"), f"  {where}" if where else ""), soft_wrap=True)
            for item in hidden[view.id]:
                line = f"hidden by it: {item.entry.location}"
                console.print(styled((f"  {inline(_short(line, machine))}", FAINT)), soft_wrap=True)
            for item in (_short_reason(item, machine) for item in view.why(skill)):
                line = styled(f"  {inline(f'{item.message} {item.path}')}\n")
                _append_remedy(line, item, "  ")
                console.print(line, end="", soft_wrap=True)
        if not views:
            console.print("There is no agent here that reads skills.")

    return Answer(
        document={
            "skill": skill,
            "agents": [
                {
                    "id": view.id,
                    "sees": [entry._asdict() for entry in seen[view.id]],
                    "shadowed": [{**item.entry._asdict(), "by": item.by.location} for item in hidden[view.id]],
                    "unseen": [item._asdict() for item in view.why(skill)],
                }
                for view in views
            ],
        },
        text=text,
        exit_code=0 if any(seen.values()) else 1,
    )
