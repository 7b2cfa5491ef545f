"""`skillyard skill restore`."""

from typing import Annotated

import typer
from rich.console import Console

from skillyard.cli.output import Answer
from skillyard.cli.text import print_rows
from skillyard.config.load import load_settings
from skillyard.delivery import restore as restore_item
from skillyard.delivery.trash import Trash


def restore(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A skill's id (the one last removed), or its name in the trash.")
    ] = "",
) -> Answer:
    """Put a removed skill back.

    Its links and its entry in the lock come back too. Without a name: what is in the trash, last in first.
    """
    trash = Trash(load_settings().home)
    if not name:
        items = trash.items()
        return Answer(
            document={"trash": [{"name": item.name, "path": str(item.path)} for item in items]},
            text=lambda console: print_rows(console, [(item.name, str(item.path)) for item in items]),
        )
    item = restore_item(trash.find(name).name, home=trash.folder.parent)

    def text(console: Console) -> None:
        console.print(f"{item.path} is back.", soft_wrap=True)

    return Answer(document={"name": item.name, "path": str(item.path)}, text=text)
