"""`skillyard learn watch`."""

from typing import Annotated

import typer

from skillyard.cli.learn_text import counts_text
from skillyard.cli.learn_watching import follow
from skillyard.cli.options import Token
from skillyard.cli.output import Answer, sink_of
from skillyard.cli.yard import Server, yard_client


def watch(
    context: typer.Context,
    feedback: Annotated[
        list[str] | None, typer.Argument(metavar="FEEDBACK", help="Only these; default: all that are being worked on.")
    ] = None,
    *,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Follow learning until all work is done.

    Without a server the work is done here. Exit code 1 when learning from something failed.
    """
    with yard_client(server, token) as client:
        client.learning.work()
        over = follow(sink_of(context), client.learning, feedback or None)
    return Answer(
        document={"feedback": list(over.rested), "counts": over.counts},
        text=lambda console: console.print(counts_text(over.counts), soft_wrap=True),
        exit_code=1 if over.failed else 0,
        remarks=[*([] if over.rested else ["Nothing is being worked on."]), *over.remarks],
    )
