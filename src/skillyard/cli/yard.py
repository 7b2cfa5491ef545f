"""Which yard a command speaks with: the one named, else the one of this machine."""

from typing import Annotated, Literal

import typer

from skillyard.client import Skillyard

Server = Annotated[
    str | None,
    typer.Option("--server", metavar="URL", help="A Skillyard server; default: the yard of this machine."),
]
Why = Annotated[str, typer.Option("--reason", "-m", metavar="TEXT", help="The reason; kept in the history.")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="The skill: namespace/name, or its name alone.")]
Version = Annotated[
    str | None, typer.Option("--version", metavar="X.Y.Z", help="A version or tag; default: the latest.")
]
NewVersion = Annotated[
    str | None, typer.Option("--version", metavar="X.Y.Z", help="Default: metadata.version, else the next patch.")
]
InNamespace = Annotated[str | None, typer.Option("--namespace", "-n", metavar="NAME", help="Whose; default: yours.")]
OfNamespace = Annotated[
    str | None, typer.Option("--namespace", "-n", metavar="NAME", help="Only skills of this namespace.")
]
Audience = Literal["private", "public", "discoverable"]
Visibility = Annotated[
    Audience | None, typer.Option("--visibility", metavar="WHO", help="private, public or discoverable.")
]


def yard_client(server: str | None, token: str | None) -> Skillyard:
    """A client of the yard that the options or the settings name, else of the one of this machine."""
    return Skillyard(server, token=token)
