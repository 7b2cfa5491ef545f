"""`skillyard validate`."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skillyard.app.loading import require_there, skill_folder
from skillyard.app.validation import Report, search_tree, summary_of, validate_found, validate_path
from skillyard.cli.output import Answer, Sink, sink_of
from skillyard.cli.safe_text import inline
from skillyard.cli.text import BAD, FAINT, GOOD, MAX_SHOWN, count, findings_text, print_more, styled
from skillyard.skill.models import Profile

if TYPE_CHECKING:
    from rich.console import Console


def validate(
    context: typer.Context,
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", help="Skill folders, SKILL.md files or archives.")],
    *,
    recursive: Annotated[
        bool, typer.Option("--recursive", "-r", help="Check every SKILL.md in the folders below.")
    ] = False,
    profile: Annotated[
        Profile,
        typer.Option(
            metavar="lenient|agents|strict",
            help="What loaders accept, what agents document, or only what the specification allows.",
        ),
    ] = Profile.AGENTS,
    references: Annotated[
        bool | None,
        typer.Option(help="Also report broken references (the default without -r)."),
    ] = None,
) -> Answer:
    """Check skills against the specification and what agents document.

    Exit code 1 when any of them is invalid or none is found; of several paths, a missing one counts as invalid.
    """
    if len(paths) == 1:
        require_there(paths[0])
    reports = list(_reports(sink_of(context), paths, profile, recursive=recursive, references=references))
    summary = summary_of(reports)
    return Answer(
        document={"results": [report.as_dict() for report in reports], "summary": summary},
        text=lambda console: _print(console, reports, summary, brief=recursive),
        exit_code=1 if summary["invalid"] or not reports else 0,
        remarks=[] if reports else [f"There is no SKILL.md in {', '.join(map(str, paths))}."],
    )


def _reports(
    sink: Sink, paths: Sequence[Path], profile: Profile, *, recursive: bool, references: bool | None
) -> Iterator[Report]:
    for path in paths:
        if recursive and os.path.isdir(path):  # noqa: PTH112 -- never raises
            found = search_tree(path)
            for file in sink.track(found.files, total=len(found.files), label="Checking"):
                yield validate_found(file, profile, references=bool(references))
            yield from found.unreadable
        else:
            yield validate_path(path, profile, references=references is not False)


def _folder_of(path: Path) -> str:
    """The folder that the places of a report are in; empty for an archive."""
    return str(skill_folder(path) or (path.parent if path.suffix.casefold() == ".md" else "")).rstrip("/")


def _print(console: "Console", reports: Sequence[Report], summary: dict[str, int], *, brief: bool) -> None:
    told = [report for report in reports if not brief or report.findings]
    shown = told if len(told) <= MAX_SHOWN else sorted(told, key=lambda report: report.valid)[:MAX_SHOWN]
    for report in shown:
        mark = styled(("✓ ", GOOD)) if report.valid else styled(("✗ ", BAD))
        title = styled(mark, (inline(report.id or report.name), "bold"), "  ", (inline(report.path), FAINT), "\n")
        # Of one skill the title says where it is; among several, each place is a path to open.
        folder = _folder_of(Path(report.path)) if brief or len(reports) > 1 else ""
        console.print(title + findings_text(report.findings, console=console, folder=folder), end="", soft_wrap=True)
    print_more(console, len(told), "skill")
    total = count(summary["checked"], "skill")
    console.print(f"{total} checked: {summary['valid']:,} valid, {summary['invalid']:,} invalid.", soft_wrap=True)
