"""`skillyard sandbox cargos`: files that outlive the sandboxes they are used in."""

from typing import Annotated

import typer

from skillyard.cli.amounts import mebibytes
from skillyard.cli.options import Token, Yes
from skillyard.cli.output import Answer, sink_of
from skillyard.cli.safe_text import inline
from skillyard.cli.sandbox import ago
from skillyard.cli.text import FAINT, print_rows, styled
from skillyard.cli.yard import Server, yard_client
from skillyard.clock import utc_now


def list_cargos(
    *,
    managed: Annotated[
        bool, typer.Option("--managed", help="Those that were made with a sandbox instead, and go with it.")
    ] = False,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """List your cargos.

    Newest first. `sandbox create --cargo ID` makes a sandbox with one.
    """
    with yard_client(server, token) as client:
        found = list(client.sandboxes.cargos(managed=managed))
    now = utc_now()
    rows = [
        (
            styled((one["id"], "bold")),
            one["backend"],
            f"{one['size_limit_mb']} MiB at most",
            f"{ago(now, one['created_at'])} old",
            f"used {ago(now, one['last_accessed_at'])} ago",
            styled((one["managed_by_sandbox_id"] or "", FAINT)),
        )
        for one in found
    ]
    return Answer(
        document={"cargos": found},
        text=lambda console: print_rows(console, rows),
        remarks=[] if found else ["There are none. Make one: skillyard sandbox cargos create"],
    )


def create(
    *,
    size: Annotated[str | None, typer.Option("--size", metavar="SIZE", help="Its size, such as 512m or 2g.")] = None,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Create a cargo: a workspace for future sandboxes."""
    with yard_client(server, token) as client:
        made = client.sandboxes.create_cargo(size_limit_mb=mebibytes(size, "--size"))
    return Answer(
        document=made,
        text=lambda console: console.print(made["id"], soft_wrap=True),
        remarks=[f"Use it: skillyard sandbox create --cargo {made['id']}"],
    )


def remove(
    context: typer.Context,
    cargo_ids: Annotated[list[str], typer.Argument(metavar="ID", help="The cargos, as `cargos ls` shows them.")],
    *,
    yes: Yes = False,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Delete cargos, with their files.

    One that a sandbox uses stays. This cannot be undone.
    """
    what = cargo_ids[0] if len(cargo_ids) == 1 else f"{len(cargo_ids)} cargos"
    sink_of(context).confirm(f"Delete {inline(what)}, with all files?", yes=yes)
    with yard_client(server, token) as client:
        for cargo_id in cargo_ids:
            client.sandboxes.delete_cargo(cargo_id)
    return Answer(
        document={"deleted": cargo_ids},
        text=lambda console: console.print(f"Deleted {inline(', '.join(cargo_ids))}.", soft_wrap=True),
    )
