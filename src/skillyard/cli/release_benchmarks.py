"""`skillyard release benchmarks` and `payload`: what candidates are tried with, and made of."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skillyard.cli.options import Token, Yes
from skillyard.cli.output import Answer, sink_of
from skillyard.cli.release_options import json_file
from skillyard.cli.release_text import print_payload, print_table, when
from skillyard.cli.safe_text import inline, visible
from skillyard.cli.text import FAINT, count, styled
from skillyard.cli.yard import Server, yard_client
from skillyard.command_text import command_text
from skillyard.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

BenchmarkName = Annotated[str, typer.Argument(metavar="NAME", help="The benchmark.")]


def list_benchmarks(*, server: Server = None, token: Token = None) -> Answer:
    """List the benchmarks."""
    with yard_client(server, token) as client:
        found = client.releases.benchmarks()
    rows = [
        (
            styled((inline(one["name"]), "bold")),
            count(len(one["cases"]), "case"),
            styled((when(one.get("updated_at")), FAINT)),
        )
        for one in found["items"]
    ]
    return Answer(
        document=found,
        text=lambda console: print_table(console, rows),
        remarks=[] if rows else ["There are none. Make one: skillyard release benchmarks save NAME FILE"],
    )


def show_benchmark(name: BenchmarkName, *, server: Server = None, token: Token = None) -> Answer:
    """Show the cases of a benchmark.

    As JSON that `save` takes.
    """
    with yard_client(server, token) as client:
        one = client.releases.benchmark(name)
    return Answer(document=one, text=lambda console: _print_json(console, {"cases": one["cases"]}))


def save_benchmark(
    name: BenchmarkName,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="JSON: {cases: [{variables, checks}]}; - is stdin.")],
    *,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Save a benchmark.

    It is a set of values and checks to replay any candidate with. One with that name is replaced.
    """
    cases = json_file(file, "FILE").get("cases")
    if not isinstance(cases, list):
        raise UsageError(
            f"{file} has no list of cases.",
            hint='Write it as {"cases": [{"variables": {"customer": "Ada"}, "checks": []}]}.',
            details={"field": "cases"},
        )
    with yard_client(server, token) as client:
        saved = client.releases.save_benchmark(name, cases)  # pyright: ignore[reportUnknownArgumentType] -- JSON
    said = f"{inline(name)}: {count(len(saved['cases']), 'case')}."
    return Answer(
        document=saved,
        text=lambda console: console.print(said, soft_wrap=True),
        remarks=[f"Use it: {command_text('release replay', 'CANDIDATE', options=['--benchmark', name])}"],
    )


def delete_benchmark(
    context: typer.Context, name: BenchmarkName, *, yes: Yes = False, server: Server = None, token: Token = None
) -> Answer:
    """Delete a benchmark."""
    with yard_client(server, token) as client:
        known = client.releases.benchmark(name)
        sink_of(context).confirm(f"Delete the benchmark {name} ({count(len(known['cases']), 'case')})?", yes=yes)
        client.releases.delete_benchmark(name)
    return Answer(
        document={"deleted": name}, text=lambda console: console.print(f"Deleted {inline(name)}.", soft_wrap=True)
    )


def get_payload(
    reference: Annotated[str, typer.Argument(metavar="REF", help="Such as blob:blob-0123456789ab.")],
    *,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Read a payload.

    On a terminal its variables and steps, otherwise its JSON.
    """
    with yard_client(server, token) as client:
        one = client.releases.payloads.get(reference)

    def text(console: "Console") -> None:
        if console.is_terminal and isinstance(one["payload"], dict):
            print_payload(console, one["payload"])
        else:
            _print_json(console, one["payload"])

    return Answer(document=one, text=text)


def put_payload(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="JSON: {kind, variables, steps}; - is stdin.")],
    *,
    kind: Annotated[
        str | None,
        typer.Option("--kind", metavar="KIND", help="browser, code, hybrid_sequence or your own; default: its kind."),
    ] = None,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Store a payload.

    It is checked, and its reference is printed.
    """
    document = dict(json_file(file, "FILE"))
    with yard_client(server, token) as client:
        made = client.releases.payloads.create(document, kind=kind or str(document.get("kind", "generic")))
    return Answer(document=made, text=lambda console: console.print(made["payload_ref"], soft_wrap=True))


def _print_json(console: "Console", document: Any) -> None:  # noqa: ANN401 -- any JSON
    text = json.dumps(document, ensure_ascii=False, indent=2)
    sys.stdout.write((visible(text) if console.is_terminal else text) + "\n")
