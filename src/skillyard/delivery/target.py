"""Where skills are installed: a folder of skills, the lock that speaks for it, and folders that link to it."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from skillyard.delivery.place import LockPlace, folder_place, project_place, user_place
from skillyard.library.agents import AGENTS, Scope, find_agent
from skillyard.library.roots import Machine, Root, install_root, project_folders, roots_for

SHARED_AGENT: Final = "agents"
"""The agent whose folder, `.agents/skills`, holds the one copy that the folders of others link to."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    place: LockPlace
    root: Path
    """The folder that gets the skill's own folder."""
    links: tuple[Path, ...] = ()
    """Folders that get a link to it."""


def folder_target(root: Path, *, machine: Machine, home: Path) -> Target:
    """Any folder of skills. Inside the project its lock speaks for it, else a lock in the folder itself."""
    root = Path(os.path.normpath(machine.cwd / root.expanduser()))
    project = project_folders(machine)[-1]
    if root.is_relative_to(project) and project != machine.home:
        return Target(place=project_place(project), root=root)
    if root.is_relative_to(machine.home) and _is_users_own(root, machine):
        return Target(place=user_place(home, machine.home), root=root)
    return Target(place=folder_place(root), root=root)


def agent_targets(
    names: Sequence[str], scope: Scope, *, machine: Machine, home: Path, copy: bool = False
) -> tuple[Target, ...]:
    """The folders of these agents. Several get one copy in `.agents/skills` and links to it, or each its own."""
    roots = dict.fromkeys(install_root(find_agent(name), scope, machine).path for name in names)
    if len(roots) == 1 or copy:
        return tuple(_scoped(root, scope, machine, home) for root in roots)
    shared = _scoped(install_root(find_agent(SHARED_AGENT), scope, machine).path, scope, machine, home)
    others = [root for root in roots if root != shared.root]
    linked = [root for root in others if root.is_relative_to(shared.place.base)]
    # What is kept elsewhere, by a variable such as CODEX_HOME, gets its own copy and its own lock.
    apart = [_scoped(root, scope, machine, home) for root in others if root not in linked]
    return (Target(place=shared.place, root=shared.root, links=tuple(linked)), *apart)


def root_targets(roots: Sequence[Root], *, machine: Machine, home: Path) -> tuple[Target, ...]:
    """The folders that skills are read from, each with the lock that speaks for it."""
    return tuple(
        # A folder that a person named is the same target whether it was named in the settings or with --root.
        folder_target(root.path, machine=machine, home=home)
        if root.scope is Scope.EXTRA
        else _scoped(root.path, root.scope, machine, home)
        for root in roots
    )


def _scoped(root: Path, scope: Scope, machine: Machine, home: Path) -> Target:
    project = project_folders(machine)[-1]
    if scope is Scope.PROJECT and root.is_relative_to(project) and project != machine.home:
        return Target(place=project_place(project), root=root)
    # A project that is the home folder itself is nobody's: what is there is the person's own.
    if scope in {Scope.PROJECT, Scope.USER} and root.is_relative_to(machine.home):
        return Target(place=user_place(home, machine.home), root=root)
    return Target(place=folder_place(root), root=root)


def _is_users_own(root: Path, machine: Machine) -> bool:
    """Whether a folder is one in which an agent keeps a person's own skills, such as `~/.claude/skills`."""
    read = (known for agent in AGENTS for known in roots_for(agent, machine))
    return any(known.scope is Scope.USER and known.path == root for known in read)
