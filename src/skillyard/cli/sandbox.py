"""`skillyard sandbox`: making sandboxes, looking at them and taking them away."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Final, Literal

import typer

from skillyard.cli.amounts import seconds
from skillyard.cli.options import Token, Yes
from skillyard.cli.output import Answer, sink_of
from skillyard.cli.safe_text import inline
from skillyard.cli.sandbox_options import LIMITS, Id, Ids, endpoints, isolation, labels, limits
from skillyard.cli.text import BAD, FAINT, GOOD, print_rows, styled
from skillyard.cli.yard import Server, yard_client
from skillyard.clock import utc_now
from skillyard.sandbox.place import MIB

STYLES: Final = {"ready": GOOD, "starting": "yellow", "failed": BAD, "expired": FAINT}
_HERE: Final = (
    "Without a server it runs only while a command needs it; its files stay. "
    "For Python that keeps its state: skillyard serve, and --server URL."
)
_UNITS: Final = ((86_400, "d"), (3600, "h"), (60, "min"))
StatusName = Literal["idle", "starting", "ready", "failed", "expired"]


def create(
    *,
    profile: Annotated[
        str | None,
        typer.Option("--profile", metavar="NAME", help="python-default, browser-python, shell-default or python-only."),
    ] = None,
    ttl: Annotated[
        str | None, typer.Option("--ttl", metavar="TIME", help="How long it lives, such as 90, 30m or 2h; 0: no end.")
    ] = None,
    idle_ttl: Annotated[
        str | None,
        typer.Option("--idle-ttl", metavar="TIME", help="Idle time after which it is stopped; 0: never."),
    ] = None,
    allow: Annotated[
        list[str] | None,
        typer.Option(
            "--allow",
            "--network",
            metavar="URL",
            help="An endpoint that it may reach, such as https://example.org; repeatable. Without it: none.",
        ),
    ] = None,
    cargo: Annotated[
        str | None, typer.Option("--cargo", metavar="ID", help="The cargo with its files; default: a new one.")
    ] = None,
    isolate: Annotated[
        str | None,
        typer.Option(
            "--isolation",
            metavar="NAME",
            help="A backend (bwrap, docker, …), or what must be enforced: files,network,memory_total.",
        ),
    ] = None,
    label: Annotated[
        list[str] | None, typer.Option("--label", metavar="NAME=VALUE", help="A label of your own; repeatable.")
    ] = None,
    limit: Annotated[
        list[str] | None,
        typer.Option("--limit", metavar="NAME=VALUE", help=f"Such as memory=512m; {', '.join(LIMITS)}; repeatable."),
    ] = None,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Create a sandbox.

    Nothing runs in it before the first command that needs it. Without a server, what runs in it ends with that
    command; its files stay.
    """
    wanted: dict[str, Any] = {
        "profile": profile,
        "cargo": cargo,
        "ttl": seconds(ttl, "--ttl"),
        "idle_ttl": seconds(idle_ttl, "--idle-ttl"),
        "allow": endpoints(allow or ()),
        "limits": limits(limit or ()),
        "labels": labels(label or ()),
        "isolation": isolation(isolate),
    }
    with yard_client(server, token) as client:
        made = client.sandboxes.create(**wanted)
    return Answer(
        document=made,
        text=lambda console: console.print(made["id"], soft_wrap=True),
        remarks=[
            *([f"Warning: {made['injection_error']}"] if made["injection_error"] else []),
            f"Use it: skillyard sandbox exec {made['id']} -- COMMAND",
            *([_HERE] if client.connection.in_process else []),
        ],
    )


def list_sandboxes(
    *,
    status: Annotated[
        StatusName | None,
        typer.Option("--status", metavar="STATUS", help="Only those: idle, starting, ready, failed or expired."),
    ] = None,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """List your sandboxes.

    Newest first.
    """
    with yard_client(server, token) as client:
        found = list(client.sandboxes.all(status=status))
    now = utc_now()
    rows = [
        (
            styled((one["id"], "bold")),
            styled((one["status"], STYLES.get(one["status"], ""))),
            one["profile"],
            one["backend"],
            f"{ago(now, one['created_at'])} old",
            end_of(now, one["expires_at"]),
            styled((_pairs(one["labels"]), FAINT)),
        )
        for one in found
    ]
    nothing = "There are no sandboxes. Make one: skillyard sandbox create"
    return Answer(
        document={"sandboxes": found},
        text=lambda console: print_rows(console, rows),
        remarks=[] if found else ["None matches." if status else nothing],
    )


def show(sandbox_id: Id, *, server: Server = None, token: Token = None) -> Answer:
    """Show a sandbox."""
    with yard_client(server, token) as client:
        one = client.sandboxes.get(sandbox_id)
    now = utc_now()
    network = one["network"] if isinstance(one["network"], str) else " ".join(one["network"]["allow"])
    facts = {
        "status": one["status"],
        "error": one["error"],
        "profile": f"{one['profile']} ({', '.join(one['capabilities'])})",
        "backend": one["backend"],
        "must enforce": ", ".join(one["isolation"]),
        "network": network,
        "limits": ", ".join(f"{name} {_size(one['limits'], field)}" for name, field in LIMITS.items()),
        "cargo": one["cargo_id"],
        "labels": _pairs(one["labels"]),
        "made": f"{one['created_at']} ({ago(now, one['created_at'])} ago)",
        "ttl": end_of(now, one["expires_at"]),
        "idle": _idle(now, one),
        "skills": f"delivered {one['skills_injected_at']}" if one["skills_injected_at"] else "",
        "not delivered": one["injection_error"],
    }
    rows = [(styled((name, FAINT)), inline(value)) for name, value in facts.items() if value]
    return Answer(document=one, text=lambda console: print_rows(console, rows, cut=False))


def stop(sandbox_ids: Ids, *, server: Server = None, token: Token = None) -> Answer:
    """Stop sandboxes; their files stay.

    The next command that needs one starts it again.
    """
    with yard_client(server, token) as client:
        for sandbox_id in sandbox_ids:
            client.sandboxes.stop(sandbox_id)
    return Answer(
        document={"stopped": sandbox_ids},
        text=lambda console: console.print(f"Stopped {inline(', '.join(sandbox_ids))}.", soft_wrap=True),
    )


def remove(
    context: typer.Context, sandbox_ids: Ids, *, yes: Yes = False, server: Server = None, token: Token = None
) -> Answer:
    """Delete sandboxes, with their files.

    Files in a separately created cargo stay. This cannot be undone.
    """
    with yard_client(server, token) as client:
        known = [client.sandboxes.get(sandbox_id)["id"] for sandbox_id in sandbox_ids]
        what = f"{known[0]}, with its files" if len(known) == 1 else f"{len(known)} sandboxes, with their files"
        sink_of(context).confirm(f"Delete {what}?", yes=yes)
        for sandbox_id in known:
            client.sandboxes.delete(sandbox_id)
    return Answer(
        document={"deleted": known},
        text=lambda console: console.print(f"Deleted {inline(', '.join(known))}.", soft_wrap=True),
    )


def ago(now: datetime, moment: str) -> str:
    """How long ago that was, roughly."""
    return _span((now - datetime.fromisoformat(moment)).total_seconds())


def end_of(now: datetime, moment: str | None) -> str:
    """When that is, from now."""
    if moment is None:
        return "no end"
    left = (datetime.fromisoformat(moment) - now).total_seconds()
    return f"ends in {_span(left)}" if left > 0 else f"ended {_span(-left)} ago"


def _idle(now: datetime, one: Mapping[str, Any]) -> str:
    if not one["idle_ttl"]:
        return "runs on when idle"
    if one["idle_expires_at"] is None:
        return f"is stopped after {_span(one['idle_ttl'])}"
    return f"is stopped after {_span(one['idle_ttl'])}, {end_of(now, one['idle_expires_at'])}"


def _span(length: float) -> str:
    """A time in the largest unit of which there are two."""
    for unit, name in _UNITS:
        if length >= 2 * unit:
            return f"{round(length / unit)} {name}"
    return f"{round(length)} s"


def _pairs(given: Mapping[str, str]) -> str:
    return inline(" ".join(f"{name}={value}" for name, value in given.items()))


def _size(given: Mapping[str, int], field: str) -> str:
    value = given[field]
    if not field.endswith("_bytes"):
        return f"{value} s" if field.endswith("_seconds") else str(value)
    return f"{value // MIB} MiB" if value % MIB == 0 else f"{value:,} bytes"
