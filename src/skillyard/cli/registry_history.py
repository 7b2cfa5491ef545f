"""`skillyard registry`: what happened, undoing it, and how skills hang together."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skillyard.cli.options import Token
from skillyard.cli.output import Answer
from skillyard.cli.safe_text import inline, one_line
from skillyard.cli.text import BAD, FAINT, count, hanging, print_rows, styled
from skillyard.cli.yard import OfNamespace, Server, Why, yard_client
from skillyard.history.entries import MAX_ENTRIES
from skillyard.usage.events import MAX_DAYS

if TYPE_CHECKING:
    from rich.console import Console

MaybeName = Annotated[str | None, typer.Argument(metavar="NAME", help="Only this skill; default: all.")]


def history(
    name: MaybeName = None,
    *,
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="NUMBER", min=1, max=MAX_ENTRIES, help="Maximum number.")
    ] = 30,
    before: Annotated[
        int | None, typer.Option("--before", metavar="NUMBER", min=1, help="Only entries before this.")
    ] = None,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """List every change: who, when, why.

    Newest first; refused attempts are marked ✗. A deleted skill can still be named.
    """
    with yard_client(server, token) as client:
        entries = client.history(skill=name, before=before, limit=limit)
    return Answer(
        document={"entries": entries},
        text=lambda console: _print_entries(console, entries),
        remarks=[] if entries else ["There are no entries that you may see."],
    )


def undo(
    number: Annotated[int, typer.Argument(metavar="NUMBER", min=1, help="The entry's number, as `history` shows it.")],
    *,
    reason: Why = "",
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Undo one change.

    That is also a change: undoing the undo brings it back.
    """
    with yard_client(server, token) as client:
        entry = client.undo(number, reason=reason)
    said = f"Undid {number}. Entry {entry['number']}: {entry['action']} {entry['subject']['label']}"
    return Answer(
        document=entry,
        text=lambda console: console.print(inline(said), soft_wrap=True),
        remarks=[f"To undo that: skillyard registry undo {entry['number']}"],
    )


def graph(
    *,
    namespace: OfNamespace = None,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Show which skill refers to which, and what is broken. Exit code 1 when something is."""
    with yard_client(server, token) as client:
        found = client.graph(namespace=namespace)
    return Answer(
        document=found, text=lambda console: _print_graph(console, found), exit_code=1 if found["broken"] else 0
    )


def usage(
    name: MaybeName = None,
    *,
    days: Annotated[
        int, typer.Option("--days", metavar="NUMBER", min=1, max=MAX_DAYS, help="Number of days to look back.")
    ] = 30,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Show how often skills were used, and how it went.

    Of all skills, those never used and those that fail often; of one skill, its counts day by day.
    """
    with yard_client(server, token) as client:
        if name is None:
            report = client.usage_report(days=days)
            return Answer(document=report, text=lambda console: _print_usage_report(console, report))
        found = client.usage_of(name, days=days)
    return Answer(
        document={"days": found},
        text=lambda console: _print_usage_days(console, found),
        remarks=[] if found else [f"Nobody used {name} in {count(days, 'day')}."],
    )


def _print_entries(console: "Console", entries: Sequence[dict[str, Any]]) -> None:
    """One line for each entry, and below it why, or why not; a list would leave no room for either."""
    number = max((len(str(entry["number"])) for entry in entries), default=0)
    actor = max((len(inline(entry["actor"]["name"])) for entry in entries), default=0)
    indent = " " * (number + 4)
    for entry in entries:
        refused = entry["outcome"] != "done"
        line = styled(
            ("✗ " if refused else "  ", BAD),
            (f"{entry['number']:>{number}}", "bold"),
            (f"  {entry['at'][:16].replace('T', ' ')}  {inline(entry['actor']['name']):<{actor}}  ", FAINT),
            (f"{entry['action']}{' refused' if refused else ''}  ", BAD if refused else ""),
            (inline(entry["subject"]["label"]), "bold"),
            inline("".join(f"  {part}" for part in _facts(entry))),
        )
        console.print(line, soft_wrap=True)
        for remark in _remarks(entry):
            console.print(styled(indent, hanging(console, one_line(remark), indent)), soft_wrap=True)


def _facts(entry: dict[str, Any]) -> list[str]:
    """What an entry is about beside its subject: which version, which tag, who may see it now, which member."""
    after: dict[str, Any] = entry["after"] or {}
    named = [str(after[key]) for key in ("skill", "tag", "version", "visibility", "person", "role") if after.get(key)]
    return [*named, after["state"]] if after.get("state") not in {None, "published"} else named


def _remarks(entry: dict[str, Any]) -> Iterator[str]:
    if entry["reason"]:
        yield entry["reason"]
    if entry["error"] is not None:
        yield entry["error"]["message"]
    if entry["undoes"] is not None:
        yield f"undoes {entry['undoes']}"
    if entry["undone_by"] is not None:
        yield f"undone by {entry['undone_by']}"


def _print_graph(console: "Console", found: dict[str, Any]) -> None:
    names = {node["id"]: inline(node["full_name"]) for node in found["nodes"]}
    rows = [
        (names[edge["source"]], "→", names[edge["target"]], inline(f"{edge['file']}:{edge['line']}"))
        for edge in found["edges"]
        if edge["target"] is not None
    ]
    print_rows(console, rows)
    for edge in found["broken"]:
        place = f"{names[edge['source']]} {edge['file']}:{edge['line']}"
        meant = "/".join(part for part in (edge["name"], edge["path"]) if part)
        trouble = f"  {inline(meant)}: {edge['trouble'].replace('-', ' ')}"
        console.print(styled(("✗ ", BAD), inline(place), (trouble, FAINT)), soft_wrap=True)
    for cycle in found["cycles"]:
        console.print(styled(("↻ ", "yellow"), " ↔ ".join(names[key] for key in cycle)), soft_wrap=True)
    said = f"{count(len(names), 'skill')}, {count(len(rows), 'reference')}, {len(found['broken']):,} broken"
    console.print(styled((said, FAINT)))


def _print_usage_report(console: "Console", found: dict[str, Any]) -> None:
    days = (f"  in {count(found['days'], 'day')}", FAINT)
    if found["often_failing"]:
        console.print(styled(("Often failing", "bold"), days))
        rows = [
            (f"  {inline(skill['full_name'])}", f"{skill['failed']} failed", f"{skill['succeeded']} succeeded")
            for skill in found["often_failing"]
        ]
        print_rows(console, rows)
    if found["never_used"]:
        console.print(styled(("Never used", "bold"), days))
        print_rows(console, [(f"  {inline(skill['full_name'])}",) for skill in found["never_used"]])
    if not found["often_failing"] and not found["never_used"]:
        console.print("Every skill is used, and none fails often.")


def _print_usage_days(console: "Console", days: Sequence[dict[str, Any]]) -> None:
    print_rows(
        console,
        [(one["day"], one["event"], f"{one['count']:>6,}", one["version"], inline(one["agent"])) for one in days],
    )
