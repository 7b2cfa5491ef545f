"""What one agent sees of the skills on this machine, by the rules of that agent."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from skillyard.errors import SkillyardError
from skillyard.library import audit_fixes as fixes
from skillyard.library.agents import Agent, Scope
from skillyard.library.audit_misfits import Misfit
from skillyard.library.audit_model import AgentView, BudgetUse, DisabledSkill, Reason, Unseen
from skillyard.library.folder import FolderLibrary
from skillyard.library.native import NativeState, native_state
from skillyard.library.roots import Machine, Root, roots_for
from skillyard.library.switches import Switches
from skillyard.skill.library import Catalog, Problem, Shadowed, SkillEntry
from skillyard.skill.names import is_valid_name

UNLIMITED: Final = 1_000
"""The depth of an agent for which none is documented."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Survey:
    """Everything that was found, before asking who sees it."""

    machine: Machine
    switches: Switches
    roots: Mapping[Path, Root]
    libraries: Mapping[Path, FolderLibrary]
    catalogs: Mapping[Path, Catalog]
    misfits: Mapping[Path, tuple[Misfit, ...]]
    folders: Mapping[str, str]
    """The real folder of each skill file listed: two of one folder are one skill, reached in two ways."""

    def roots_of(self, agent: Agent) -> tuple[Root, ...]:
        return tuple(root for root in roots_for(agent, self.machine) if root.path in self.catalogs)


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """An agent's view, and what of its own settings could not be read."""

    view: AgentView
    troubles: tuple[SkillyardError, ...]


def see(agent: Agent, survey: Survey) -> Seen:
    """What the agent sees, what it does not, and why."""
    state = native_state(agent, survey.machine)
    look = _Look(agent, survey, state)
    for root in survey.roots_of(agent):
        look.into(root)
    look.elsewhere()
    view = AgentView(
        id=agent.id,
        label=agent.label,
        roots=survey.roots_of(agent),
        sees=tuple(sorted(look.sees)),
        shadowed=tuple(look.shadowed),
        disabled=tuple(look.disabled),
        unseen=tuple(look.unseen),
        budget=budget_use(agent, look.sees, survey.machine.env),
    )
    return Seen(view=view, troubles=state.troubles)


def budget_use(agent: Agent, entries: list[SkillEntry], env: Mapping[str, str]) -> BudgetUse | None:
    """How much of its prompt the agent's list of skills takes; None when no limit is known."""
    if agent.budget is None:
        return None
    changed = env.get(agent.budget.variable, "") if agent.budget.variable else ""
    limit = int(changed) if changed.isdecimal() else agent.budget.characters
    return BudgetUse(sum(line_length(agent, entry) for entry in entries), limit)


def line_length(agent: Agent, entry: SkillEntry) -> int:
    """The characters one skill takes in the agent's list."""
    shown = entry.description[: agent.budget.entry] if agent.budget else entry.description
    path = f" (file: {entry.location})" if agent.budget and agent.budget.with_path else ""
    return len(f"- {entry.name}: {shown}{path}\n")


class _Look:
    """One agent's look at its folders, in their order: the first skill of an id wins."""

    def __init__(self, agent: Agent, survey: Survey, state: NativeState) -> None:
        self.agent = agent
        self.survey = survey
        self.state = state
        self.sees: list[SkillEntry] = []
        self.shadowed: list[Shadowed] = []
        self.disabled: list[DisabledSkill] = []
        self.unseen: list[Unseen] = []
        self._winners: dict[str, SkillEntry] = {}
        self._folders: set[str] = set()

    def into(self, root: Root) -> None:
        catalog = self.survey.catalogs[root.path]
        for entry in catalog.entries:
            self._take(entry, root)
        # What lies deeper under an id that is taken is shadowed for this agent only if it looks so deep.
        self.shadowed += [item for item in catalog.shadowed if self._depth(item.entry, root) <= self._reach]
        self.unseen += map(_broken, catalog.problems)
        self.unseen += [
            Unseen(misfit.skill, misfit.path, Reason.FILE_NAME, misfit.message, misfit.fix)
            for misfit in self.survey.misfits[root.path]
        ]

    def elsewhere(self) -> None:
        """Skills that are in folders this agent does not read."""
        known = {entry.id for entry in self.sees} | {item.skill for item in self.unseen}
        for path, catalog in self.survey.catalogs.items():
            root = self.survey.roots[path]
            if root.scope not in {Scope.PROJECT, Scope.USER}:
                continue
            for entry in catalog.entries:
                if entry.id not in known:
                    known.add(entry.id)
                    self.unseen.append(self._in_other_folder(entry, root))

    @property
    def _reach(self) -> int:
        return UNLIMITED if self.agent.depth is None else self.agent.depth

    def _take(self, entry: SkillEntry, root: Root) -> None:
        hidden = next(self._hidden(entry, root), None)
        if hidden is not None:
            self.unseen.append(hidden)
        elif self.state.is_off(entry):
            undo = fixes.enable(entry.id, self.agent)
            self.disabled.append(DisabledSkill(entry, "agent", undo))
            message = f"{self.agent.label}'s own settings turn it off."
            self.unseen.append(Unseen(entry.id, entry.location, Reason.DISABLED, message, undo))
        else:
            self._show(entry, root)

    def _show(self, entry: SkillEntry, root: Root) -> None:
        folder = self.survey.folders[entry.location]
        if folder in self._folders:
            return
        self._folders.add(folder)
        winner = self._winners.setdefault(entry.id, entry)
        if winner is not entry and not self.agent.shows_all:
            self.shadowed.append(Shadowed(entry, winner))
            return
        off = self.survey.switches.find(entry.id, root=root.path, agent=self.agent.id)
        if off is not None:
            self.disabled.append(DisabledSkill(entry, "skillyard", off.undo))
        self.sees.append(entry)

    def _hidden(self, entry: SkillEntry, root: Root) -> Iterator[Unseen]:
        """Why the agent passes over a skill that is in one of its folders."""
        folder, _, file = entry.location.rpartition("/")
        label = self.agent.label
        if file != "SKILL.md":
            message = f"The file is called {file!r}; {label} looks for SKILL.md."
            fix = fixes.move(entry.location, f"{folder}/SKILL.md")
            yield Unseen(entry.id, entry.location, Reason.FILE_NAME, message, fix)
        if self._depth(entry, root) > self._reach:
            message = f"It is deeper below {root.label} than {label} looks ({self.agent.depth})."
            fix = fixes.move(folder, f"{root.path}/{entry.id}")
            yield Unseen(entry.id, entry.location, Reason.TOO_DEEP, message, fix)
        if self.agent.name_is_folder and entry.name != entry.id:
            message = f"Its name is {entry.name!r}, its folder {entry.id!r}; {label} wants them equal."
            target = f"{os.path.dirname(folder)}/{entry.name}"  # noqa: PTH120
            fix = fixes.move(folder, target) if is_valid_name(entry.name) else fixes.check(entry.location)
            yield Unseen(entry.id, entry.location, Reason.NAME_MISMATCH, message, fix)
        limit = self.agent.max_description
        if limit is not None and len(entry.description) > limit:
            message = f"Its description has {len(entry.description):,} characters; {label} takes {limit:,}."
            yield Unseen(entry.id, entry.location, Reason.DESCRIPTION_LENGTH, message, fixes.check(entry.location))

    def _depth(self, entry: SkillEntry, root: Root) -> int:
        return entry.location.removeprefix(self.survey.libraries[root.path].root).strip("/").count("/")

    def _in_other_folder(self, entry: SkillEntry, root: Root) -> Unseen:
        scopes = {place.scope for place in self.agent.places if place.own}
        scope = root.scope if root.scope in scopes else next(iter(scopes))
        folder = os.path.dirname(entry.location)  # noqa: PTH120
        message = f"It is only in {root.label}, which {self.agent.label} does not read."
        fix = fixes.add(folder, self.agent, scope)
        return Unseen(entry.id, entry.location, Reason.OTHER_FOLDER, message, fix)


def _broken(problem: Problem) -> Unseen:
    first = problem.findings[0]
    reason = Reason.LINK if first.code.startswith("link-") else Reason.BROKEN
    fix = fixes.for_problem(problem.location, first)
    return Unseen(problem.id, problem.location, reason, first.message, fix)
