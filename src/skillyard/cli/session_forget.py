"""`skillyard release forget`: taking away what `skillyard release import` read in."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

import typer

from skillyard.cli.amounts import moment
from skillyard.cli.options import DryRun, Token, Yes
from skillyard.cli.output import Answer, sink_of
from skillyard.cli.release_text import print_table, when
from skillyard.cli.safe_text import inline
from skillyard.cli.text import FAINT, MAX_SHOWN, count, styled
from skillyard.cli.yard import Server, yard_client
from skillyard.errors import NotFoundError

_STAYS: Final = "What was learned from them stays: skillyard release candidates"


def forget(
    context: typer.Context,
    *,
    session: Annotated[
        str | None, typer.Option("--session", metavar="ID", help="Only this session, by its id imported-….")
    ] = None,
    agent: Annotated[
        str | None, typer.Option("--agent", "-a", metavar="NAME", help="Only what this agent ran: claude or codex.")
    ] = None,
    before: Annotated[
        str | None,
        typer.Option("--before", metavar="TIME", help="Only what was run before then: a date, or 90d for 90 days ago."),
    ] = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Delete what was imported.

    The session logs themselves are not touched: `release import` brings back what they still contain. What was run in
    sandboxes stays.
    """
    asked = {"sandbox_id": session, "agent": agent, "before": moment(before, "--before")}
    with yard_client(server, token) as client:
        found = client.releases.imported_sessions(**asked, limit=MAX_SHOWN)
        if not found["total"]:
            raise NotFoundError(
                "Nothing like that was imported.",
                hint="Everything that was imported: skillyard release forget --dry-run",
                details={name: value for name, value in asked.items() if value},
            )
        if dry_run:
            return _rehearsed(found)
        what = f"{count(found['executions'], 'execution')} of {count(found['total'], 'session')}"
        sink_of(context).confirm(f"Delete {what} that were imported?", yes=yes)
        done = client.releases.delete_imported(**asked)
    said = f"{count(done['executions'], 'execution')} deleted, and with them {count(done['sessions'], 'session')}."
    return Answer(document=done, text=lambda console: console.print(said, soft_wrap=True), remarks=[_STAYS])


def _rehearsed(found: Mapping[str, Any]) -> Answer:
    sessions: Sequence[Mapping[str, Any]] = found["sessions"]
    rows = [
        (
            styled((one["sandbox_id"], "bold")),
            inline(one["agent"]),
            inline(one["session"]),
            count(one["executions"], "execution"),
            styled((when(one["last_at"]), FAINT)),
            styled((inline(one["folder"]), FAINT)),
        )
        for one in sessions
    ]
    more = found["total"] - len(sessions)
    return Answer(
        document={"dry_run": True, **found},
        text=lambda console: print_table(console, rows),
        remarks=[
            *([f"{more:,} more sessions."] if more else []),
            f"{count(found['executions'], 'execution')} would be deleted. Nothing was done.",
        ],
    )
