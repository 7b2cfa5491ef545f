"""`skillyard skill scan` and `skillyard skill references`."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skillyard.app.inspection import Pointing, Scanned, not_scanned, references_of, scan_skill
from skillyard.app.libraries import open_library
from skillyard.app.loading import require_there
from skillyard.app.validation import search_tree
from skillyard.cli.output import Answer, Sink, sink_of
from skillyard.cli.safe_text import inline
from skillyard.cli.text import BAD, FAINT, GOOD, MAX_SHOWN, count, findings_text, print_more, print_rows, styled
from skillyard.config.load import load_settings

if TYPE_CHECKING:
    from rich.console import Console


def scan(
    context: typer.Context,
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", help="Skill folders or archives.")],
    *,
    recursive: Annotated[bool, typer.Option("--recursive", "-r", help="All skills in the folders below.")] = False,
) -> Answer:
    """Look for anything in skills that could do harm.

    Every byte of every file is checked. Exit code 1 when something serious is found, when a skill cannot be read, or
    when there is none. A harmless skill may have findings as well: read them.
    """
    if len(paths) == 1:
        require_there(paths[0])
    scanned = list(_scan_all(sink_of(context), paths, recursive=recursive))
    serious = sum(item.is_serious for item in scanned)
    summary = {"scanned": len(scanned), "serious": serious, "findings": sum(bool(item.findings) for item in scanned)}

    def text(console: "Console") -> None:
        shown = [item for item in scanned if item.findings] if recursive else scanned
        for item in sorted(shown, key=_gravest)[:MAX_SHOWN] if recursive else shown:
            _print_scanned(console, item)
        if recursive:
            print_more(console, len(shown), "skill")
            console.print(
                f"{count(len(scanned), 'skill')} scanned: {serious:,} with something serious, "
                f"{len(shown) - serious:,} with other findings, {len(scanned) - len(shown):,} without any.",
                soft_wrap=True,
            )

    return Answer(
        document={"results": [item.as_dict() for item in scanned], "summary": summary},
        text=text,
        exit_code=1 if serious or not scanned else 0,
        remarks=[] if scanned else [f"There is no SKILL.md in {', '.join(map(str, paths))}."],
    )


def _scan_all(sink: Sink, paths: Sequence[Path], *, recursive: bool) -> Iterator[Scanned]:
    if not recursive:
        yield from (scan_skill(path) for path in sink.track(paths, total=len(paths), label="Scanning"))
        return
    for path in paths:
        if os.path.isdir(path):  # noqa: PTH112 -- never raises
            found = search_tree(path)
            folders = dict.fromkeys(file.parent for file in found.files)
            yield from (scan_skill(folder) for folder in sink.track(folders, total=len(folders), label="Scanning"))
            yield from map(not_scanned, found.unreadable)
        else:
            yield scan_skill(path)


def _gravest(item: Scanned) -> tuple[int, str]:
    return min(finding.severity.rank for finding in item.findings), item.path


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
