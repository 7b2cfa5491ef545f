"""The audit: every agent on this machine, what it really sees, what is wrong, and how to put it right."""

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from skillyard.library import audit_fixes as fixes
from skillyard.library.agents import AGENTS, Agent, Scope, find_agent, is_present
from skillyard.library.audit_agent import TAKEN, Seen, Survey, followed_by, line_length, message_of, see
from skillyard.library.audit_duplicates import duplicate_issues
from skillyard.library.audit_misfits import Misfit, find_misfits
from skillyard.library.audit_model import AgentView, AuditReport, Issue, Reason, RootView, Unseen
from skillyard.library.audit_scan import NOT_SCANNED, scans_of
from skillyard.library.audit_yaml import unquoted_files
from skillyard.library.folder import FolderLibrary
from skillyard.library.roots import Configured, Machine, Root, discover_roots, roots_for
from skillyard.library.switches import Switches
from skillyard.skill.library import Catalog, Problem, SkillEntry
from skillyard.skill.limits import MAX_FOLDER_DEPTH, SKILL_FILE_NAMES
from skillyard.skill.models import Finding, Severity

SHARED: Final = "agents"
"""The row of the table that is a folder many agents share, not an agent."""
OVER_BUDGET: Final = "over-budget"
USAGE: Final = "Turn off what you never use; session logs show what that is."
_HARM: Final = "No agent should use it before you know what it does."
_DOUBT: Final = "Worth a look before an agent uses it; harmless skills have such places, too."
MIN_GROUP: Final = 3
"""Skills whose ids begin with the same word and that make a group."""
MAX_GROUPS: Final = 3
"""Groups that are named, the largest first."""
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
    folders = {
        entry.location: os.path.realpath(os.path.dirname(entry.location))  # noqa: PTH120 -- a location is a string
        for catalog in catalogs.values()
        for entry in catalog.entries
    }
    taken = _folders_by_id(roots_at, catalogs, folders)
    survey = Survey(
        machine=machine,
        switches=switches or Switches(),
        roots=roots_at,
        libraries=libraries,
        catalogs=catalogs,
        misfits={
            path: tuple(_without_harm(misfit, taken) for misfit in find_misfits(path, catalog))
            if roots_at[path].scope in _OF_AGENTS
            else ()
            for path, catalog in catalogs.items()
        },
        folders=folders,
        taken=taken,
        unquoted=unquoted_files(entry.location for catalog in catalogs.values() for entry in catalog.entries),
    )
    seen = [see(agent, survey) for agent in present_agents(machine)]
    issues = sorted(
        [*_issues(survey, seen), *_scan_issues(survey, [item.view for item in seen], index_dir)],
        key=lambda issue: (issue.severity.rank, issue.code, issue.skill, issue.path),
    )
    return AuditReport(
        agents=tuple(item.view for item in seen),
        roots=tuple(_root_view(root, survey) for root in roots),
        issues=tuple(issues),
    )


def _folders_by_id(
    roots: Mapping[Path, Root], catalogs: Mapping[Path, Catalog], folders: Mapping[str, str]
) -> dict[str, frozenset[str]]:
    taken: defaultdict[str, set[str]] = defaultdict(set)
    for path, catalog in catalogs.items():
        if roots[path].scope in _OF_AGENTS:
            for entry in (*catalog.entries, *(item.entry for item in catalog.shadowed)):
                taken[entry.id.casefold()].add(folders.get(entry.location, entry.location))
    return {skill: frozenset(found) for skill, found in taken.items()}


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
        yield from (_broken(problem, path, readers, survey) for problem in catalog.problems)
        for misfit in survey.misfits[path]:
            yield Issue(
                code=misfit.code,
                severity=misfit.severity,
                message=misfit.message,
                fix=misfit.fix,
                advice="" if misfit.fix else TAKEN,
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
                advice=trouble.hint,
                path=str(trouble.details.get("file", "")),
                agents=(item.view.id,),
            )


def _without_harm(misfit: Misfit, taken: Mapping[str, frozenset[str]]) -> Misfit:
    """The misfit; without a fix if the new skill would replace another one, here or for an agent."""
    name = os.path.basename(misfit.target)  # noqa: PTH119 -- a location is a string
    is_free = name.casefold() not in taken and not os.path.lexists(f"{misfit.target}/SKILL.md")
    return misfit if not misfit.target or is_free else misfit._replace(fix="")


def _broken(problem: Problem, root: Path, readers: tuple[str, ...], survey: Survey) -> Issue:
    first = problem.findings[0]
    is_link = first.code.startswith("link-")
    followers = [agent for agent in map(find_agent, readers) if followed_by(agent, problem)]
    blind = tuple(agent for agent in readers if find_agent(agent) not in followers)
    message = message_of(problem)
    if followers:
        labels = " and ".join(agent.label for agent in followers)
        verb = "follows" if len(followers) == 1 else "follow"
        message = f"{message} {labels} {verb} it; Skillyard does not, and whether other agents do is not known."
    elif first.code == "link-outside":
        message = f"{message} Agents may follow it; Skillyard does not."
    remedy = survey.remedy_of(problem, root)
    severity = Severity.WARNING if is_link else Severity.ERROR
    return Issue(
        code=first.code if is_link else Reason.BROKEN,
        severity=Severity.INFO if followers and not blind else severity,
        message=message,
        fix=remedy.fix,
        see=remedy.see,
        advice=remedy.advice,
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
            message=f"{finding.message} {who} refuse{'s' if len(strict) == 1 else ''} the file as it is.",
            see=fixes.check(path),
            advice=finding.fix,
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
            see=item.see,
            advice=item.advice,
            skill=item.skill,
            path=item.path,
            agents=tuple(blind),
        )


def _scan_issues(survey: Survey, views: list[AgentView], index_dir: Path | None) -> Iterator[Issue]:
    """The findings of the scan for every skill that an agent may read, once for each real folder."""
    places: dict[str, tuple[str, str, list[Path]]] = {}
    for path, catalog in survey.catalogs.items():
        if survey.roots[path].scope is not Scope.BUILTIN:
            entries = (*catalog.entries, *(item.entry for item in catalog.shadowed))
            found = [(entry.id, survey.folder_of(entry)) for entry in entries]
            found += [(Path(folder).name, folder) for problem in catalog.problems for folder in _folders_of(problem)]
            for skill, folder in found:
                places.setdefault(folder, (skill, folder, []))[2].append(path)
    for folder, findings in scans_of(places, index_dir).items():
        if findings:
            skill, _, roots = places[folder]
            readers = (view.id for view in views if any(root.path in roots for root in view.roots))
            yield _scan_issue(skill, folder, findings, tuple(readers))


def _scan_issue(skill: str, folder: str, findings: tuple[Finding, ...], readers: tuple[str, ...]) -> Issue:
    worst = min(findings, key=lambda finding: finding.severity.rank)
    place = f"{worst.file}:{worst.line}: " if worst.file and worst.line else f"{worst.file}: " if worst.file else ""
    more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
    is_scanned = worst.code != NOT_SCANNED
    return Issue(
        code=worst.code,
        severity=worst.severity,
        message=f"{skill}: {place}{worst.message}{more}"
        if is_scanned
        else f"{skill} was not scanned, so it may hold anything: {worst.message}",
        see=fixes.scan(folder),
        advice="" if not is_scanned else _HARM if worst.severity is Severity.ERROR else _DOUBT,
        skill=skill,
        path=folder,
        agents=readers,
        findings=findings,
    )


def _folders_of(problem: Problem) -> list[str]:
    """The folders behind a problem that an agent may still read as skills."""
    place = Path(problem.location)
    if problem.findings[0].code == "link-without-skill":
        folders = fixes.skills_behind(place)
    else:
        folders = [place.parent if place.name in SKILL_FILE_NAMES else place]
    return [os.path.realpath(folder) for folder in folders if (folder / "SKILL.md").is_file()]


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
        yield Issue(
            code="still-visible",
            severity=Severity.INFO,
            message=f"{entry.id!r} is off, but {', '.join(agent.label for agent in agents)} read"
            f"{'s' if len(agents) == 1 else ''} the folder all the same.",
            advice="Nothing to do if you meant only Skillyard. `skillyard skill disable` with `-a AGENT` writes it "
            "into the settings of an agent that has such a switch.",
            skill=entry.id,
            path=location,
            agents=tuple(agent.id for agent in agents),
        )


def largest_groups(view: AgentView) -> str:
    """The groups of skills that take most of an agent's list, in words; empty when there are none."""
    agent = find_agent(view.id)
    sizes: defaultdict[str, list[int]] = defaultdict(list)
    for entry in view.sees:
        word, hyphen, _ = entry.id.partition("-")
        if hyphen:
            sizes[word].append(line_length(agent, entry))
    groups = sorted((group for group in sizes.items() if len(group[1]) >= MIN_GROUP), key=lambda group: -sum(group[1]))
    return ", ".join(
        f"{word}-* ({len(lengths)} skills, {sum(lengths):,} characters)" for word, lengths in groups[:MAX_GROUPS]
    )


def over_budget_advice(view: AgentView, known: str) -> str:
    """What a person may do about too long a list; `known` says what is known about the use of its skills."""
    groups = largest_groups(view)
    switch = (
        f"One command turns several off: `skillyard skill disable` with names or patterns and `-a {view.id}`."
        if find_agent(view.id).switch
        else f"{view.label} has no switch for single skills; shorter descriptions take less."
    )
    return " ".join([known, *([f"The largest groups: {groups}."] if groups else []), switch])


def _over_budget(view: AgentView) -> Iterator[Issue]:
    if view.budget is None or not view.budget.over:
        return
    yield Issue(
        code=OVER_BUDGET,
        severity=Severity.WARNING,
        message=f"{view.label} gives {view.budget.limit:,} characters to the list of skills; these "
        f"{len(view.sees)} need {view.budget.used:,}, so some are shortened or left out.",
        see="skillyard skill usage",
        advice=over_budget_advice(view, USAGE),
        agents=(view.id,),
    )
