"""`skillyard skill scan` and `skillyard skill references`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skillyard.app.inspection import Pointing, Scanned, references_of, scan_skill
from skillyard.app.libraries import open_library
from skillyard.app.loading import require_there
from skillyard.cli.output import Answer, sink_of
from skillyard.cli.safe_text import inline
from skillyard.cli.text import BAD, FAINT, GOOD, count, findings_text, print_rows, styled
from skillyard.config.load import load_settings

if TYPE_CHECKING:
    from rich.console import Console


def scan(
    context: typer.Context,
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", help="Skill folders or archives.")],
) -> Answer:
    """Look for anything in skills that could do harm.

    Every byte of every file is checked. Exit code 1 when something serious is found, or when a skill cannot be
    read. A harmless skill may have findings as well: read them.
    """
    if len(paths) == 1:
        require_there(paths[0])
    scanned = [scan_skill(path) for path in sink_of(context).track(paths, total=len(paths), label="Scanning")]

    def text(console: "Console") -> None:
        for item in scanned:
            _print_scanned(console, item)

    return Answer(
        document={"results": [item.as_dict() for item in scanned]},
        text=text,
        exit_code=1 if any(item.is_serious for item in scanned) else 0,
    )


def references(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A skill folder or an archive.")],
) -> Answer:
    """List what a skill points at, and what is broken.

    Exit code 1 when a reference is broken.
    """
    pointing = references_of(path, open_library(load_settings()))
    return Answer(
        document=pointing.as_dict(),
        text=lambda console: _print_pointing(console, pointing),
        exit_code=1 if pointing.findings else 0,
    )


def _print_pointing(console: "Console", pointing: Pointing) -> None:
    print_rows(
        console,
        [
            (
                f"{reference.source_file}:{reference.line}",
                styled((reference.kind.value, FAINT)),
                f"{reference.target_skill}: {reference.target_path}" if reference.external else reference.target_path,
            )
            for reference in pointing.references
        ],
        cut=False,
    )
    console.print(findings_text(pointing.findings, indent="", console=console), end="", soft_wrap=True)
    broken = len(pointing.findings)
    console.print(f"{count(len(pointing.references), 'reference')}, {broken:,} broken.", soft_wrap=True)


def _print_scanned(console: "Console", item: Scanned) -> None:
    mark = styled(("✗ ", BAD)) if item.is_serious else styled(("✓ ", GOOD))
    title = styled(
        mark, (inline(item.id), "bold"), "  ", (inline(item.path), FAINT), f"  {count(item.files, 'file')}\n"
    )
    console.print(title + findings_text(item.findings, console=console), end="", soft_wrap=True)
