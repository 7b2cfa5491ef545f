"""The audit: every agent on this machine, what it really sees, what is wrong, and how to put it right."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from skillyard.library import audit_fixes as fixes
from skillyard.library.agents import AGENTS, Agent, Scope, find_agent, is_present
from skillyard.library.audit_agent import Seen, Survey, followed_by, line_length, message_of, see
from skillyard.library.audit_duplicates import duplicate_issues
from skillyard.library.audit_misfits import find_misfits
from skillyard.library.audit_model import AgentView, AuditReport, BudgetUse, Issue, Reason, RootView, Unseen
from skillyard.library.audit_yaml import unquoted_files
from skillyard.library.folder import FolderLibrary
from skillyard.library.roots import Configured, Machine, Root, discover_roots, roots_for
from skillyard.library.switches import Switches
from skillyard.skill.library import Problem, SkillEntry
from skillyard.skill.limits import MAX_FOLDER_DEPTH
from skillyard.skill.models import Severity

SHARED: Final = "agents"
"""The row of the table that is a folder many agents share, not an agent."""
MAX_SUGGESTED: Final = 10
_OF_AGENTS: Final = frozenset({Scope.PROJECT, Scope.USER})
_HIDING: Final = frozenset({Reason.FILE_NAME, Reason.TOO_DEEP, Reason.NAME_MISMATCH, Reason.DESCRIPTION_LENGTH})


def audit(
    machine: Machine,
    *,
    configured: Configured | None = None,
    switches: Switches | None = None,
    index_dir: Path | None = None,
    max_depth: int = MAX_FOLDER_DEPTH,
) -> AuditReport:
    """What each agent here sees, and everything that is wrong. Only looks; nothing is changed."""
    roots = discover_roots(machine, configured)
    roots_at = {root.path: root for root in roots}
    libraries = {
        root.path: FolderLibrary(
            root.path, label=root.label, index_dir=index_dir, known_roots=list(roots_at), max_depth=max_depth
        )
        for root in roots
    }
    catalogs = {path: library.catalog() for path, library in libraries.items()}
    survey = Survey(
        machine=machine,
        switches=switches or Switches(),
        roots=roots_at,
        libraries=libraries,
        catalogs=catalogs,
        misfits={
            path: tuple(find_misfits(path, catalog)) if roots_at[path].scope in _OF_AGENTS else ()
            for path, catalog in catalogs.items()
        },
        folders={
            entry.location: os.path.realpath(os.path.dirname(entry.location))  # noqa: PTH120 -- a location is a string
            for catalog in catalogs.values()
            for entry in catalog.entries
        },
        unquoted=unquoted_files(entry.location for catalog in catalogs.values() for entry in catalog.entries),
    )
    seen = [see(agent, survey) for agent in present_agents(machine)]
    issues = sorted(
        _issues(survey, seen),
        key=lambda issue: (issue.severity.rank, issue.code, issue.skill, issue.path),
    )
    return AuditReport(
        agents=tuple(item.view for item in seen),
        roots=tuple(_root_view(root, survey) for root in roots),
        issues=tuple(issues),
    )


def present_agents(machine: Machine) -> tuple[Agent, ...]:
    """The agents with any sign of them here: their own files, or a folder of skills that only they read."""
    return tuple(agent for agent in AGENTS if agent.id != SHARED and _is_here(agent, machine))


def _is_here(agent: Agent, machine: Machine) -> bool:
    if is_present(agent, home=machine.home, env=machine.env):
        return True
    shared = {root.path for root in roots_for(find_agent(SHARED), machine)}
    own = (root.path for root in roots_for(agent, machine, own=True))
    return any(path not in shared and path.is_dir() for path in own)


def _root_view(root: Root, survey: Survey) -> RootView:
    catalog = survey.catalogs[root.path]
    return RootView(root=root, skills=len(catalog.entries), problems=len(catalog.problems))


def _issues(survey: Survey, seen: list[Seen]) -> Iterator[Issue]:
    views = [item.view for item in seen]
    for path, catalog in survey.catalogs.items():
        readers = tuple(view.id for view in views if any(root.path == path for root in view.roots))
        yield from (_broken(problem, readers, survey) for problem in catalog.problems)
        for misfit in survey.misfits[path]:
            yield Issue(
                code=misfit.code,
                severity=misfit.severity,
                message=misfit.message,
                fix=misfit.fix,
                skill=misfit.skill,
                path=misfit.path,
                agents=readers,
            )
    yield from _unquoted(survey, views)
    yield from _hidden(survey, views)
    yield from duplicate_issues(survey, views)
    yield from _still_visible(views)
    for item in seen:
        yield from _over_budget(item.view)
        for trouble in item.troubles:
            yield Issue(
                code="settings-unreadable",
                severity=Severity.WARNING,
                message=f"{item.view.label}'s settings cannot be read: {trouble.message}",
                fix=trouble.hint,
                path=str(trouble.details.get("file", "")),
                agents=(item.view.id,),
            )


def _broken(problem: Problem, readers: tuple[str, ...], survey: Survey) -> Issue:
    first = problem.findings[0]
    is_link = first.code.startswith("link-")
    followers = [agent for agent in map(find_agent, readers) if followed_by(agent, problem)]
    blind = tuple(agent for agent in readers if find_agent(agent) not in followers)
    message = message_of(problem)
    if followers:
        message = f"{message} Followed by: {', '.join(agent.label for agent in followers)}."
    severity = Severity.WARNING if is_link else Severity.ERROR
    return Issue(
        code=first.code if is_link else Reason.BROKEN,
        severity=Severity.INFO if followers and not blind else severity,
        message=message,
        fix=fixes.for_problem(problem.location, first, survey.known_roots),
        skill=problem.id,
        path=problem.location,
        agents=readers,
        findings=problem.findings,
    )


def _unquoted(survey: Survey, views: list[AgentView]) -> Iterator[Issue]:
    """Skills that only a forgiving reader can read, each told once however many links lead to it."""
    ways: dict[str, list[str]] = {}
    for location in survey.unquoted:
        ways.setdefault(survey.folders[location], []).append(location)
    for folder, locations in ways.items():
        strict = [
            view for view in views if any(item.reason is Reason.YAML and item.path in locations for item in view.unseen)
        ]
        path = next((location for location in locations if location.startswith(f"{folder}/")), locations[0])
        finding = survey.unquoted[path]
        who = ", ".join(view.label for view in strict) or "Some agents"
        yield Issue(
            code=Reason.YAML,
            severity=Severity.WARNING,
            message=f"{finding.message} {who} refuse{'s' if len(strict) == 1 else ''} such a file.",
            fix=fixes.check(path),
            skill=Path(folder).name,
            path=path,
            agents=tuple(view.id for view in strict),
            findings=(finding,),
        )


def _hidden(survey: Survey, views: list[AgentView]) -> Iterator[Issue]:
    """Skills that are in the right folder and still passed over, once for all agents that do so."""
    misfits = {misfit.path for found in survey.misfits.values() for misfit in found}
    found: dict[tuple[Reason, str], tuple[Unseen, list[str]]] = {}
    for view in views:
        for item in view.unseen:
            if item.reason in _HIDING and item.path not in misfits:
                found.setdefault((item.reason, item.path), (item, []))[1].append(view.id)
    for item, blind in found.values():
        yield Issue(
            code=item.reason,
            severity=Severity.WARNING,
            message=item.message,
            fix=item.fix,
            skill=item.skill,
            path=item.path,
            agents=tuple(blind),
        )


def _still_visible(views: list[AgentView]) -> Iterator[Issue]:
    """Skills that are off for Skillyard while agents still read them from their own folders."""
    found: dict[str, list[tuple[AgentView, SkillEntry]]] = {}
    for view in views:
        for off in view.disabled:
            if off.by == "skillyard":
                found.setdefault(off.entry.location, []).append((view, off.entry))
    for location, seers in found.items():
        entry = seers[0][1]
        agents = [find_agent(view.id) for view, _ in seers]
        commands = [fixes.disable(entry.id, agent) for agent in agents if agent.switch]
        yield Issue(
            code="still-visible",
            severity=Severity.INFO,
            message=f"{entry.id!r} is off, but {', '.join(agent.label for agent in agents)} read"
            f"{'s' if len(agents) == 1 else ''} the folder all the same.",
            fix=" && ".join(commands) or fixes.remove(entry.id, Path(location).parent.parent),
            skill=entry.id,
            path=location,
            agents=tuple(agent.id for agent in agents),
        )


def longest_lines(view: AgentView, budget: BudgetUse) -> list[SkillEntry]:
    """The skills with the longest lines in an agent's list, as many as are over its budget; the worst ten at most."""
    agent = find_agent(view.id)
    excess = budget.used - budget.limit
    longest: list[SkillEntry] = []
    for entry in sorted(view.sees, key=lambda entry: -line_length(agent, entry)):
        if excess <= 0 or len(longest) == MAX_SUGGESTED:
            break
        longest.append(entry)
        excess -= line_length(agent, entry)
    return longest


def _over_budget(view: AgentView) -> Iterator[Issue]:
    if view.budget is None or not view.budget.over:
        return
    agent = find_agent(view.id)
    yield Issue(
        code="over-budget",
        severity=Severity.WARNING,
        message=f"{view.label} gives {view.budget.limit:,} characters to the list of skills; these "
        f"{len(view.sees)} need {view.budget.used:,}, so some are shortened or left out. Turn off"
        " what is not needed; an agent of your own can be given what fits: `skillyard skill catalog`.",
        fix=" && ".join(fixes.disable(entry.id, agent) for entry in longest_lines(view, view.budget)),
        agents=(view.id,),
    )
