"""Which library a command means: named folders, an environment, or all that is in reach from here."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from skillyard.app.environments import ACTIVE, active_name, all_environments
from skillyard.config.load import load_settings
from skillyard.config.paths import config_dir, project_config_file, user_config_file
from skillyard.errors import NotFoundError, SkillyardError
from skillyard.library.agents import Scope
from skillyard.library.builtin import builtin_root
from skillyard.library.environments import SKILLS, check_environment_name
from skillyard.library.folder import FolderLibrary
from skillyard.library.index import index_dir
from skillyard.library.layers import LiveLayers
from skillyard.library.revisions import file_state
from skillyard.library.roots import Configured, Machine, Root, label_of, possible_roots, present, project_folders
from skillyard.library.switches import SwitchesFile, WithSwitches
from skillyard.skill.library import Layered

if TYPE_CHECKING:
    from skillyard.config.settings import Settings

BUILTIN: Final = "built-in"


def open_library(
    settings: "Settings", *, roots: Sequence[Path] = (), environment: str | None = None, active_only: bool = False
) -> Layered:
    """The named folders and the named environment; without either, everything in reach from here.

    With `active_only`, everything in reach is just the active environment, if there is one at the moment.

    The library stays current: it notices skills that are switched and folders that appear later.
    """
    machine = Machine.here()
    switches = SwitchesFile(config_dir())

    def open_roots(found: Sequence[Root], also: Sequence[Root] = ()) -> list[WithSwitches]:
        # Links may lead from one of these folders into another.
        known = [root.path for root in (*found, *also)]
        return [
            WithSwitches(
                FolderLibrary(
                    root.path,
                    label=root.label,
                    index_dir=index_dir(settings.home),
                    known_roots=known,
                    max_depth=settings.max_depth,
                ),
                switches,
                root=root.path,
            )
            for root in found
        ]

    if roots or environment:
        chosen = _chosen(machine, roots, environment)
        return Layered(open_roots(chosen, reach(settings, machine)), label=", ".join(root.label for root in chosen))
    in_reach = _Reach(settings, machine)
    label = f"the folders in reach from {label_of(machine.cwd, home=machine.home)}"
    if active_only:
        return LiveLayers(in_reach.active_first, lambda found: open_roots(found, in_reach()), label=label)
    return LiveLayers(in_reach, open_roots, label=label)


def missing_environment(settings: "Settings") -> list[str]:
    """What to tell a person whose active environment is not there; nothing when all is well."""
    active = active_name(settings)
    if active is None or _skills_of(active).parent.is_dir():
        return []
    return [f"The active environment {active!r} is not there. `skillyard env list` shows those there are."]


def configured_roots(settings: "Settings") -> Configured:
    """The folders of skills that the settings name."""
    active = active_name(settings)
    return Configured(
        extra=settings.roots,
        environment=_skills_of(active) if active else None,
        document_root=settings.document_root,
        builtin=builtin_root(),
    )


def reach(settings: "Settings", machine: Machine) -> tuple[Root, ...]:
    """Every folder of skills that counts here, the strongest first."""
    return _Reach(settings, machine)()


class _Reach:
    """What is in reach, asked again and again: which folders would count is worked out only when that may differ."""

    def __init__(self, settings: "Settings", machine: Machine) -> None:
        self._settings = settings
        self._files = (str(project_config_file()), str(user_config_file()))
        self._states = self._look()
        self._machine = machine
        self._known: tuple[object, tuple[Root, ...]] | None = None

    def __call__(self) -> tuple[Root, ...]:
        configured = configured_roots(self._current())
        state = (project_folders(self._machine), configured)
        known = self._known
        if known is None or known[0] != state:
            # Where the package happens to be installed tells a person nothing.
            roots = (
                replace(root, label=BUILTIN) if root.scope is Scope.BUILTIN else root
                for root in possible_roots(self._machine, configured)
            )
            known = self._known = (state, tuple(roots))
        return present(known[1])

    def active_first(self) -> tuple[Root, ...]:
        """The active environment alone; everything where none is active."""
        roots = self()
        if active_name(self._settings) is None:
            return roots
        return tuple(root for root in roots if root.scope is Scope.ENVIRONMENT)

    def _current(self) -> "Settings":
        """The settings, with the environment that is in use now: it may be switched while a server runs."""
        states = self._look()
        if states != self._states:
            # A file that is being edited, and cannot be read now, leaves everything as it is.
            with suppress(SkillyardError):
                active = load_settings().active_environment
                self._settings = self._settings.model_copy(update={ACTIVE: active})
            self._states = states
        return self._settings

    def _look(self) -> tuple[object, ...]:
        return tuple(map(file_state, self._files))


def _skills_of(environment: str) -> Path:
    # One that is not there has no skills; `doctor` says so. A name that is a path is refused: a project's
    # file could name any folder.
    return all_environments().folder / check_environment_name(environment) / SKILLS


def _chosen(machine: Machine, roots: Sequence[Path], environment: str | None) -> list[Root]:
    chosen: list[Root] = []
    for path in roots:
        if not path.is_dir():
            raise NotFoundError(
                f"There is no folder {str(path)!r}.",
                hint="Give a folder that holds skills.",
                details={"root": str(path)},
            )
        chosen.append(Root(path=path.absolute(), label=label_of(path.absolute(), home=machine.home), scope=Scope.EXTRA))
    if environment:
        path = all_environments().get(environment).skills_dir
        chosen.append(Root(path=path, label=label_of(path, home=machine.home), scope=Scope.ENVIRONMENT))
    return chosen
