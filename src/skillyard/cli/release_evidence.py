"""`skillyard release executions`, `mine` and `gaps`: what was done, and what may be learned from it."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import typer

from skillyard.cli.amounts import moment
from skillyard.cli.options import Token
from skillyard.cli.output import Answer, sink_of
from skillyard.cli.release_options import Limit
from skillyard.cli.release_text import more_of, print_table, when
from skillyard.cli.safe_text import inline, one_line
from skillyard.cli.sandbox_history import Kind, ending_of
from skillyard.cli.text import BAD, FAINT, GOOD, count, styled
from skillyard.cli.yard import Server, yard_client
from skillyard.errors import SkillyardError
from skillyard.remote.release_following import finished_mining

Learned = Literal["pending", "processed", "failed"]


def executions(
    *,
    sandbox: Annotated[str | None, typer.Option("--sandbox", metavar="ID", help="Only of this sandbox.")] = None,
    kind: Annotated[
        Kind | None, typer.Option("--type", metavar="TYPE", help="Only python, shell, browser or browser_batch.")
    ] = None,
    good: Annotated[bool, typer.Option("--successful", help="Only those that succeeded.")] = False,
    learned: Annotated[
        Learned | None,
        typer.Option(
            "--learn", metavar="STATUS", help="Only those with this learning status: pending, processed or failed."
        ),
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="Only since then: a date, or 2h for two hours ago.")
    ] = None,
    limit: Limit = 30,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """List what was run in all your sandboxes.

    Newest first. `sandbox history` shows one in full.
    """
    with yard_client(server, token) as client:
        found = client.releases.executions(
            exec_type=kind,
            success_only=good,
            learn_status=learned,
            sandbox_id=sandbox,
            since=moment(since),
            limit=limit,
        )
    entries: Sequence[Mapping[str, Any]] = found["entries"]
    rows = [
        (
            styled(("✓ ", GOOD) if one["success"] else ("✗ ", BAD), (one["id"], "bold")),
            one["sandbox_id"],
            one["exec_type"],
            ending_of(one),
            when(one["created_at"]),
            styled((f"learn {one['learn_status']}" if one["learn_status"] else "", FAINT)),
            one_line(one["code"]),
        )
        for one in entries
    ]
    nothing = "No execution matches. Run something: skillyard sandbox exec ID -- COMMAND"
    return Answer(
        document=found,
        text=lambda console: print_table(console, rows),
        remarks=more_of(found, entries) if entries else [nothing],
    )


def mine(
    context: typer.Context,
    *,
    sandbox: Annotated[
        list[str] | None, typer.Option("--sandbox", metavar="ID", help="Only what was run there; repeatable.")
    ] = None,
    execution: Annotated[
        list[str] | None, typer.Option("--execution", metavar="ID", help="Only these executions; repeatable.")
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="Only since then: a date, or 2h for two hours ago.")
    ] = None,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Find candidates in what was run.

    Successful sequences become candidates: what differs between runs becomes a variable, repeats of one task
    become one candidate. Running it again adds only what is new.
    """
    with yard_client(server, token) as client, sink_of(context).busy("Looking through executions"):
        asked = client.releases.mine(sandbox_ids=sandbox, execution_ids=execution, since=moment(since))
        done = finished_mining(client.releases, asked)
        found = [client.releases.candidate(candidate_id) for candidate_id in done["candidates"]]
    if done["state"] == "failed":
        raise SkillyardError(
            f"Looking through the executions failed: {done['error']}", hint="Nothing is lost: skillyard release mine"
        )
    created = set(done.get("created", done["candidates"]))
    rows = [
        (
            styled(
                ("+ " if one["id"] in created else "= ", GOOD if one["id"] in created else FAINT), (one["id"], "bold")
            ),
            inline(one["skill_key"]),
            one["skill_type"],
            count(len(one["source_execution_ids"]), "execution"),
            one_line(one["summary"] or ""),
        )
        for one in found
    ]
    return Answer(
        document={**done, "found": found},
        text=lambda console: print_table(console, rows),
        remarks=_remarks(done, [one["id"] for one in found], len(created)),
    )


def gaps(*, server: Server = None, token: Token = None) -> Answer:
    """List what is done by hand, or fails, repeatedly.

    Only tasks without a skill.
    """
    with yard_client(server, token) as client:
        found = client.releases.gaps()
    rows = [
        (
            styled((one["kind"], BAD if one["kind"] == "failing" else "yellow")),
            styled((f"{one['count']} times", "bold")),
            styled((when(one["last_at"]), FAINT)),
            styled((one["candidate_id"] or "", "bold")),
            one_line(one["summary"]),
        )
        for one in found["items"]
    ]
    return Answer(
        document=found,
        text=lambda console: print_table(console, rows),
        remarks=[] if rows else ["No gaps: every repeated task has a skill."],
    )


def _remarks(done: Mapping[str, Any], found: Sequence[str], created: int) -> list[str]:
    looked = f"Looked through {count(done.get('examined') or 0, 'execution')}"
    if not found:
        return [f"{looked}: no candidate found. A task that succeeded twice becomes one."]
    known = f", {len(found) - created} known before" if len(found) > created else ""
    return [f"{looked}: {count(created, 'new candidate')}{known}.", f"Read it: skillyard release show {found[0]}"]
