"""Environments as the settings see them: which one counts, and making another one count."""

from typing import TYPE_CHECKING, Any, NamedTuple

from skillyard.app.findings import problem_as_dict
from skillyard.config.files import folder_setting
from skillyard.config.load import load_settings, setting_origins
from skillyard.config.paths import config_dir
from skillyard.library.environments import Environment, Environments

if TYPE_CHECKING:
    from skillyard.config.settings import Settings

ACTIVE = "active_environment"


def all_environments() -> Environments:
    """Those in the folder of the setting `environments`, or beside the configuration."""
    return Environments(config_dir(), folder_setting("environments"))


def active_name(settings: "Settings") -> str | None:
    """The environment in use: the setting, else what another program's file names."""
    return settings.active_environment or all_environments().active_name()


def active_with_origin(settings: "Settings") -> tuple[str | None, str]:
    """The environment in use, and the variable or file that says so."""
    if settings.active_environment:
        return settings.active_environment, setting_origins()[ACTIVE]
    name, file = all_environments().named_active()
    return name, str(file) if name else setting_origins()[ACTIVE]


class InUse(NamedTuple):
    """The environment that counts after a switch, and what overruled the switch, if anything did."""

    active: str | None
    overruled_by: str


def use(name: str | None) -> InUse:
    """Make an environment the active one, or none, in the person's own file."""
    all_environments().switch(name)
    active = active_name(load_settings())
    return InUse(active, "" if active == name else setting_origins()[ACTIVE])


def summary(environment: Environment, *, active: str | None) -> dict[str, Any]:
    return {
        "name": environment.name,
        "active": environment.name == active,
        "path": str(environment.path),
        "description": environment.files.description,
        "skills": len(environment.list_skills()),
    }


def detail(environment: Environment, *, active: str | None) -> dict[str, Any]:
    """Everything there is to show. Keys that a model's settings may hold are not among it."""
    files = environment.files
    return {
        **summary(environment, active=active),
        "model": files.model,
        "models": [model.spec for model in files.models],
        "agents": [
            {"id": agent.id, "name": agent.name, "role": agent.role, "goal": agent.goal, "model": agent.model}
            for agent in files.agents
        ],
        "skills": [info._asdict() for info in environment.list_skills()],
        "problems": [problem_as_dict(problem) for problem in environment.problems],
        "errors": [error.as_dict() for error in files.errors],
    }
