"""`skillyard learn sources`: where feedback is polled from."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from skillyard.cli.amounts import seconds
from skillyard.cli.learn_options import SourceName, named
from skillyard.cli.options import Token, Yes, pairs
from skillyard.cli.output import Answer, sink_of
from skillyard.cli.release_text import print_table, when
from skillyard.cli.safe_text import inline, one_line
from skillyard.cli.text import BAD, FAINT, count, styled
from skillyard.cli.yard import Server, yard_client
from skillyard.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from skillyard.remote.learning import LearningClient

_EVERY: Final = "60"


def list_sources(*, server: Server = None, token: Token = None) -> Answer:
    """List where feedback is polled from."""
    with yard_client(server, token) as client:
        found = list(client.learning.sources())
    rows = [
        (
            styled((one["id"], "bold")),
            inline(one["name"]),
            one["kind"],
            f"every {one['every_seconds']} s" if one["enabled"] else styled(("off", "yellow")),
            inline(str(one["place"].get("url") or one["place"].get("table") or "")),
            styled((_trouble(one), BAD)),
        )
        for one in found
    ]
    nothing = "There are none. Add one: skillyard learn sources add NAME --url URL"
    return Answer(
        document={"sources": found},
        text=lambda console: print_table(console, rows),
        remarks=[] if found else [nothing],
    )


def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name.")],
    *,
    url: Annotated[
        str | None, typer.Option("--url", metavar="URL", help="An address that answers with a JSON list or JSON lines.")
    ] = None,
    header: Annotated[
        list[str] | None,
        typer.Option(
            "--header", metavar="NAME=VALUE", help="A header to send; credentials by the name of their variable."
        ),
    ] = None,
    database: Annotated[
        str | None, typer.Option("--database", metavar="URL", help="A database whose --table holds feedback.")
    ] = None,
    table: Annotated[str | None, typer.Option("--table", metavar="NAME", help="The table, or schema.table.")] = None,
    field: Annotated[
        list[str] | None,
        typer.Option("--field", metavar="OURS=THEIRS", help="Their name for content, task, user, time, event_id, …"),
    ] = None,
    every: Annotated[
        str, typer.Option("--every", metavar="TIME", help="Time between two polls: 60, 10m, 1h.")
    ] = _EVERY,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Poll feedback from an address or a table.

    Each piece is taken once, however often it is seen. Credentials are in the server's environment.
    """
    if (url is None) == (database is None) or (database is None) != (table is None):
        raise UsageError(
            "A source is an address or a table.", hint="Give --url URL, or --database URL and --table NAME."
        )
    place: dict[str, Any] = {}
    if url is not None:
        place = {"url": url, "headers": pairs(header or (), "--header", hint="Write it as --header Accept-Language=ko")}
    else:
        schema, dot, rest = (table or "").rpartition(".")
        place = {"database": database, "table": rest, **({"schema": schema} if dot else {})}
    place["fields"] = pairs(field or (), "--field", hint="Write it as --field content=comment")
    with yard_client(server, token) as client:
        made = client.learning.create_source(
            {
                "name": name,
                "kind": "table" if url is None else "url",
                "place": place,
                "every_seconds": seconds(every, "--every"),
            }
        )
    return Answer(
        document=made,
        text=lambda console: console.print(styled((made["id"], "bold"), f"  {inline(name)}"), soft_wrap=True),
        remarks=[f"Poll it now: skillyard learn sources poll {made['id']}", "A server polls it automatically."],
    )


def poll(context: typer.Context, source: SourceName, *, server: Server = None, token: Token = None) -> Answer:
    """Poll a source now.

    Exit code 1 when something there is not feedback.
    """
    with yard_client(server, token) as client:
        one = _found(client.learning, source)
        with sink_of(context).busy(f"Looking at {one['name']}"):
            done = client.learning.poll_source(one["id"])
    said = f"{done['read']:,} read: {done['created']:,} new, {done['known']:,} known already."
    dead = f"{count(done['dead'], 'piece')} could not be read: skillyard learn sources dead {one['id']}"
    return Answer(
        document=done,
        text=lambda console: console.print(said, soft_wrap=True),
        exit_code=1 if done["dead"] else 0,
        remarks=[dead] if done["dead"] else [],
    )


def switch(
    source: SourceName,
    *,
    on: Annotated[bool, typer.Option("--on/--off", help="Poll it, or do not.")] = True,
    every: Annotated[str | None, typer.Option("--every", metavar="TIME", help="Time between two polls.")] = None,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Switch a source on or off."""
    fields: dict[str, Any] = {"enabled": on}
    if every is not None:
        fields["every_seconds"] = seconds(every, "--every")
    with yard_client(server, token) as client:
        done = client.learning.change_source(_found(client.learning, source)["id"], fields)
    said = f"{inline(done['name'])} is {'on' if done['enabled'] else 'off'}."
    return Answer(document=done, text=lambda console: console.print(said, soft_wrap=True))


def remove(
    context: typer.Context, source: SourceName, *, yes: Yes = False, server: Server = None, token: Token = None
) -> Answer:
    """Remove a source; the feedback that came from it stays."""
    with yard_client(server, token) as client:
        one = _found(client.learning, source)
        sink_of(context).confirm(f"Remove the source {one['name']}?", yes=yes)
        client.learning.delete_source(one["id"])
    return Answer(
        document={"removed": one["id"]},
        text=lambda console: console.print(f"Removed {inline(one['name'])}.", soft_wrap=True),
    )


def dead(
    source: SourceName,
    *,
    clear: Annotated[bool, typer.Option("--clear", help="Delete them.")] = False,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """List items from a source that could not be used.

    Exit code 1 when there are any.
    """
    with yard_client(server, token) as client:
        one = _found(client.learning, source)
        if clear:
            return _cleared(client.learning.delete_dead_letters(one["id"]))
        found = list(client.learning.dead_letters(one["id"]))

    def text(console: "Console") -> None:
        rows = [
            (
                styled((letter["id"], "bold")),
                styled((when(letter["created_at"]), FAINT)),
                one_line(letter["reason"]),
                styled((one_line(json.dumps(letter["item"], ensure_ascii=False)), FAINT)),
            )
            for letter in found
        ]
        print_table(console, rows)

    return Answer(
        document={"source": one["id"], "dead_letters": found},
        text=text,
        exit_code=1 if found else 0,
        remarks=[] if found else ["Everything that came from it could be used."],
    )


def _cleared(done: Mapping[str, Any]) -> Answer:
    said = f"{count(done['deleted'], 'piece')} deleted."
    return Answer(document=done, text=lambda console: console.print(said, soft_wrap=True))


def _found(learning: "LearningClient", wanted: str) -> Mapping[str, Any]:
    one = named(learning.sources(), wanted, "source")
    if one is None:
        raise NotFoundError(
            f"There is no source {wanted!r}.",
            hint="List them: skillyard learn sources",
            details={"field": "source", "value": wanted},
        )
    return one


def _trouble(one: Mapping[str, Any]) -> str:
    return f"failed {count(one['failures'], 'time')}: {one_line(one['error'])}" if one["failures"] else ""
