"""`skillyard audit`, and `skillyard` alone."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Final

import typer

from skillyard.app.auditing import audit_machine
from skillyard.cli.options import Agents
from skillyard.cli.output import Answer, sink_of
from skillyard.cli.text import BAD, FAINT, GOOD, STYLES, count, hanging, print_rows, styled
from skillyard.config.load import load_settings
from skillyard.library.agents import find_agent
from skillyard.library.audit_model import AgentView, Issue
from skillyard.library.roots import Machine
from skillyard.skill.models import Severity

if TYPE_CHECKING:
    from rich.console import Console

_MARKS: Final = {Severity.ERROR: "✗", Severity.WARNING: "!", Severity.INFO: "·"}


def audit(
    context: typer.Context,
    agent: Agents = None,
    *,
    why: Annotated[str, typer.Option("--why", metavar="SKILL", help="Who sees this skill, and who not and why.")] = "",
    unseen: Annotated[bool, typer.Option("--unseen", help="Also what each agent does not see, and why.")] = False,
) -> Answer:
    """What each agent here really sees, and what is wrong.

    Every finding comes with the command that fixes it. Exit code 1 when something is broken.
    """
    with sink_of(context).busy("Looking at every agent"):
        report = audit_machine(load_settings(), Machine.here())
    wanted = {find_agent(name).id for name in agent or ()}
    if wanted:
        report = replace(
            report,
            agents=tuple(view for view in report.agents if view.id in wanted),
            issues=tuple(issue for issue in report.issues if wanted & set(issue.agents)),
        )
    if why:
        return _why(report.agents, why)

    def text(console: "Console") -> None:
        for view in report.agents:
            print_agent(console, view, unseen=unseen)
        if not report.agents:
            console.print("There is no agent here that reads skills.")
        print_issues(console, report.issues)

    broken = any(issue.severity is Severity.ERROR for issue in report.issues)
    return Answer(document=report.as_dict(), text=text, exit_code=1 if broken else 0)


def print_issues(console: "Console", issues: Sequence[Issue]) -> None:
    """Everything that is wrong, the serious first, and one line that sums it up."""
    width = max((len(issue.code) for issue in issues), default=0)
    indent = " " * (width + 4)
    text = styled()
    for issue in issues:
        text.append(f"\n{_MARKS[issue.severity]} {issue.code:<{width}}  ", STYLES[issue.severity])
        text.append(f"{hanging(console, issue.message, indent)}\n")
        if issue.path:
            text.append(f"{indent}{issue.path}\n", FAINT)
        if issue.fix:
            text.append(f"{indent}fix: {issue.fix}\n", GOOD)
    console.print(text, soft_wrap=True)
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
        title.append(f"  {view.budget.used:,} of {view.budget.limit:,} characters", style)
    more = {"shadowed": view.shadowed, "off": view.disabled, "unseen": view.unseen}
    title.append("".join(f"  {len(items)} {word}" for word, items in more.items() if items), FAINT)
    console.print(title, soft_wrap=True)
    by_source = {root.label: [e.id for e in view.sees if e.source == root.label] for root in view.roots}
    print_rows(console, [(f"  {label}", ", ".join(ids)) for label, ids in by_source.items() if ids])
    for item in view.unseen if unseen else ():
        line = styled(f"  {item.skill}: {item.message}\n", (f"    fix: {item.fix}\n", GOOD))
        console.print(line, end="", soft_wrap=True)


def _why(views: Sequence[AgentView], skill: str) -> Answer:
    """For each agent: that it sees the skill and from where, or every reason why it does not."""
    seen = {view.id: [e for e in view.sees if e.id.casefold() == skill.casefold()] for view in views}

    def text(console: "Console") -> None:
        for view in views:
            entries, reasons = seen[view.id], view.why(skill)
            mark = styled(("✓ ", GOOD)) if entries else styled(("✗ ", BAD))
            where = ", ".join(entry.location for entry in entries) or ("" if reasons else "It is not on this machine.")
            console.print(mark + styled((view.label, "bold"), f"  {where}"), soft_wrap=True)
            for item in reasons:
                console.print(f"  {item.message} {item.path}", soft_wrap=True)
                console.print(styled((f"  fix: {item.fix}", GOOD)), soft_wrap=True)

    return Answer(
        document={
            "skill": skill,
            "agents": [
                {
                    "id": view.id,
                    "sees": [entry._asdict() for entry in seen[view.id]],
                    "unseen": [item._asdict() for item in view.why(skill)],
                }
                for view in views
            ],
        },
        text=text,
        exit_code=0 if any(seen.values()) else 1,
    )
