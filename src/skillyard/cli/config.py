"""`skillyard config`: what is set, where it comes from, and setting it."""

from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import SecretStr

from skillyard.app.environments import ACTIVE, all_environments
from skillyard.app.settings_in_force import settings_in_force
from skillyard.cli.output import Answer
from skillyard.cli.text import print_rows
from skillyard.config.files import check_project_value, known_key, portable, write_key
from skillyard.config.load import SECRETS, load_settings, parse_value, shown
from skillyard.config.paths import config_dir, project_config_file, user_config_file
from skillyard.config.settings import Settings

if TYPE_CHECKING:
    from rich.console import Console

Key = Annotated[str, typer.Argument(metavar="KEY", help="The setting's name.")]
Project = Annotated[bool, typer.Option("--project", help="Use ./skillyard.toml, not your own file.")]


def show(
    *, origin: Annotated[bool, typer.Option("--origin", help="Show where each value comes from.")] = False
) -> Answer:
    """Show all settings, and where each comes from."""
    values, origins = settings_in_force()

    def text(console: "Console") -> None:
        print_rows(
            console,
            [(key, _written(value), *([origins[key]] if origin else [])) for key, value in values.items()],
            cut=False,
        )

    document: dict[str, object] = {"settings": values}
    return Answer(document={**document, "origins": origins} if origin else document, text=text)


def get(key: Key) -> Answer:
    """Print the value of one setting."""
    name = known_key(key, keys=Settings.model_fields)
    values, origins = settings_in_force()
    value = values[name]
    return Answer(
        document={"key": name, "value": value, "origin": origins[name]},
        text=lambda console: console.print(_written(value), soft_wrap=True),
    )


def set_value(
    key: Key,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="The new value.")],
    *,
    project: Project = False,
) -> Answer:
    """Write one setting to a file."""
    name = known_key(key, keys=Settings.model_fields)
    path = project_config_file() if project else user_config_file()
    parsed = parse_value(name, value)
    if name == ACTIVE:
        all_environments().get(value)
    if project:
        check_project_value(path, name, parsed)
        parsed = portable(path, name, parsed)
    write_key(path, name, parsed)
    written = shown(name, SecretStr(str(parsed)) if name in SECRETS else parsed)
    return Answer(
        document={"key": name, "value": written, "file": str(path)},
        text=lambda console: console.print(f"{name} = {_written(written)}  ({path})", soft_wrap=True),
    )


def unset(key: Key, *, project: Project = False) -> Answer:
    """Remove one setting from a file."""
    name = known_key(key, keys=Settings.model_fields)
    path = project_config_file() if project else user_config_file()
    said = f"{name} is no longer set in {path}" if write_key(path, name, None) else f"{name} was not set in {path}"
    return Answer(
        document={"key": name, "value": None, "file": str(path)},
        text=lambda console: console.print(said, soft_wrap=True),
    )


def path() -> Answer:
    """Print where settings and data are kept."""
    places = {
        "config_dir": str(config_dir()),
        "user_file": str(user_config_file()),
        "project_file": str(project_config_file()),
        "home": str(load_settings().home),
    }

    return Answer(document=places, text=lambda console: print_rows(console, list(places.items()), cut=False))


def _written(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(str(item) for item in value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return "" if value is None else str(value)
