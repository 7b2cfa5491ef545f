"""`skillyard sandbox history`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from skillyard.cli.options import Token
from skillyard.cli.output import Answer
from skillyard.cli.safe_text import inline, one_line, visible
from skillyard.cli.sandbox import ago
from skillyard.cli.sandbox_options import Id
from skillyard.cli.text import BAD, FAINT, GOOD, print_rows, styled
from skillyard.cli.yard import Server, yard_client
from skillyard.clock import utc_now

if TYPE_CHECKING:
    from rich.console import Console

Kind = Literal["python", "shell", "browser", "browser_batch"]


def history(
    sandbox_id: Id,
    execution: Annotated[
        str | None, typer.Argument(metavar="EXECUTION", help="Only this one, in full, as the list names it.")
    ] = None,
    *,
    kind: Annotated[
        Kind | None,
        typer.Option("--type", metavar="TYPE", help="Only those: python, shell, browser or browser_batch."),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="NUMBER", min=1, help="Maximum number.")] = 30,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """List what was run in a sandbox.

    Newest first, including what failed (✗), took too long or was interrupted.
    """
    with yard_client(server, token) as client:
        if execution is not None:
            one = client.sandboxes.execution(sandbox_id, execution)
            return Answer(document=one, text=lambda console: _print_one(console, one))
        found = client.sandboxes.history(sandbox_id, exec_type=kind, limit=limit)
    entries = found["entries"]
    more = found["total"] - len(entries)
    return Answer(
        document=found,
        text=lambda console: print_rows(console, _rows(entries)),
        remarks=[f"{more} more; -n shows them."] if more else [] if entries else ["Nothing was run in it yet."],
    )


def _rows(entries: list[dict[str, Any]]) -> "list[tuple[Any, ...]]":
    now = utc_now()
    return [
        (
            styled(("✓ ", GOOD) if one["success"] else ("✗ ", BAD), (one["id"], "bold")),
            one["exec_type"],
            ending_of(one),
            f"{one['execution_time_ms']} ms",
            f"{ago(now, one['created_at'])} ago",
            one_line(one["code"]),
        )
        for one in entries
    ]


def ending_of(one: Mapping[str, Any]) -> str:
    """How a run ended, in a word or two."""
    if one["ending"] != "exited":
        return one["ending"]
    if one["success"]:
        return "done"
    return f"exit {one['exit_code']}" if one["exit_code"] else "failed"


def _print_one(console: "Console", one: dict[str, Any]) -> None:
    facts = {
        "id": one["id"],
        "type": one["exec_type"],
        "ended": ending_of(one) + (", with more output than is kept" if one["truncated"] else ""),
        "took": f"{one['execution_time_ms']} ms",
        "at": one["created_at"],
        "network": " ".join(one["network"]) or "none",
        "skills": ", ".join(skill["name"] for skill in one["skills"]),
        "description": one["description"],
        "tags": one["tags"],
        "notes": one["notes"],
        "trace": one["payload_ref"],
    }
    print_rows(console, [(styled((name, FAINT)), inline(value)) for name, value in facts.items() if value], cut=False)
    for name in ("code", "output", "error"):
        if one[name]:
            console.print()
            console.print(styled((name, FAINT)))
            console.print(styled(visible(one[name].rstrip("\n"))), soft_wrap=True)
