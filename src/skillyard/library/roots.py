"""The folders that skills are read from on this machine, in the order in which they win."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from skillyard.errors import UsageError
from skillyard.library.agents import AGENTS, Agent, Place, Scope, expand

SKILLS: Final = "skills"
_TOP_SIGNS: Final = (".git", ".hg", ".jj")


@dataclass(frozen=True, kw_only=True, slots=True)
class Root:
    """A folder of skills: what to call it, whose it is, and which agents read it."""

    path: Path
    label: str
    scope: Scope
    agents: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Machine:
    """Where a person works: everything that decides which folders an agent reads."""

    home: Path
    cwd: Path
    env: Mapping[str, str]

    @classmethod
    def here(cls) -> "Machine":
        """This process's own home, working folder and variables."""
        return cls(home=Path.home(), cwd=Path.cwd(), env=os.environ)


@dataclass(frozen=True, kw_only=True, slots=True)
class Configured:
    """The folders of skills that settings name, beside those of the agents."""

    extra: Sequence[Path] = ()
    environment: Path | None = None
    document_root: Path | None = None
    builtin: Path | None = None


def project_folders(machine: Machine) -> tuple[Path, ...]:
    """The working folder and those above it up to the repository's top, nearest first."""
    folders: list[Path] = []
    for folder in (machine.cwd, *machine.cwd.parents):
        folders.append(folder)
        if any((folder / sign).exists() for sign in _TOP_SIGNS):
            return tuple(folders)
        if folder == machine.home:
            break
    return (machine.cwd,)


def roots_for(agent: Agent, machine: Machine, *, own: bool = False) -> tuple[Root, ...]:
    """Every folder the agent reads here, in its own order, whether it exists or not.

    With `own` only those that are meant for this agent, not those it shares with others.
    """
    folders = project_folders(machine)
    # An agent that does not climb is opened on the project as a whole.
    read = folders if agent.climbs else folders[-1:]
    roots = (
        Root(path=path, label=label_of(path, home=machine.home), scope=place.scope, agents=(agent.id,))
        for place in agent.places
        if place.own or not own
        for path in _paths(place, read, machine)
    )
    return _distinct(roots)


def install_root(agent: Agent, scope: Scope, machine: Machine) -> Root:
    """The agent's own folder of that scope: where a skill meant for it belongs."""
    place = next((place for place in agent.places if place.own and place.scope is scope), None)
    if place is None:
        other = Scope.USER if scope is Scope.PROJECT else Scope.PROJECT
        raise UsageError(
            f"{agent.label} has no {scope} folder for skills.",
            hint=f"Use its {other} folder instead.",
            details={"field": "scope", "value": scope.value},
        )
    # A skill for the project belongs to the repository, not to the folder one happens to stand in.
    path = (
        project_folders(machine)[-1] / place.path
        if scope is Scope.PROJECT
        else expand(place.path, home=machine.home, env=machine.env)
    )
    return Root(path=path, label=label_of(path, home=machine.home), scope=scope, agents=(agent.id,))


def discover_roots(machine: Machine, configured: Configured | None = None) -> tuple[Root, ...]:
    """All folders of skills there are, first one wins: extra, environment, project, `DOCUMENT_ROOT`, user, built in."""
    return present(possible_roots(machine, configured))


def present(roots: Iterable[Root]) -> tuple[Root, ...]:
    """Those that are there."""
    return tuple(root for root in roots if os.path.isdir(root.path))  # noqa: PTH112 -- asked again and again


def possible_roots(machine: Machine, configured: Configured | None = None) -> tuple[Root, ...]:
    """All folders in which skills would be looked for, whether they are there or not."""
    own = configured or Configured()
    of_agents = [root for agent in AGENTS for root in roots_for(agent, machine)]
    places: list[tuple[Scope, Iterable[Path]]] = [
        (Scope.EXTRA, own.extra),
        (Scope.ENVIRONMENT, _some(own.environment)),
        (Scope.PROJECT, (root.path for root in of_agents if root.scope is Scope.PROJECT)),
        (Scope.EXTRA, _some(own.document_root and own.document_root / SKILLS)),
        (Scope.USER, (root.path for root in of_agents if root.scope is Scope.USER)),
        (Scope.BUILTIN, _some(own.builtin)),
    ]
    readers: dict[Path, list[str]] = {}
    for root in of_agents:
        readers.setdefault(root.path, []).extend(root.agents)
    return _distinct(
        Root(
            path=path,
            label=label_of(path, home=machine.home),
            scope=scope,
            agents=tuple(dict.fromkeys(readers.get(path, ()))),
        )
        for scope, paths in places
        for path in paths
    )


def label_of(path: Path, *, home: Path) -> str:
    """A path as people write it: `~/…` below the home folder."""
    return f"~/{path.relative_to(home).as_posix()}" if path.is_relative_to(home) and path != home else str(path)


def _paths(place: Place, folders: Iterable[Path], machine: Machine) -> Iterator[Path]:
    if place.scope is not Scope.PROJECT:
        yield expand(place.path, home=machine.home, env=machine.env)
        return
    for folder in folders:
        # The home folder is nobody's project: what lies there is the user's.
        if folder != machine.home:
            yield folder / place.path


def _distinct(roots: Iterable[Root]) -> tuple[Root, ...]:
    found: dict[Path, Root] = {}
    for root in roots:
        known = found.setdefault(root.path, root)
        if known is not root:
            found[root.path] = replace(known, agents=tuple(dict.fromkeys(known.agents + root.agents)))
    return tuple(found.values())


def _some(path: Path | None) -> tuple[Path, ...]:
    return () if path is None else (path,)
