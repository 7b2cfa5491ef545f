"""What the commands of `skillyard learn` share: their arguments, and values as people write them."""

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from skillyard.errors import LimitError, UsageError
from skillyard.library.regular import read_regular
from skillyard.skill.limits import MIB

FeedbackId = Annotated[str, typer.Argument(metavar="FEEDBACK", help="Its id, as `learn list` shows it.")]
LessonId = Annotated[str, typer.Argument(metavar="LESSON", help="Its id, as `learn show` shows it.")]
ProposalId = Annotated[str, typer.Argument(metavar="PROPOSAL", help="Its id, as `learn proposals` shows it.")]
MemoryId = Annotated[str, typer.Argument(metavar="MEMORY", help="Its id, as `learn memory` shows it.")]
RuleName = Annotated[str, typer.Argument(metavar="RULE", help="Its id or its name, as `learn rules` shows them.")]
SourceName = Annotated[str, typer.Argument(metavar="SOURCE", help="Its id or its name, as `learn sources` shows them.")]
OfAgent = Annotated[str | None, typer.Option("--agent", "-a", metavar="ID", help="Only for this agent; default: all.")]
ForAgent = Annotated[
    str | None, typer.Option("--agent", "-a", metavar="ID", help="For this agent alone; default: for all agents.")
]
Limit = Annotated[int, typer.Option("--limit", "-n", metavar="NUMBER", min=1, max=1000, help="Maximum number.")]

MAX_FILE: Final = 64 * MIB
Private = Annotated[bool, typer.Option("--private", help="Only the members of the namespace may read it.")]


def read_file(path: Path, *, limit: int = MAX_FILE) -> bytes:
    """The bytes of a file; `-` is stdin."""
    if str(path) != "-":
        return read_regular(str(path.resolve()), limit)
    data = sys.stdin.buffer.read(limit + 1)
    if len(data) > limit:
        raise LimitError(
            f"There are more than {limit:,} bytes on stdin.", hint="Split them.", details={"value": "-", "limit": limit}
        )
    return data


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
