"""Turning skills off and on: for everything here, for one folder, or in an agent's own settings."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from skillyard.app.libraries import index_dir, reach
from skillyard.app.reading import find_entry
from skillyard.config.paths import config_dir
from skillyard.library.agents import Agent, find_agent
from skillyard.library.folder import FolderLibrary
from skillyard.library.native import switch_native
from skillyard.library.roots import Machine, roots_for
from skillyard.library.switches import load_switches, save_switches, switches_file
from skillyard.skill.library import Layered

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


def switch_skill(skill: str, *, on: bool, root: Path | None = None) -> Switching:
    """Turn a skill on or off in every library of Skillyard, or in that of one folder."""
    before = load_switches(config_dir())
    after = before.enable(skill, root=root) if on else before.disable(skill, root=root)
    if after != before:
        save_switches(config_dir(), after)
    files = (switches_file(config_dir()),) if after != before else ()
    return Switching(skill=skill, on=on, where=str(root) if root else "everywhere", files=files)


def switch_for_agent(settings: "Settings", skill: str, name: str, *, on: bool) -> Switching:
    """Turn a skill on or off in the settings of the agent itself, so that the agent no longer offers it."""
    agent = find_agent(name)
    machine = Machine.here()
    library = _agent_library(agent, settings, machine)
    entry = find_entry(library, skill)
    others = [item.entry for item in library.catalog().shadowed if item.entry.id == entry.id]
    files = switch_native(agent, [entry, *others] if agent.shows_all else [entry], machine, on=on)
    return Switching(skill=entry.id, on=on, where=agent.label, files=files)


def _agent_library(agent: Agent, settings: "Settings", machine: Machine) -> Layered:
    # Installers link a skill from one agent's folder into another's, so links may lead into any folder known here.
    known = [root.path for root in reach(settings, machine)]
    return Layered(
        FolderLibrary(
            root.path,
            label=root.label,
            index_dir=index_dir(settings),
            known_roots=known,
            max_depth=settings.max_depth,
        )
        for root in roots_for(agent, machine)
        if root.path.is_dir()
    )
