"""Where installing, removing and updating happen: the folders a person means, and the locks that speak for them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skillyard.app.libraries import reach
from skillyard.delivery.apply import Outcome, apply_plan
from skillyard.delivery.download import Credentials, DownloadLimits
from skillyard.delivery.place import LockPlace
from skillyard.delivery.plan import Act, Action, Plan
from skillyard.delivery.remove import Reader, RemoveOptions
from skillyard.delivery.target import SHARED_AGENT, Target, agent_targets, folder_target, root_targets
from skillyard.errors import UsageError
from skillyard.library.agents import AGENTS, Scope, find_agent, is_present
from skillyard.library.roots import Machine, install_root, roots_for

if TYPE_CHECKING:
    from skillyard.config.settings import Settings


@dataclass(frozen=True, kw_only=True, slots=True)
class Where:
    """The folders that a person named, if any."""

    agents: Sequence[str] = ()
    root: Path | None = None
    user: bool = False

    def __post_init__(self) -> None:
        if self.root is not None and (self.agents or self.user):
            raise UsageError(
                "A folder cannot be named together with an agent or --user.",
                hint="Use --root, or --agent and --user.",
                details={"field": "root", "value": str(self.root)},
            )

    @property
    def is_named(self) -> bool:
        return bool(self.agents) or self.root is not None

    @property
    def words(self) -> tuple[str, ...]:
        """The options that name the folders, for commands that are printed."""
        root = () if self.root is None else ("--root", str(self.root))
        return (*root, *(word for name in self.agents for word in ("-a", name)), *(("--user",) if self.user else ()))


def install_targets(where: Where, settings: "Settings", machine: Machine, *, copy: bool) -> tuple[Target, ...]:
    """The folders that get new skills: the one named, those of the agents named, or of the agents here."""
    if where.root is not None:
        return (folder_target(where.root, machine=machine, home=settings.home),)
    scope = Scope.USER if where.user or machine.cwd == machine.home else Scope.PROJECT
    names = where.agents or _agents_here(scope, machine)
    return agent_targets(names, scope, machine=machine, home=settings.home, copy=copy)


def reach_targets(where: Where, settings: "Settings", machine: Machine) -> tuple[Target, ...]:
    """The folders in which installed skills are looked for: the named ones, or all in reach from here."""
    if where.root is not None:
        return (folder_target(where.root, machine=machine, home=settings.home),)
    roots = (
        [root for name in where.agents for root in roots_for(find_agent(name), machine)]
        if where.agents
        else [root for root in reach(settings, machine) if root.scope is not Scope.BUILTIN]
    )
    if where.user:
        roots = [root for root in roots if root.scope is Scope.USER]
    targets = root_targets(roots, machine=machine, home=settings.home)
    if where.agents:
        return targets
    # What a lock names counts also while none of its folders is there, as in a fresh clone.
    scopes = (Scope.USER,) if where.user else (Scope.PROJECT, Scope.USER)
    shared = [install_root(find_agent(SHARED_AGENT), scope, machine) for scope in scopes]
    known = {target.place for target in targets}
    locked = root_targets(shared, machine=machine, home=settings.home)
    return (*targets, *(target for target in locked if target.place not in known))


def removal_targets(where: Where, settings: "Settings", machine: Machine) -> tuple[Target, ...]:
    """The folders from which skills are removed: a named agent's own ones, not folders of others that it also reads."""
    if not where.agents:
        return reach_targets(where, settings, machine)
    roots = [root for name in where.agents for root in roots_for(find_agent(name), machine, own=True)]
    if where.user:
        roots = [root for root in roots if root.scope is Scope.USER]
    return root_targets(roots, machine=machine, home=settings.home)


def remove_options(where: Where, machine: Machine, *, force: bool) -> RemoveOptions:
    """The other agents that removing a skill for some agents affects."""
    named = [find_agent(name) for name in where.agents]
    others = [agent for agent in AGENTS if agent not in named and agent.id != SHARED_AGENT]
    readers = [
        Reader(label=agent.label, roots=tuple(root.path for root in roots_for(agent, machine)))
        for agent in others
        if where.agents and is_present(agent, home=machine.home, env=machine.env)
    ]
    shared = find_agent(SHARED_AGENT)
    return RemoveOptions(
        only_here=where.is_named,
        for_agents=bool(where.agents),
        shared=[install_root(shared, scope, machine).path for scope in (Scope.PROJECT, Scope.USER)],
        readers=readers,
        switches=[agent.id for agent in named] if all(agent.switch for agent in named) else (),
        force=force,
        where=where.words,
    )


def download_limits(settings: "Settings", *, allow_http: bool = False) -> DownloadLimits:
    """What fetching may do; the yard that the settings name is shown the token that goes with it."""
    credentials = None
    if settings.server is not None and settings.token is not None:
        credentials = Credentials(server=settings.server, token=settings.token.get_secret_value())
    return DownloadLimits(allow_http=allow_http, credentials=credentials)


def lock_places(targets: Sequence[Target]) -> tuple[LockPlace, ...]:
    return tuple(dict.fromkeys(target.place for target in targets))


@dataclass(frozen=True, kw_only=True, slots=True)
class Carried:
    """A plan, and what became of it when it was carried out."""

    plan: Plan
    outcome: Outcome | None
    """None for a dry run."""

    @property
    def left(self) -> tuple[Action, ...]:
        """What was not done, or would not be."""
        return self.outcome.left if self.outcome else self.plan.blocked

    @property
    def exit_code(self) -> int:
        if any(action.act is Act.CONFLICT for action in self.left):
            return 5
        return 1 if self.left else 0

    def as_dict(self) -> dict[str, Any]:
        # What was done is no longer a question: the differences, which can be long, are for those who decide.
        actions = [action.as_dict() for action in self.plan.actions] if self.outcome else self.plan.as_dict()["actions"]
        return {
            "actions": actions,
            "dry_run": self.outcome is None,
            "done": [str(action.path) for action in self.outcome.done] if self.outcome else [],
            "left": [action.as_dict() for action in self.left],
            "trashed": [
                {"name": item.name, "path": str(item.path), "content": str(item.content)}
                for item in (self.outcome.trashed if self.outcome else ())
            ],
        }


def carry_out(plan: Plan, settings: "Settings", *, dry_run: bool) -> Carried:
    """Do what a plan says, unless this is a dry run."""
    return Carried(plan=plan, outcome=None if dry_run else apply_plan(plan, home=settings.home))


def _agents_here(scope: Scope, machine: Machine) -> list[str]:
    """The shared folder, and every agent on this machine that does not read it."""
    shared = install_root(find_agent(SHARED_AGENT), scope, machine).path
    return [
        SHARED_AGENT,
        *(
            agent.id
            for agent in AGENTS
            if is_present(agent, home=machine.home, env=machine.env)
            and any(place.own and place.scope is scope for place in agent.places)
            and all(root.path != shared for root in roots_for(agent, machine))
        ),
    ]
