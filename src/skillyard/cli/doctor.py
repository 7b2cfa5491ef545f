"""`skillyard doctor`."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Final

import typer

from skillyard.app.checks import Status
from skillyard.cli.output import Answer, sink_of
from skillyard.cli.safe_text import inline
from skillyard.cli.text import BAD, FAINT, GOOD, hanging, styled

if TYPE_CHECKING:
    from rich.console import Console

_MARKS: Final = {
    Status.OK: ("✓", GOOD),
    Status.NOTE: ("·", FAINT),
    Status.WARNING: ("!", "yellow"),
    Status.FAILED: ("✗", BAD),
}
_INDENT: Final = " " * 16


def doctor(
    context: typer.Context,
    *,
    deep: Annotated[bool, typer.Option("--deep", help="Read everything that the yard keeps, not a sample.")] = False,
) -> Answer:
    """Check this machine and the setup.

    Exit code 1 when something does not work; every finding comes with its fix.
    """
    from skillyard.app.doctor import examine  # noqa: PLC0415 -- `--help` needs no database

    def track(names: Sequence[str]) -> Iterable[str]:
        return sink_of(context).track(names, total=len(names), label="Reading every file")

    checks = list(examine(track if deep else None))
    healthy = all(check.status is not Status.FAILED for check in checks)

    def text(console: "Console") -> None:
        for check in checks:
            line = styled(_MARKS[check.status], f" {check.name:<13} ", hanging(console, inline(check.message), _INDENT))
            console.print(line, soft_wrap=True)
            if check.fix:
                console.print(styled((f"{_INDENT}fix: {inline(check.fix)}", GOOD)), soft_wrap=True)

    return Answer(
        document={"healthy": healthy, "checks": [check.as_dict() for check in checks]},
        text=text,
        exit_code=0 if healthy else 1,
    )
