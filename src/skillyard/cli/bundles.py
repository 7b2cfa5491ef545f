"""`skillyard skill diff` and `skillyard skill unpack`."""

from pathlib import Path
from typing import Annotated

import typer

from skillyard.app.loading import load_bundle
from skillyard.app.packing import unpack_file
from skillyard.app.reading import file_list
from skillyard.cli.output import Answer
from skillyard.cli.text import count, print_unified
from skillyard.skill.diff import diff_bundles


def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="A skill folder or an archive.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="A skill folder or an archive.")],
) -> Answer:
    """Show what differs between two skills, file by file.

    Exit code 1 when they differ.
    """
    found = diff_bundles(load_bundle(old)[1], load_bundle(new)[1])
    return Answer(
        document={"same": not found, **found.as_dict()},
        text=lambda console: print_unified(console, found.unified()),
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
