"""`skillyard skill diff` and `skillyard skill unpack`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from skillyard.app.loading import load_bundle
from skillyard.app.packing import unpack_file
from skillyard.app.reading import file_list
from skillyard.cli.output import Answer
from skillyard.cli.text import count, styled
from skillyard.skill.diff import BundleDiff, diff_bundles

if TYPE_CHECKING:
    from rich.console import Console

_LINE_STYLES: Final = {"+": "green", "-": "red", "@": "cyan", "d": "bold", "B": "yellow", "N": "yellow"}


def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="A skill folder or an archive.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="A skill folder or an archive.")],
) -> Answer:
    """What differs between two skills, file by file.

    Exit code 1 when they differ.
    """
    found = diff_bundles(load_bundle(old)[1], load_bundle(new)[1])
    return Answer(
        document={"same": not found, **found.as_dict()},
        text=lambda console: print_diff(console, found),
        exit_code=1 if found else 0,
    )


def unpack(
    archive: Annotated[Path, typer.Argument(metavar="FILE", help="A .skill, .zip or .tar.gz file.")],
    *,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Where the skill's folder is made.")
    ] = Path(),
) -> Answer:
    """Unpack a .skill, .zip or .tar.gz into a folder."""
    folder, bundle = unpack_file(archive, output)
    return Answer(
        document={"path": str(folder), "digest": bundle.digest, "files": file_list(bundle)},
        text=lambda console: console.print(f"{folder}  {count(len(bundle), 'file')}", soft_wrap=True),
    )


def print_diff(console: "Console", found: BundleDiff) -> None:
    """A diff in the colours that people know."""
    for line in found.unified().splitlines():
        console.print(styled((line, _LINE_STYLES.get(line[:1], ""))), soft_wrap=True)
