"""What the commands of `skillyard sandbox` share: their arguments, and values as people write them."""

import os
import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Final

import typer

from skillyard.cli.amounts import size
from skillyard.cli.options import pairs
from skillyard.errors import UsageError
from skillyard.sandbox.capabilities import Barrier

Id = Annotated[str, typer.Argument(metavar="ID", help="The sandbox, as `sandbox ls` shows it.")]
Ids = Annotated[list[str], typer.Argument(metavar="ID", help="The sandboxes, as `sandbox ls` shows them.")]
Learn = Annotated[bool, typer.Option("--learn", help="Learn from it once the sandbox is quiet; needs a server.")]
Secret = Annotated[
    list[str] | None,
    typer.Option(
        "--secret", metavar="NAME", help="Pass this variable of yours on, and keep its value out of all output."
    ),
]

LIMITS: Final = {
    "memory": "memory_bytes",
    "processes": "processes",
    "files": "open_files",
    "file": "file_bytes",
    "disk": "disk_bytes",
    "tmp": "tmp_bytes",
    "cpu": "cpu_seconds",
    "output": "output_bytes",
}
"""The limits by their short names; the names of the API are understood, too."""
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")


def limits(given: Iterable[str]) -> dict[str, int]:
    """Limits such as `memory=512m`, by the names of the API."""
    wanted: dict[str, int] = {}
    for text in given:
        name, equals, value = text.partition("=")
        field = LIMITS.get(name, name)
        if not equals or field not in LIMITS.values():
            raise UsageError(
                f"--limit {text!r} is not a known limit.",
                hint=f"Use one of {', '.join(LIMITS)}, such as --limit memory=512m",
                details={"field": "limit", "value": text},
            )
        wanted[field] = size(value, "--limit", f"--limit {name} takes a number, or one such as 512m or 2g.")
    return wanted


def labels(given: Iterable[str]) -> dict[str, str]:
    """Labels such as `team=data`."""
    return pairs(given, "--label", hint="Write it as --label team=data")


def endpoints(given: Iterable[str]) -> list[str]:
    """The endpoints that may be reached; `none`, alone, is none."""
    listed = list(given)
    if listed == ["none"]:
        return []
    if "none" in listed:
        raise UsageError("The network is `none` or a list of endpoints, not both.", hint="Leave `none` out.")
    return listed


def isolation(text: str | None) -> str | list[str] | None:
    """A backend by its name, or barriers, separated by commas."""
    if text is None:
        return None
    names = [part.strip() for part in text.split(",")]
    known = {barrier.value for barrier in Barrier}
    return names if len(names) > 1 or names[0] in known else names[0]


def secrets(names: Iterable[str], environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The values of variables of this process: a command line would be seen by others, and kept by the shell."""
    found: dict[str, str] = {}
    for name in names:
        if not _VARIABLE.fullmatch(name):
            raise UsageError(
                "--secret takes the name of a variable, not its value.",
                hint="Set the variable first, and name it: --secret API_KEY",
                details={"field": "secret"},
            )
        if name not in environment:
            raise UsageError(
                f"There is no variable {name} in the environment.",
                hint=f"Set it: read -rs {name} && export {name}",
                details={"field": "secret", "value": name},
            )
        found[name] = environment[name]
    return found
