"""Turning skills off and on: for everything here, for one folder, or in an agent's own settings."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Final

from skillyard.app.environments import all_environments
from skillyard.app.libraries import reach
from skillyard.app.reading import find_entry
from skillyard.config.paths import config_dir
from skillyard.errors import NotFoundError
from skillyard.library.agents import Scope, find_agent
from skillyard.library.audit import present_agents
from skillyard.library.folder import FolderLibrary
from skillyard.library.index import index_dir
from skillyard.library.native import switch_native
from skillyard.library.roots import Machine, Root, label_of, roots_for
from skillyard.library.switches import Switches, load_switches, save_switches, switches_file
from skillyard.skill.library import Layered, SkillEntry

if TYPE_CHECKING:
    from skillyard.config.settings import Settings

_PATTERN_SIGNS: Final = "*?["


@dataclass(frozen=True, kw_only=True, slots=True)
class Switching:
    """What was switched, and the files in which that is written now."""

    skills: tuple[str, ...]
    on: bool
    where: str
    files: tuple[Path, ...]
    """Empty when it was so already."""
    readers: tuple[str, ...] = ()
    """The agents that read the skill from its folder by themselves, whatever Skillyard does."""


def switch_skills(settings: "Settings", wanted: Sequence[str], *, on: bool, root: Path | None) -> Switching:
    """Turn skills on or off in every library of Skillyard, or in that of one folder.

    Each is named by its id or name, or several by a pattern such as `team-*`.
    """
    machine = Machine.here()
    before = after = load_switches(config_dir())
    # What is off can be turned on again, also when the skill itself is gone.
    skills = [skill for skill in wanted if on and _is_off(before, skill)]
    readers: dict[str, None] = {}
    if len(skills) < len(wanted):
        roots = [_named(root, settings, machine)] if root else _everywhere(settings, machine)
        library = _library(roots, settings, machine)
        off = [item.skill for item in before.off] if on else []
        for skill in _matching([each for each in wanted if each not in skills], library, off):
            skills.append(skill)
            readers |= dict.fromkeys(_readers(skill, roots, library, machine))
    for skill in skills:
        after = after.enable(skill, root=root) if on else after.disable(skill, root=root)
    if after != before:
        save_switches(config_dir(), after)
    files = (switches_file(config_dir()),) if after != before else ()
    where = str(root) if root else "everywhere"
    return Switching(skills=tuple(skills), on=on, where=where, files=files, readers=tuple(readers))


def switch_for_agent(settings: "Settings", wanted: Sequence[str], name: str, *, on: bool) -> Switching:
    """Turn skills on or off in the settings of the agent itself: all of them, or none where one cannot be."""
    agent = find_agent(name)
    machine = Machine.here()
    library = _library(roots_for(agent, machine), settings, machine)
    skills = _matching(wanted, library)
    catalog = library.catalog()
    copies = [entry for entry in catalog.entries if entry.id in skills]
    others = [item.entry for item in catalog.shadowed if item.entry.id in skills]
    files = switch_native(agent, [*copies, *others] if agent.shows_all else copies, machine, on=on)
    return Switching(skills=skills, on=on, where=agent.label, files=files)


def _matching(wanted: Iterable[str], library: Layered, also: Iterable[str] = ()) -> tuple[str, ...]:
    """The ids that names and patterns stand for; a pattern must fit at least one."""
    ids = [*(entry.id for entry in library.catalog().entries), *also]
    found: dict[str, None] = {}
    for each in wanted:
        if not any(sign in each for sign in _PATTERN_SIGNS):
            found[find_entry(library, each).id] = None
            continue
        matching = [skill for skill in ids if fnmatchcase(skill.casefold(), each.casefold())]
        if not matching:
            raise NotFoundError(
                f"No skill here fits the pattern {each!r}.",
                hint="See what there is: skillyard list",
                details={"field": "skill", "value": each},
            )
        found |= dict.fromkeys(matching)
    return tuple(found)


def find_anywhere(settings: "Settings", wanted: str) -> SkillEntry:
    """The skill of that id or name in any folder known here, whether it is off or not."""
    machine = Machine.here()
    return find_entry(_library(_everywhere(settings, machine), settings, machine), wanted)


def _library(roots: Iterable[Root], settings: "Settings", machine: Machine) -> Layered:
    """The folders as they are, with what is off."""
    # Installers link a skill from one agent's folder into another's, so links may lead into any folder known here.
    known = [root.path for root in reach(settings, machine)]
    return Layered(
        FolderLibrary(
            root.path,
            label=root.label,
            index_dir=index_dir(settings.home),
            known_roots=known,
            max_depth=settings.max_depth,
        )
        for root in roots
        if root.path.is_dir()
    )


def _everywhere(settings: "Settings", machine: Machine) -> list[Root]:
    """All that is in reach, every environment, and the folder that agents' tools work on."""
    environments = [item.skills_dir for item in all_environments().list()]
    others = [*environments, settings.home / "skills"]
    return [*reach(settings, machine), *(_root(path, machine) for path in others)]


def _named(path: Path, settings: "Settings", machine: Machine) -> Root:
    if not path.is_dir():
        raise NotFoundError(
            f"There is no folder {str(path)!r}.", hint="Give a folder that holds skills.", details={"root": str(path)}
        )
    absolute = path.absolute()
    known = (root for root in reach(settings, machine) if root.path == absolute)
    return next(known, _root(absolute, machine))


def _root(path: Path, machine: Machine) -> Root:
    return Root(path=path, label=label_of(path, home=machine.home), scope=Scope.EXTRA)


def _is_off(switches: Switches, skill: str) -> bool:
    return any(off.skill.casefold() == skill.casefold() for off in switches.off)


def _readers(skill: str, roots: Sequence[Root], library: Layered, machine: Machine) -> tuple[str, ...]:
    labels = {entry.source for part in library.libraries for entry in part.catalog().entries if entry.id == skill}
    agents = {agent for root in roots if root.label in labels for agent in root.agents}
    return tuple(agent.label for agent in present_agents(machine) if agent.id in agents)
