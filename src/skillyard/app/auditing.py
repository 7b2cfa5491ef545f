"""The audit with this person's settings."""

from dataclasses import replace
from typing import TYPE_CHECKING

from skillyard.app.libraries import configured_roots
from skillyard.app.switching import find_anywhere
from skillyard.config.paths import config_dir
from skillyard.library import audit_fixes as fixes
from skillyard.library.agents import find_agent
from skillyard.library.audit import audit, longest_lines
from skillyard.library.audit_model import AgentView, AuditReport, BudgetUse, Issue
from skillyard.library.index import index_dir
from skillyard.library.roots import Machine
from skillyard.library.switches import load_switches
from skillyard.skill.models import Severity

if TYPE_CHECKING:
    from skillyard.config.settings import Settings


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
    return replace(report, agents=views, issues=(*report.issues, *map(_over_own_budget, filter(_is_over, judged))))


def _with_budget(view: AgentView, limit: int) -> AgentView:
    if view.budget is not None:
        return view
    return replace(view, budget=BudgetUse(view.characters, limit, setting="prompt_budget"))


def _is_over(view: AgentView) -> bool:
    return view.budget is not None and view.budget.over


def _over_own_budget(view: AgentView) -> Issue:
    budget = view.budget or BudgetUse(0, 0)
    longest = longest_lines(view, budget)
    agent = find_agent(view.id)
    # An agent without a switch of its own can only be told less by shorter descriptions, which a person writes.
    turn_off = " && ".join(fixes.disable(entry.id, agent) for entry in longest) if agent.switch else ""
    return Issue(
        code="over-budget",
        severity=Severity.INFO,
        message=f"{view.label} is told of {len(view.sees)} skills in {budget.used:,} characters. It documents no limit;"
        f" yours is {budget.limit:,} (setting prompt_budget). Shorten the longest descriptions"
        f" ({', '.join(entry.id for entry in longest)}), turn skills off, or raise the setting."
        " An agent of your own can be given what fits: `skillyard skill catalog`.",
        fix=turn_off or f"skillyard config set prompt_budget {budget.used}",
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
