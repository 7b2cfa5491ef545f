"""`skillyard skill restore`."""

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from skillyard.cli.output import Answer
from skillyard.cli.safe_text import one_line
from skillyard.cli.text import FAINT, print_rows
from skillyard.command_text import command_text
from skillyard.config.load import load_settings
from skillyard.delivery import restore_item
from skillyard.delivery.trash import BrokenItem, Trash, TrashItem


def restore(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A skill's id (the latest one), or its name in the trash.")
    ] = "",
) -> Answer:
    """Put a removed or replaced skill back.

    Its links and its entry in the lock come back as well. The current skill changes places with it and goes to the
    trash. Without a name, lists the trash, newest first.
    """
    trash = Trash(load_settings().home)
    if not name:
        return _listing(trash.items())
    restored = restore_item(trash.find(name).name, home=trash.folder.parent)
    item, replaced = restored.item, restored.replaced

    def text(console: Console) -> None:
        console.print(f"{one_line(str(item.path))} is back.", soft_wrap=True)
        if replaced:
            print_undo(console, replaced)

    return Answer(
        document={"name": item.name, "path": str(item.path), "replaced": replaced.name if replaced else None}, text=text
    )


def print_undo(console: Console, item: TrashItem) -> None:
    """The command that brings this back."""
    console.print(Text(f"undo: {command_text('skill restore', item.name)}", FAINT), soft_wrap=True)


def _listing(items: Sequence[TrashItem | BrokenItem]) -> Answer:
    return Answer(
        document={"trash": [_row(item) for item in items]},
        text=lambda console: print_rows(
            console,
            [(row["name"], row["path"] or f"broken: {row['problem']}") for row in map(_row, items)],
            cut=False,
        ),
        remarks=() if items else ("The trash is empty.",),
    )


def _row(item: TrashItem | BrokenItem) -> dict[str, str]:
    if isinstance(item, BrokenItem):
        return {"name": item.name, "path": "", "problem": f"{item.problem.message} {item.problem.hint}"}
    return {"name": item.name, "path": str(item.path), "problem": ""}
