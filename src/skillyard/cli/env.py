"""`skillyard env`: environments, one of which may be active."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skillyard.app.environments import InUse, active_name, all_environments, detail, summary
from skillyard.app.environments import use as use_environment
from skillyard.cli.output import Answer
from skillyard.cli.safe_text import inline, one_line
from skillyard.cli.text import BAD, FAINT, GOOD, count, hanging, print_rows, styled
from skillyard.config.load import load_settings
from skillyard.errors import NotFoundError
from skillyard.library.environments import Environment

if TYPE_CHECKING:
    from rich.console import Console

Name = Annotated[str, typer.Argument(metavar="NAME", help="The environment's name.")]
OptionalName = Annotated[
    str | None, typer.Argument(metavar="NAME", help="The environment's name; default: the active one.")
]


def list_environments() -> Answer:
    """List the environments."""
    active = active_name(load_settings())
    found = [summary(environment, active=active) for environment in all_environments().list()]

    def text(console: "Console") -> None:
        print_rows(
            console,
            [
                (
                    styled(("*" if row["active"] else " ", GOOD)),
                    row["name"],
                    count(row["skills"], "skill"),
                    one_line(row["description"]),
                )
                for row in found
            ],
        )

    return Answer(
        document={"environments": found, "active": active},
        text=text,
        remarks=[] if found else ["There are no environments. `skillyard env create NAME` makes one."],
    )


def create(
    name: Name,
    *,
    use: Annotated[bool, typer.Option("--use", help="Make it the active one.")] = False,
) -> Answer:
    """Create an empty environment."""
    environment = all_environments().create(name)
    now = use_environment(name) if use else None

    made = {"name": name, "path": str(environment.path), "skills_dir": str(environment.skills_dir)}
    return Answer(
        document={**made, **(now._asdict() if now else {})},
        text=lambda console: console.print(str(environment.path), soft_wrap=True),
        remarks=[f"Put skills into {environment.skills_dir}", *([_sentence(now)] if now else [])],
    )


def show(name: OptionalName = None) -> Answer:
    """Show an environment's skills, agents and model."""
    found = detail(_environment(name), active=active_name(load_settings()))
    return Answer(document=found, text=lambda console: _print(console, found))


def use(name: Name) -> Answer:
    """Make an environment the active one."""
    return _in_use(use_environment(name))


def none() -> Answer:
    """Use no environment."""
    return _in_use(use_environment(None))


def path(name: OptionalName = None) -> Answer:
    """Print where an environment's files are."""
    environment = _environment(name)
    return Answer(
        document={"name": environment.name, "path": str(environment.path)},
        text=lambda console: console.print(str(environment.path), soft_wrap=True),
    )


def _in_use(now: InUse) -> Answer:
    return Answer(document=now._asdict(), text=lambda console: console.print(_sentence(now), soft_wrap=True))


def _sentence(now: InUse) -> str:
    state = f"{now.active} is active" if now.active else "No environment is active"
    return (
        f"{state}: {now.overruled_by} says so, and is stronger than your own file." if now.overruled_by else f"{state}."
    )


def _environment(name: str | None) -> Environment:
    wanted = name or active_name(load_settings())
    if wanted is None:
        raise NotFoundError("No environment is active.", hint="Name one, or use `skillyard env use NAME`.")
    return all_environments().get(wanted)


def _print(console: "Console", found: Mapping[str, Any]) -> None:
    state = " (active)" if found["active"] else ""
    console.print(styled((found["name"], "bold"), state, "  ", (found["path"], FAINT)), soft_wrap=True)
    facts = {"about": one_line(found["description"]), "model": found["model"]}
    print_rows(console, [(styled((key, FAINT)), value) for key, value in facts.items() if value])
    for agent in found["agents"]:
        console.print(
            f"agent {agent['id']}: {one_line(agent['role'] or agent['goal'] or agent['name'])}", soft_wrap=True
        )
    print_rows(console, [(f"  {info['id']}", one_line(info["description"])) for info in found["skills"]])
    for problem in found["problems"]:
        first = problem["findings"][0]
        _print_trouble(console, f"{problem['id']}: {one_line(first['message'])} {first['fix']}")
    for error in found["errors"]:
        _print_trouble(console, f"{error['message']} {error['hint']}")


def _print_trouble(console: "Console", message: str) -> None:
    console.print(styled(("✗ ", BAD), hanging(console, inline(message), "  ")), soft_wrap=True)
