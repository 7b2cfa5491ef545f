"""`skillyard registry similar`."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from skillyard.app.yard_similarity import report_on_yard
from skillyard.cli.options import Token
from skillyard.cli.output import Answer, sink_of
from skillyard.cli.safe_text import inline
from skillyard.cli.similar import Threshold, differs_cell, likeness_cells, print_report
from skillyard.cli.text import print_rows, styled
from skillyard.cli.yard import Server, yard_client
from skillyard.search.similar import NEAR, Kind, Likeness

if TYPE_CHECKING:
    from rich.text import Text


def similar(
    context: typer.Context,
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="namespace/name, or its name alone; default: all.")
    ] = None,
    *,
    threshold: Threshold = NEAR,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Find copies and variants of skills in the yard.

    And different skills of one name; only what you can see is compared. With a name, what is like that one;
    exit code 1 when nothing is.
    """
    with yard_client(server, token) as client:
        if name is None:
            with sink_of(context).busy("Comparing"):
                report = report_on_yard(client, threshold=threshold)
            return Answer(document=report.as_dict(), text=lambda console: print_report(console, report))
        found = client.similar(name, threshold=threshold)
    return Answer(
        document=found,
        text=lambda console: print_rows(console, [_row(item) for item in found["similar"]], cut=False),
        exit_code=0 if found["similar"] else 1,
        remarks=[] if found["similar"] else [f"Nothing that you can see is like {name!r}."],
    )


def _row(item: dict[str, Any]) -> "tuple[str | Text, ...]":
    likeness = Likeness(item["id"], Kind(item["kind"]), item["similarity"], tuple(item["differs"]))
    return (*likeness_cells(likeness), styled((inline(item["full_name"]), "bold")), differs_cell(likeness.differs))
