"""`skillyard skill similar`, and how what is similar is shown."""

import os
from typing import TYPE_CHECKING, Annotated, Final

import typer

from skillyard.app.libraries import open_library
from skillyard.app.similarity import ADVICE, Found, Matches, Report, report_on, similar_to
from skillyard.cli.options import Environment, Roots
from skillyard.cli.output import Answer, sink_of
from skillyard.cli.safe_text import inline
from skillyard.cli.text import FAINT, MAX_SHOWN, count, print_more, print_rows, styled
from skillyard.config.load import load_settings
from skillyard.search.similar import NEAR, Kind, Likeness

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console
    from rich.text import Text

    from skillyard.skill.library import SkillEntry

Threshold = Annotated[
    float,
    typer.Option(
        "--threshold", metavar="SHARE", help="Share of common text from which skills count as near, 0.5 to 1."
    ),
]
_STYLES: Final = {Kind.EXACT: "bold red", Kind.NEAR: "yellow", Kind.SAME_NAME: "cyan", Kind.TEMPLATE: FAINT}
_TITLES: Final = {
    Kind.EXACT: "copies",
    Kind.NEAR: "variants",
    Kind.SAME_NAME: "one name",
    Kind.TEMPLATE: "one template",
}
_MOST_MEMBERS: Final = 12


def similar(
    context: typer.Context,
    skill: Annotated[
        str | None, typer.Argument(metavar="SKILL", help="Its id or name, or any path; default: all.")
    ] = None,
    *,
    threshold: Threshold = NEAR,
    root: Roots = None,
    env: Environment = None,
) -> Answer:
    """Find copies and variants of skills, and namesakes.

    No model is asked: texts are compared by the phrases they share. With a skill, what is like that one; exit
    code 1 when nothing is.
    """
    library = open_library(load_settings(), roots=root or (), environment=env)
    sink = sink_of(context)

    def track(entries: "Sequence[SkillEntry]") -> "Iterable[SkillEntry]":
        return sink.track(entries, total=len(entries), label="Reading")

    if skill is not None:
        return _matches(similar_to(library, skill, threshold=threshold, track=track))
    report = report_on(library, threshold=threshold, track=track)
    return Answer(document=report.as_dict(), text=lambda console: print_report(console, report))


def _matches(matches: Matches) -> Answer:
    rows = [
        (*likeness_cells(likeness), *_named(entry), differs_cell(likeness.differs)) for entry, likeness in matches.found
    ]
    commands = [line for entry, likeness in matches.found[:1] for line in matches.commands(entry, likeness)]
    compared = count(matches.compared, "skill")
    return Answer(
        document=matches.as_dict(),
        text=lambda console: print_rows(console, rows, cut=False),
        exit_code=0 if rows else 1,
        remarks=[f"Next: {line}" for line in commands] if rows else [f"None of {compared} is like it."],
    )


def print_report(console: "Console", report: Report) -> None:
    for found in report.found[:MAX_SHOWN]:
        _print_group(console, report, found)
    print_more(console, len(report.found), "group")
    told = ", ".join(f"{_TITLES[kind]} {number:,}" for kind, number in report.summary.items() if number)
    unread = f" {count(report.unread, 'skill')} could not be read." if report.unread else ""
    console.print(f"{count(len(report.skills), 'skill')} compared: {told or 'none is like another'}.{unread}")


def _print_group(console: "Console", report: Report, found: Found) -> None:
    group, commands = found
    members = len(group.others) + 1
    kind = styled((_TITLES[group.kind], _STYLES[group.kind]))
    console.print(styled(kind, f"  {count(members, 'skill')}  ", (ADVICE[group.kind], FAINT)), soft_wrap=True)
    rows = [
        ("  ", *_named(report.skills[group.first]), ""),
        *(
            (f"  {_share(other)}", *_named(report.skills[other.key]), differs_cell(other.differs))
            for other in group.others[: _MOST_MEMBERS - 1]
        ),
    ]
    print_rows(console, rows, cut=False)
    if members > _MOST_MEMBERS:
        console.print(styled((f"  … and {members - _MOST_MEMBERS:,} more; --json shows all.", FAINT)))
    for command in commands[:_MOST_MEMBERS]:
        console.print(styled(f"  {inline(command)}"), soft_wrap=True)
    console.print()


def _named(entry: "SkillEntry") -> "tuple[Text, str]":
    folder = os.path.dirname(entry.location)  # noqa: PTH120 -- locations are texts
    return styled((inline(entry.id), "bold")), folder


def likeness_cells(likeness: Likeness) -> "tuple[Text, str]":
    return styled((_TITLES[likeness.kind], _STYLES[likeness.kind])), _share(likeness)


def _share(likeness: Likeness) -> str:
    return f"{likeness.similarity:.0%}"


def differs_cell(parts: "Sequence[str]") -> "Text":
    return styled((f"differs in {', '.join(parts)}" if parts else "", FAINT))
