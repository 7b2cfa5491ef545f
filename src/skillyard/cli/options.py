"""Options that several commands share."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from skillyard.errors import UsageError

Roots = Annotated[
    list[Path] | None,
    typer.Option("--root", metavar="DIR", help="Only skills in this folder; repeatable."),
]
Environment = Annotated[str | None, typer.Option("--env", metavar="NAME", help="Only skills of this environment.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be done, and do nothing.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
NeverAsks = Annotated[bool, typer.Option("--yes", "-y", help="Accepted for scripts; nothing is asked anyway.")]
FollowLock = Annotated[bool, typer.Option("--yes", "-y", help="Accept a new source that the lock names.")]

Agents = Annotated[
    list[str] | None,
    typer.Option("--agent", "-a", metavar="NAME", help="This agent's folder (claude, codex, cursor, …); repeatable."),
]
OneRoot = Annotated[Path | None, typer.Option("--root", metavar="DIR", help="This folder of skills.")]
User = Annotated[bool, typer.Option("--user", "-g", help="Your own folders, not those of the project.")]
Skills = Annotated[list[str] | None, typer.Argument(metavar="SKILL", help="Ids of skills; default: all.")]
Force = Annotated[bool, typer.Option("--force", help="Replace what is in the way; it goes to the trash.")]
Risky = Annotated[bool, typer.Option("--allow-risky", help="Accept skills with serious scan findings.")]

OnlyServer = Annotated[
    str | None, typer.Option("--server", metavar="URL", help="Skills of this Skillyard server, not of folders.")
]
Token = Annotated[
    str | None, typer.Option("--token", metavar="TOKEN", help="Your token there; better in SKILLYARD_TOKEN.")
]


def pairs(given: Iterable[str], option: str, *, hint: str) -> dict[str, str]:
    """Options of the form `NAME=VALUE`. What is wrong with one is told without its value, which may be secret."""
    found: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise UsageError(
                f"{option} {name!r} is not of the form NAME=VALUE.",
                hint=hint,
                details={"field": option, "value": name},
            )
        found[name] = value
    return found


def check_place(server: str | None, token: str | None, *folders: object, registry: bool = False) -> None:
    """Refuse options that contradict each other: the skills of a yard are in no folder of this machine."""
    if (server is not None or registry) and any(folders):
        raise UsageError(
            f"{'--registry' if server is None else '--server'} means the skills of a yard, --root and --env those of "
            "folders.",
            hint="Give one or the other.",
        )
    if server is None and token is not None:
        raise UsageError("--token needs a server.", hint="Name it: --server URL")
