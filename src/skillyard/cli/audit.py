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
from skillyard.library.agents import find_agent
from skillyard.library.audit_model import AgentView, Issue, Unseen
from skillyard.library.roots import Machine
from skillyard.skill.models import Severity

if TYPE_CHECKING:
    from rich.console import Console

_MARKS: Final = {Severity.ERROR: "✗", Severity.WARNING: "!", Severity.INFO: "·"}


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

    Every finding comes with the command that fixes it. Exit code 1 when something is broken.
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
        for view in report.agents:
            print_agent(console, short_view(view, machine) if unseen else view, unseen=unseen)
        if not report.agents:
            console.print("There is no agent here that reads skills.")
        print_issues(console, [short_issue(issue, machine) for issue in report.issues])
        if not any(view.sees for view in report.agents):
            _print_first_steps(console)

    broken = any(issue.severity is Severity.ERROR for issue in report.issues)
    return Answer(document=report.as_dict(), text=text, exit_code=1 if broken else 0)


def print_issues(console: "Console", issues: Sequence[Issue]) -> None:
    """Everything that is wrong, the serious first, and one line that sums it up."""
    width = max((len(issue.code) for issue in issues), default=0)
    indent = " " * (width + 4)
    text = styled()
    for issue in issues[:MAX_SHOWN]:
        text.append(f"\n{_MARKS[issue.severity]} {issue.code:<{width}}  ", STYLES[issue.severity])
        text.append(f"{hanging(console, inline(issue.message), indent)}\n")
        if issue.path:
            text.append(f"{indent}{inline(issue.path)}\n", FAINT)
        if issue.fix:
            text.append(f"{indent}fix: {inline(issue.fix)}\n", GOOD)
    console.print(text, soft_wrap=True)
    print_more(console, len(issues), "issue")
    counts = {
        severity: sum(issue.severity is severity for issue in issues)
        for severity in (Severity.ERROR, Severity.WARNING, Severity.INFO)
    }
    if not issues:
        console.print(styled(("Nothing is wrong.", GOOD)))
        return
    nouns = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
    console.print(", ".join(count(number, nouns[severity]) for severity, number in counts.items() if number))


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
    rows = [(f"  {inline(label)}", inline(", ".join(ids))) for label, ids in by_source.items() if ids]
    print_rows(console, rows)
    for item in view.unseen if unseen else ():
        what = inline(f"{item.skill}: {item.message}")
        line = styled(f"  {what}\n", (f"    fix: {inline(item.fix)}\n", GOOD))
        console.print(line, end="", soft_wrap=True)


def short_issue(issue: Issue, machine: Machine) -> Issue:
    """The issue with `~` for the home folder, as people write it."""
    return replace(
        issue,
        message=_short(issue.message, machine),
        path=_short(issue.path, machine),
        fix=_short_command(issue.fix, machine),
    )


def short_view(view: AgentView, machine: Machine) -> AgentView:
    """The view with `~` for the home folder in what it says of skills that are not seen."""
    return replace(view, unseen=tuple(_short_reason(item, machine) for item in view.unseen))


def _short_reason(item: Unseen, machine: Machine) -> Unseen:
    return item._replace(
        message=_short(item.message, machine),
        path=_short(item.path, machine),
        fix=_short_command(item.fix, machine),
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
                console.print(styled(f"  {inline(f'{item.message} {item.path}')}"), soft_wrap=True)
                console.print(styled((f"  fix: {inline(item.fix)}", GOOD)), soft_wrap=True)
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
