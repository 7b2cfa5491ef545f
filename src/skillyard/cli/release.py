"""`skillyard release`: candidates, read and made by hand."""

from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from skillyard.cli.options import Token, Yes
from skillyard.cli.output import Answer, sink_of
from skillyard.cli.release_options import Limit, Reason, SkillKey, json_file
from skillyard.cli.release_text import (
    STATUS_STYLES,
    more_of,
    percent,
    print_table,
    when,
)
from skillyard.cli.safe_text import inline, one_line
from skillyard.cli.text import FAINT, count, styled
from skillyard.cli.yard import Server, yard_client
from skillyard.errors import UsageError
from skillyard.remote.client import YardClient

Status = Literal["draft", "evaluating", "promoted", "rejected", "rolled_back"]
_OWN: Final = "blob:"


def candidates(
    *,
    status: Annotated[
        Status | None,
        typer.Option("--status", metavar="STATUS", help="draft, evaluating, promoted, rejected or rolled_back."),
    ] = None,
    skill: SkillKey = None,
    limit: Limit = 30,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """List know-how that may become a skill.

    Newest first.
    """
    with yard_client(server, token) as client:
        found = client.releases.candidates(status=status, skill_key=skill, limit=limit)
    items = found["items"]
    rows = [
        (
            styled((one["id"], "bold")),
            inline(one["skill_key"]),
            one["skill_type"],
            styled((one["status"], STATUS_STYLES.get(one["status"], ""))),
            percent(one["latest_score"]),
            count(len(one["source_execution_ids"]), "execution"),
            styled((when(one["created_at"]), FAINT)),
            one_line(one["summary"] or ""),
        )
        for one in items
    ]
    nothing = "There are none. Find some in what was run: skillyard release mine"
    return Answer(
        document=found,
        text=lambda console: print_table(console, rows),
        remarks=more_of(found, items) if items else ["None matches." if status or skill else nothing],
    )


def create(
    key: Annotated[str, typer.Argument(metavar="KEY", help="What the skill is called, such as order-tea.")],
    execution: Annotated[
        list[str], typer.Argument(metavar="EXECUTION", help="What was run, as `release executions` shows it.")
    ],
    *,
    payload: Annotated[
        str | None,
        typer.Option("--payload", metavar="FILE", help="Its steps as JSON, or a reference; default: what was run."),
    ] = None,
    summary: Annotated[str | None, typer.Option("--summary", metavar="TEXT", help="What it does, and when.")] = None,
    notes: Annotated[str | None, typer.Option("--notes", metavar="TEXT", help="How to use it.")] = None,
    scenario: Annotated[str | None, typer.Option("--scenario", metavar="KEY", help="What it is part of.")] = None,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Make a candidate from chosen executions."""
    with yard_client(server, token) as client:
        made = client.releases.create_candidate(
            skill_key=key,
            source_execution_ids=execution,
            payload_ref=None if payload is None else _reference(client, payload),
            scenario_key=scenario,
            summary=summary,
            usage_notes=notes,
        )
    return Answer(
        document=made,
        text=lambda console: console.print(made["id"], soft_wrap=True),
        remarks=[f"Try it: skillyard release replay {made['id']}"],
    )


def delete(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="ID", help="A candidate (sc-…) or a release (sr-…).")],
    *,
    reason: Reason = None,
    yes: Yes = False,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Delete a candidate or a release.

    A candidate that is in use stays; a release that is in use no longer is.
    """
    with yard_client(server, token) as client:
        is_release = name.startswith("sr-")
        one = client.releases.release(name) if is_release else client.releases.candidate(name)
        what = f"{one['skill_key']} version {one['version']}" if is_release else f"the candidate {one['skill_key']}"
        sink_of(context).confirm(f"Delete {what} ({name})?", yes=yes)
        remove = client.releases.delete_release if is_release else client.releases.delete_candidate
        done = remove(name, reason=reason)
    return Answer(document=done, text=lambda console: console.print(f"Deleted {inline(name)}.", soft_wrap=True))


def _reference(client: YardClient, text: str) -> str:
    """The reference of a payload: as given, or of the file that is sent."""
    if text.startswith(_OWN) or "://" in text:
        return text
    path = Path(text)
    if not path.is_file():
        raise UsageError(
            f"--payload: there is no file {text!r}.",
            hint="Give a JSON file with kind and steps, or a reference such as blob:blob-…",
            details={"field": "payload", "value": text},
        )
    document = json_file(path, "--payload")
    return client.releases.payloads.create(dict(document), kind=str(document.get("kind", "generic")))["payload_ref"]
