"""What the commands of `skillyard learn` share: their arguments, and values as people write them."""

import sys
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from skillyard.cli.sandbox_options import seconds
from skillyard.clock import utc_now
from skillyard.errors import UsageError
from skillyard.library.regular import read_regular
from skillyard.skill.limits import MIB

FeedbackId = Annotated[str, typer.Argument(metavar="FEEDBACK", help="Its id, as `learn list` shows it.")]
LessonId = Annotated[str, typer.Argument(metavar="LESSON", help="Its id, as `learn show` tells it.")]
ProposalId = Annotated[str, typer.Argument(metavar="PROPOSAL", help="Its id, as `learn proposals` shows it.")]
MemoryId = Annotated[str, typer.Argument(metavar="MEMORY", help="Its id, as `learn memory` shows it.")]
RuleName = Annotated[str, typer.Argument(metavar="RULE", help="Its id or its name, as `learn rules` shows them.")]
SourceName = Annotated[str, typer.Argument(metavar="SOURCE", help="Its id or its name, as `learn sources` shows them.")]
OfAgent = Annotated[
    str | None, typer.Option("--agent", "-a", metavar="ID", help="What this agent goes by; without it, everything.")
]
ForAgent = Annotated[
    str | None, typer.Option("--agent", "-a", metavar="ID", help="For this agent alone; without it, for every one.")
]
Limit = Annotated[int, typer.Option("--limit", "-n", metavar="NUMBER", min=1, max=1000, help="At most so many.")]

MAX_FILE: Final = 64 * MIB


def read_file(path: Path, *, limit: int = MAX_FILE) -> bytes:
    """The bytes of a file; `-` is stdin."""
    return sys.stdin.buffer.read(limit + 1) if str(path) == "-" else read_regular(str(path.resolve()), limit)


def until(text: str | None, option: str) -> str | None:
    """A moment to come: a date, a date with a time, or how long from now (`30d`)."""
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text).astimezone(UTC).isoformat()
    except ValueError:
        pass
    try:
        left = seconds(text, option)
    except UsageError:
        raise UsageError(
            f"{option} takes a date such as 2027-01-31, or a time such as 12h or 30d, not {text!r}.",
            details={"field": option, "value": text},
        ) from None
    return (utc_now() + timedelta(seconds=left or 0)).isoformat()


def pairs(given: Iterable[str], option: str, example: str) -> dict[str, str]:
    """Options of the form `NAME=VALUE`."""
    found: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise UsageError(
                f"{option} {text!r} is not of the form NAME=VALUE.",
                hint=f"Write it as {option} {example}.",
                details={"field": option, "value": text},
            )
        found[name] = value
    return found


def known_fields(**fields: Any) -> dict[str, Any]:  # noqa: ANN401 -- any JSON
    """Those that were given."""
    return {name: value for name, value in fields.items() if value is not None}


def named(things: Iterable[Mapping[str, Any]], wanted: str, what: str) -> Mapping[str, Any] | None:
    """The one with this id or name; two of the name are a mistake to be told."""
    found = [one for one in things if wanted in (one["id"], one["name"])]
    if len(found) > 1:
        raise UsageError(
            f"{len(found)} {what}s are called {wanted!r}.",
            hint=f"Name one by its id: {', '.join(one['id'] for one in found)}.",
            details={"field": what, "value": wanted},
        )
    return found[0] if found else None
