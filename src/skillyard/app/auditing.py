"""The audit with this person's settings."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from skillyard.agents.session_logs.log_places import has_logs
from skillyard.app.libraries import configured_roots
from skillyard.app.switching import find_anywhere
from skillyard.config.paths import config_dir
from skillyard.library.audit import OVER_BUDGET, audit, over_budget_advice
from skillyard.library.audit_model import AgentView, AuditReport, BudgetUse, Issue
from skillyard.library.index import index_dir
from skillyard.library.roots import Machine
from skillyard.library.switches import load_switches
from skillyard.skill.models import Severity

if TYPE_CHECKING:
    from skillyard.config.settings import Settings

USE_DAYS: Final = 30
"""How far back session logs say what is used."""


def audit_machine(settings: "Settings", machine: Machine) -> AuditReport:
    """What each agent here sees, and what is wrong. Agents that publish no limit are held to the person's own."""
    report = audit(
        machine,
        configured=configured_roots(settings),
        switches=load_switches(config_dir()),
        index_dir=index_dir(settings.home),
        max_depth=settings.max_depth,
    )
    views = tuple(_with_budget(view, settings.prompt_budget) for view in report.agents)
    judged = [view for view, before in zip(views, report.agents, strict=True) if before.budget is None]
    is_guess = settings.prompt_budget == type(settings).model_fields["prompt_budget"].default
    over = (
        _over_own_budget(view, view.budget, is_guess=is_guess) for view in judged if view.budget and view.budget.over
    )
    issues = [_with_known_use(issue, report, machine) for issue in report.issues]
    return replace(report, agents=views, issues=(*issues, *over))


def _with_known_use(issue: Issue, report: AuditReport, machine: Machine) -> Issue:
    """The issue; one about a budget also says what is known about the use of the skills."""
    if issue.code != OVER_BUDGET:
        return issue
    view = next(view for view in report.agents if view.id in issue.agents)
    # Reading the logs takes too long for every audit; checking whether there are any is quick.
    if not has_logs(view.id, machine, datetime.now(UTC) - timedelta(days=USE_DAYS)):
        known = f"There is no session log of {view.label} from the last {USE_DAYS} days, so nothing is known about use."
        return replace(issue, see="", advice=over_budget_advice(view, known))
    return replace(issue, see=f"skillyard skill usage -a {view.id}")


def _with_budget(view: AgentView, limit: int) -> AgentView:
    if view.budget is not None:
        return view
    return replace(view, budget=BudgetUse(view.characters, limit, setting="prompt_budget"))


def _over_own_budget(view: AgentView, budget: BudgetUse, *, is_guess: bool) -> Issue:
    whose = "only our guess" if is_guess else "your setting prompt_budget"
    known = f"What {view.label} uses is not known: it keeps no session log that Skillyard reads."
    return Issue(
        code=OVER_BUDGET,
        severity=Severity.INFO,
        message=f"{view.label} gets a list of {len(view.sees)} skills in {budget.used:,} characters. It documents no "
        f"limit; {budget.limit:,} is {whose}.",
        advice=over_budget_advice(view, known),
        agents=(view.id,),
    )


def skill_id(settings: "Settings", report: AuditReport, wanted: str) -> str:
    """The id of the skill of that id or name, which an audit tells of; an error that names the nearest if none is."""
    for view in report.agents:
        told = (entry.id for entry in (*view.sees, *(item.entry for item in view.shadowed)))
        for known in (*told, *(item.skill for item in view.unseen)):
            if known.casefold() == wanted.casefold():
                return known
    return find_anywhere(settings, wanted).id
