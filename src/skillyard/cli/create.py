"""`skillyard init` and `skillyard pack`."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skillyard.app.packing import pack_folder
from skillyard.cli.options import DryRun
from skillyard.cli.output import Answer
from skillyard.cli.text import count, print_rows
from skillyard.library.disk import write_folder
from skillyard.skill.scaffold import PARTS, scaffold

if TYPE_CHECKING:
    from rich.console import Console


def init(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Lower-case letters, digits and hyphens.")],
    *,
    path: Annotated[Path, typer.Option("--path", metavar="DIR", help="Where its folder is made.")] = Path(),
    with_: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="PARTS", help=f"Parts to start with: {','.join(PARTS)}; repeatable."),
    ] = None,
    description: Annotated[
        str, typer.Option("--description", "-d", metavar="TEXT", help="What it does and when to use it.")
    ] = "",
    dry_run: DryRun = False,
) -> Answer:
    """Start a new skill."""
    parts = [part.strip() for text in with_ or () for part in text.split(",") if part.strip()]
    bundle = scaffold(name, description=description, with_=parts)
    folder = path / name
    if not dry_run:
        write_folder(bundle, folder)
    files = [str(folder / file.path) for file in bundle]

    def text(console: "Console") -> None:
        for file in files:
            console.print(file, soft_wrap=True)

    return Answer(document={"path": str(folder), "files": files, "dry_run": dry_run}, text=text)


def pack(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The skill's folder.")],
    *,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="The file to write; with / at the end, the folder for it."),
    ] = None,
    slim: Annotated[bool, typer.Option("--slim", help="Leave evals/ out.")] = False,
) -> Answer:
    """Pack a skill into one .skill file.

    It is checked first. The same content always gives the same bytes.
    """
    packed = pack_folder(folder, output, slim=slim)

    def text(console: "Console") -> None:
        console.print(f"{packed.file}  {count(packed.files, 'file')}, {packed.bytes:,} bytes", soft_wrap=True)
        print_rows(console, [("content", packed.digest), ("file", f"sha256:{packed.sha256}")], cut=False)

    return Answer(document={**asdict(packed), "file": str(packed.file)}, text=text)
