"""`skillyard sandbox extend`, `keepalive`, `snapshot` and `stats`."""

from typing import Annotated

import typer

from skillyard.cli.amounts import seconds
from skillyard.cli.options import Token
from skillyard.cli.output import Answer, sink_of
from skillyard.cli.safe_text import inline
from skillyard.cli.sandbox import end_of
from skillyard.cli.sandbox_options import Id, Ids
from skillyard.cli.text import FAINT, print_rows, styled
from skillyard.cli.yard import Server, yard_client
from skillyard.clock import utc_now
from skillyard.sandbox.place import MIB


def extend(
    sandbox_id: Id,
    time: Annotated[str, typer.Argument(metavar="TIME", help="How much longer it lives, such as 90, 30m or 2h.")],
    *,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Extend the life of a sandbox.

    Two extensions at once both count. A sandbox without an end cannot be extended.
    """
    more = seconds(time, "TIME") or 0
    with yard_client(server, token) as client:
        one = client.sandboxes.extend(sandbox_id, more)
    told = f"{one['id']} {end_of(utc_now(), one['expires_at'])}."
    return Answer(document=one, text=lambda console: console.print(inline(told), soft_wrap=True))


def keepalive(sandbox_ids: Ids, *, server: Server = None, token: Token = None) -> Answer:
    """Restart the idle time of sandboxes.

    Every command does so for the sandbox that it uses.
    """
    with yard_client(server, token) as client:
        for sandbox_id in sandbox_ids:
            client.sandboxes.keep_alive(sandbox_id)
    return Answer(
        document={"kept": sandbox_ids},
        text=lambda console: console.print(
            f"Restarted the idle time of {inline(', '.join(sandbox_ids))}.", soft_wrap=True
        ),
    )


def snapshot(context: typer.Context, sandbox_id: Id, *, server: Server = None, token: Token = None) -> Answer:
    """Copy the files of a sandbox into a cargo of their own.

    It outlives the sandbox, and other sandboxes can use it.
    """
    with yard_client(server, token) as client, sink_of(context).busy(f"Copying the files of {sandbox_id}"):
        cargo = client.sandboxes.snapshot(sandbox_id)
    return Answer(
        document=cargo,
        text=lambda console: console.print(cargo["id"], soft_wrap=True),
        remarks=[f"Use it: skillyard sandbox create --cargo {cargo['id']}"],
    )


def stats(sandbox_id: Id, *, server: Server = None, token: Token = None) -> Answer:
    """Show what a sandbox uses now."""
    with yard_client(server, token) as client:
        used = client.sandboxes.stats(sandbox_id)
    facts = {
        "processes": str(used["processes"]),
        "memory": f"{used['memory_bytes'] / MIB:.1f} MiB",
        "files": f"{used['disk_bytes'] / MIB:.1f} MiB",
        "cpu": f"{used['cpu_seconds']:.1f} s",
    }
    rows = [(styled((name, FAINT)), value) for name, value in facts.items()]
    return Answer(document=used, text=lambda console: print_rows(console, rows))
