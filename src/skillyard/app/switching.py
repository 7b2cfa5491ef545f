"""Turning skills off and on: for everything here, for one folder, or in an agent's own settings."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

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


@dataclass(frozen=True, kw_only=True, slots=True)
class Switching:
    """What was switched, and the files in which that is written now."""

    skill: str
    on: bool
    where: str
    files: tuple[Path, ...]
    """Empty when it was so already."""
    readers: tuple[str, ...] = ()
    """The agents that read the skill from its folder by themselves, whatever Skillyard does."""


def switch_skill(settings: "Settings", wanted: str, *, on: bool, root: Path | None) -> Switching:
    """Turn the skill of that id or name on or off in every library of Skillyard, or in that of one folder."""
    machine = Machine.here()
    before = load_switches(config_dir())
    if on and _is_off(before, wanted):
        # What is off can be turned on again, also when the skill itself is gone.
        skill, readers = wanted, ()
    else:
        roots = [_named(root, settings, machine)] if root else _everywhere(settings, machine)
        library = _library(roots, settings, machine)
        skill = find_entry(library, wanted).id
        readers = _readers(skill, roots, library, machine)
    after = before.enable(skill, root=root) if on else before.disable(skill, root=root)
    if after != before:
        save_switches(config_dir(), after)
    files = (switches_file(config_dir()),) if after != before else ()
    where = str(root) if root else "everywhere"
    return Switching(skill=skill, on=on, where=where, files=files, readers=readers)


def switch_for_agent(settings: "Settings", skill: str, name: str, *, on: bool) -> Switching:
    """Turn a skill on or off in the settings of the agent itself, so that the agent no longer offers it."""
    agent = find_agent(name)
    machine = Machine.here()
    library = _library(roots_for(agent, machine), settings, machine)
    entry = find_entry(library, skill)
    others = [item.entry for item in library.catalog().shadowed if item.entry.id == entry.id]
    files = switch_native(agent, [entry, *others] if agent.shows_all else [entry], machine, on=on)
    return Switching(skill=entry.id, on=on, where=agent.label, files=files)


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
