"""The audit with this person's settings."""

from dataclasses import replace
from typing import TYPE_CHECKING

from skillyard.app.libraries import configured_roots, index_dir
from skillyard.config.paths import config_dir
from skillyard.library.agents import find_agent
from skillyard.library.audit import audit
from skillyard.library.audit_agent import line_length
from skillyard.library.audit_model import AgentView, AuditReport, BudgetUse, Issue
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
        index_dir=index_dir(settings),
        max_depth=settings.max_depth,
    )
    views = tuple(_with_budget(view, settings.prompt_budget) for view in report.agents)
    judged = [view for view, before in zip(views, report.agents, strict=True) if before.budget is None]
    return replace(report, agents=views, issues=(*report.issues, *map(_over_own_budget, filter(_is_over, judged))))


def _with_budget(view: AgentView, limit: int) -> AgentView:
    if view.budget is not None:
        return view
    agent = find_agent(view.id)
    return replace(view, budget=BudgetUse(sum(line_length(agent, entry) for entry in view.sees), limit))


def _is_over(view: AgentView) -> bool:
    return view.budget is not None and view.budget.over


def _over_own_budget(view: AgentView) -> Issue:
    used = view.budget.used if view.budget else 0
    limit = view.budget.limit if view.budget else 0
    return Issue(
        code="over-budget",
        severity=Severity.INFO,
        message=f"{view.label} is told of {len(view.sees)} skills in {used:,} characters; your limit is {limit:,}.",
        fix=f"skillyard config set prompt_budget {used}",
        agents=(view.id,),
    )
