"""What one agent sees of the skills on this machine, by the rules of that agent."""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import dropwhile
from pathlib import Path
from typing import Final

from skillyard.errors import SkillyardError
from skillyard.library import audit_fixes as fixes
from skillyard.library.agents import AGENTS, Agent, Scope, expand, is_present
from skillyard.library.audit_misfits import Misfit
from skillyard.library.audit_model import AgentView, BudgetUse, DisabledSkill, Reason, Remedy, Unseen
from skillyard.library.folder import FolderLibrary
from skillyard.library.native import NativeState, native_state
from skillyard.library.roots import Machine, Root, install_root, roots_for
from skillyard.library.switches import Switches
from skillyard.skill.library import Catalog, Problem, Shadowed, SkillEntry
from skillyard.skill.limits import SKILL_FILE_NAMES
from skillyard.skill.models import Finding

UNLIMITED: Final = 1_000
"""The depth of an agent for which none is documented."""
TAKEN: Final = "Another skill with this id is in reach: decide which of the two agents should see."


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

    unquoted: Mapping[str, Finding]
    """The skill files that are YAML only once their values are quoted, and what is wrong with them."""

    taken: Mapping[str, frozenset[str]]
    """The real folders of each skill that agents may read, by its id in lower case."""

    @property
    def known_roots(self) -> tuple[str, ...]:
        return tuple(library.root for library in self.libraries.values())

    def folder_of(self, entry: SkillEntry) -> str:
        known = self.folders.get(entry.location)
        return known or os.path.realpath(os.path.dirname(entry.location))  # noqa: PTH120 -- a location is a string

    def is_free(self, skill: str, folder: str = "") -> bool:
        """Whether no other folder has a skill of that id, which a new one could hide for some agent."""
        return not self.taken.get(skill.casefold(), frozenset()) - {folder}

    def remedy_of(self, problem: Problem, root: Path) -> Remedy:
        return fixes.for_problem(problem, self.known_roots, self.roots[root].agents, self.is_free)

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
        characters=list_length(agent, look.sees),
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
    return BudgetUse(list_length(agent, entries), limit)


def list_length(agent: Agent, entries: Iterable[SkillEntry]) -> int:
    """The characters of the agent's list of these skills."""
    return sum(line_length(agent, entry) for entry in entries)


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
        self._preferring: dict[Path, str] = {}

    def into(self, root: Root) -> None:
        catalog = self.survey.catalogs[root.path]
        for entry in catalog.entries:
            # A SKILL.md in the root itself is a misfit; agents look into the folders of a root only.
            if self._depth(entry, root) > 0:
                self._take(entry, root)
        for problem in catalog.problems:
            followed = followed_by(self.agent, problem)
            self.unseen += [] if followed else [_broken(problem, root, self.survey)]
            for entry in followed:
                self._take(entry, root)
        # What lies deeper under an id that is taken is shadowed for this agent only if it looks so deep.
        self.shadowed += [
            item
            for item in catalog.shadowed
            if self._depth(item.entry, root) <= self._reach
            # A link to a skill is the same skill, not one that is hidden.
            and self.survey.folder_of(item.entry) != self.survey.folder_of(item.by)
        ]
        self.unseen += [
            Unseen(
                misfit.skill,
                misfit.path,
                Reason.FILE_NAME,
                misfit.message,
                misfit.fix,
                advice="" if misfit.fix else TAKEN,
            )
            for misfit in self.survey.misfits[root.path]
            if misfit.code == Reason.FILE_NAME
        ]

    def elsewhere(self) -> None:
        """Skills that are in folders this agent does not read."""
        known = {entry.id for entry in self.sees} | {item.skill for item in self.unseen}
        own = {root.path for root in self.survey.roots_of(self.agent)}
        others = [
            (root, self.survey.catalogs[path])
            for path, root in self.survey.roots.items()
            if path not in own and root.scope in {Scope.PROJECT, Scope.USER}
        ]
        for root, catalog in others:
            for entry in catalog.entries:
                if entry.id not in known and self._depth(entry, root) > 0:
                    known.add(entry.id)
                    self.unseen.append(self._in_other_folder(entry, root))
        for root, catalog in others:
            for problem in catalog.problems:
                if problem.id not in known:
                    known.add(problem.id)
                    self.unseen.append(self._broken_elsewhere(problem, root))

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
        folder = self.survey.folder_of(entry)
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
            fix = fixes.rename_file(entry.location, f"{folder}/SKILL.md") if self._is_free(entry) else ""
            yield Unseen(entry.id, entry.location, Reason.FILE_NAME, message, fix, advice="" if fix else TAKEN)
        if self._depth(entry, root) > self._reach:
            message = f"It is deeper below {root.label} than {label} looks ({self.agent.depth})."
            target = f"{root.path}/{entry.id}"
            # Linked, not moved: links to it, and agents that look this deep, still find it where it is.
            fix = fixes.link(folder, target) if self._is_free(entry) and not os.path.lexists(target) else ""
            yield Unseen(entry.id, entry.location, Reason.TOO_DEEP, message, fix, advice="" if fix else TAKEN)
        if self.agent.name_is_folder and entry.name != entry.id:
            message = f"Its name is {entry.name!r}, its folder {entry.id!r}; {label} wants them equal."
            see, advice = fixes.check(entry.location), f"Write `name: {entry.id}`; others know it by its folder."
            yield Unseen(entry.id, entry.location, Reason.NAME_MISMATCH, message, see=see, advice=advice)
        limit = self.agent.max_description
        if limit is not None and len(entry.description) > limit:
            message = f"Its description has {len(entry.description):,} characters; {label} takes {limit:,}."
            see = fixes.check(entry.location)
            yield Unseen(entry.id, entry.location, Reason.DESCRIPTION_LENGTH, message, see=see)
        if self.agent.strict_yaml and entry.location in self.survey.unquoted:
            message = f"Its frontmatter is not valid YAML as it stands; {label} refuses such a file."
            yield Unseen(entry.id, entry.location, Reason.YAML, message, see=fixes.check(entry.location))

    def _depth(self, entry: SkillEntry, root: Root) -> int:
        return entry.location.removeprefix(self.survey.libraries[root.path].root).strip("/").count("/")

    def _in_other_folder(self, entry: SkillEntry, root: Root) -> Unseen:
        scopes = {place.scope for place in self.agent.places if place.own}
        scope = root.scope if root.scope in scopes else next(iter(scopes))
        target = install_root(self.agent, scope, self.survey.machine).path / entry.id
        message = f"It is only in {root.label}, which {self.agent.label} does not read."
        fix, advice = fixes.link(self.survey.folder_of(entry), str(target)), ""
        if not self._is_free(entry):
            fix, advice = "", TAKEN
        elif scope is Scope.USER and (label := self._who_prefers(target.parent)):
            advice = f"`{fix}` shows it there; {label} would then prefer it to a project's own {entry.id!r}."
            fix = ""
        return Unseen(entry.id, entry.location, Reason.OTHER_FOLDER, message, fix, advice=advice)

    def _who_prefers(self, root: Path) -> str:
        if root not in self._preferring:
            self._preferring[root] = self._label_of_one_that_prefers(root)
        return self._preferring[root]

    def _label_of_one_that_prefers(self, root: Path) -> str:
        """The label of an agent here that prefers this personal folder to projects; empty if none does."""
        home, env = self.survey.machine.home, self.survey.machine.env
        for agent in AGENTS:
            before = dropwhile(
                lambda place: place.scope is not Scope.USER or expand(place.path, home=home, env=env) != root,
                agent.places,
            )
            if any(place.scope is Scope.PROJECT for place in before) and is_present(agent, home=home, env=env):
                return agent.label
        return ""

    def _broken_elsewhere(self, problem: Problem, root: Root) -> Unseen:
        message = f"It is only in {root.label}, which {self.agent.label} does not read. {message_of(problem)}"
        return Unseen(
            problem.id, problem.location, Reason.OTHER_FOLDER, message, *self.survey.remedy_of(problem, root.path)
        )

    def _is_free(self, entry: SkillEntry) -> bool:
        return self.survey.is_free(entry.id, self.survey.folder_of(entry))


def followed_by(agent: Agent, problem: Problem) -> tuple[SkillEntry, ...]:
    """The skills behind a link that Skillyard does not follow and the agent does. What they say is not read."""
    if not agent.follows_links or not os.path.islink(problem.location):  # noqa: PTH114 -- a location is a string
        return ()
    code = problem.findings[0].code
    folder = Path(problem.location)
    folders = [folder] if code == "link-outside" else []
    if code == "link-without-skill":
        folders = fixes.skills_behind(folder)
    files = (folder / "SKILL.md" for folder in folders)
    # A link to the file itself is passed over even where links to folders are followed.
    regular = (file for file in files if file.is_file() and not file.is_symlink())
    return tuple(SkillEntry(file.parent.name, file.parent.name, "", str(file), problem.source) for file in regular)


def _broken(problem: Problem, root: Root, survey: Survey) -> Unseen:
    reason = Reason.LINK if problem.findings[0].code.startswith("link-") else Reason.BROKEN
    remedy = survey.remedy_of(problem, root.path)
    return Unseen(problem.id, problem.location, reason, message_of(problem), *remedy)


def message_of(problem: Problem) -> str:
    """What is wrong, without claiming for agents what is only Skillyard's own rule."""
    if problem.findings[0].code != "link-outside":
        return " ".join(finding.message for finding in problem.findings)
    return f"This link leads out of your skill folders, to {os.path.realpath(_link_at(Path(problem.location)))}."


def _link_at(folder: Path) -> Path:
    """The link that leads elsewhere: the skill's folder, or the skill file in it."""
    files = (folder / name for name in SKILL_FILE_NAMES)
    return next((path for path in (folder, *files) if path.is_symlink()), folder)
