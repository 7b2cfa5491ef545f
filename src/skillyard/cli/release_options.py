"""What the commands of `skillyard release` share: their arguments, and values as people write them."""

import getpass
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, cast

import typer

from skillyard.cli.options import pairs
from skillyard.errors import UsageError
from skillyard.library.regular import read_regular
from skillyard.skill.limits import MIB

CandidateId = Annotated[str, typer.Argument(metavar="CANDIDATE", help="Its id, as `release candidates` shows it.")]
ReleaseId = Annotated[str, typer.Argument(metavar="RELEASE", help="Its id, as `release list` shows it.")]
SkillKey = Annotated[str | None, typer.Option("--skill", metavar="KEY", help="Only of this skill.")]
Limit = Annotated[int, typer.Option("--limit", "-n", metavar="NUMBER", min=1, max=500, help="Maximum number.")]
Var = Annotated[
    list[str] | None, typer.Option("--var", metavar="NAME=VALUE", help="The value of a variable; repeatable.")
]
Vars = Annotated[
    Path | None, typer.Option("--vars", metavar="FILE", help="A JSON file with the values of variables; - is stdin.")
]
Secret = Annotated[
    list[str] | None,
    typer.Option(
        "--secret",
        metavar="NAME",
        help="A secret variable: its value is that of your variable NAME, or is asked for; NAME=@FILE reads a file.",
    ),
]
Reason = Annotated[str | None, typer.Option("--reason", "-m", metavar="TEXT", help="The reason; it is kept.")]

NOTHING_IN_USE: Final = "No learned skill is in use. Candidates: skillyard release candidates"
_MAX_SECRET: Final = 64 * 1024


def variables(given: Iterable[str], file: Path | None = None) -> dict[str, Any]:
    """The values of variables: those of a file, and over them those of the command line, as texts."""
    values: dict[str, Any] = dict(json_file(file, "--vars")) if file is not None else {}
    return values | pairs(given, "--var", hint="Write it as --var customer=Ada; for a secret: --secret NAME")


def secrets(
    given: Iterable[str],
    environment: Mapping[str, str] = os.environ,
    ask: Callable[[str], str] = getpass.getpass,
) -> dict[str, str]:
    """The values of secret variables. None stands on the command line, which others see and the shell keeps."""
    found: dict[str, str] = {}
    for text in given:
        name, equals, where = text.partition("=")
        if equals and not where.startswith("@"):
            raise UsageError(
                "--secret takes the name of a variable, or NAME=@FILE, and never the value itself.",
                hint=f"Leave the value out, and it is asked for: --secret {name}",
                details={"field": "secret", "value": name},
            )
        found[name] = _from_file(where[1:]) if equals else _known_or_asked(name, environment, ask)
    return found


def json_file(path: Path, option: str) -> Mapping[str, Any]:
    """The object in a JSON file."""
    text = sys.stdin.read() if str(path) == "-" else read_regular(str(path.resolve()), MIB).decode("utf-8", "replace")
    try:
        document = json.loads(text)
    except ValueError as error:
        raise UsageError(
            f"{option}: {path} is not JSON: {error}.", details={"field": option, "value": str(path)}
        ) from None
    if not isinstance(document, dict):
        raise UsageError(
            f"{option}: {path} does not hold a JSON object.",
            hint='Write it as {"name": "value"}.',
            details={"field": option, "value": str(path)},
        )
    return cast("dict[str, Any]", document)


def _from_file(path: str) -> str:
    if path == "-":
        return sys.stdin.readline().rstrip("\r\n")
    data = read_regular(str(Path(path).expanduser().resolve()), _MAX_SECRET)
    return data.decode("utf-8", "replace").rstrip("\r\n")


def _known_or_asked(name: str, environment: Mapping[str, str], ask: Callable[[str], str]) -> str:
    for variable in (name, name.upper()):
        if environment.get(variable):
            return environment[variable]
    if not sys.stdin.isatty() or not sys.stderr.isatty():
        raise UsageError(
            f"There is no variable {name.upper()} in the environment, and no terminal to ask on.",
            hint=f"Set it: read -rs {name.upper()} && export {name.upper()}; or use --secret {name}=@FILE",
            details={"field": "secret", "value": name},
        )
    return ask(f"{name}: ")
