"""`skillyard skill triggers`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from skillyard.app.catalogs import surfacing
from skillyard.app.libraries import open_library
from skillyard.app.searching import open_search
from skillyard.cli.options import Environment, Roots
from skillyard.cli.output import Answer, sink_of
from skillyard.cli.safe_text import inline, one_line
from skillyard.cli.text import BAD, FAINT, GOOD, MAX_SHOWN, count, findings_text, print_more, print_rows, styled
from skillyard.config.load import load_settings
from skillyard.errors import NotFoundError, UnavailableError
from skillyard.search.catalog import BUDGET, check_budget
from skillyard.search.index import MAX_HITS
from skillyard.search.trigger_file import read_triggers
from skillyard.search.triggers import TOP, Judged, Outcome, TriggerReport, judge, resolve

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_NAME: Final = 24
_WIDE_NAME: Final = 36
"""Cells of a name in tables of several and of two columns, so that a line fits into eighty."""


def triggers(
    context: typer.Context,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Prompts: JSON lines, a JSON list, an evals.json, or CSV.")
    ],
    *,
    skill: Annotated[
        str, typer.Option("--skill", metavar="NAME", help="The skill to expect if the file names none.")
    ] = "",
    top: Annotated[
        int, typer.Option("--top", metavar="NUMBER", min=1, max=MAX_HITS, help="How many hits count as found.")
    ] = TOP,
    budget: Annotated[
        int, typer.Option("--budget", "-b", metavar="NUMBER", help="The size of the catalog in characters.")
    ] = BUDGET,
    min_share: Annotated[
        float,
        typer.Option("--min-share", metavar="SHARE", min=0, max=1, help="Enough if this share of expectations holds."),
    ] = 1.0,
    show_all: Annotated[bool, typer.Option("--all", help="Also prompts whose expectations hold.")] = False,
    root: Roots = None,
    env: Environment = None,
) -> Answer:
    """Check which skills your prompts bring up.

    Each prompt is searched for and given a catalog, without any model. A skill that should be found must be among the
    first hits; one that should not must not come first. Exit code 1 when an expectation fails or a line cannot be used.
    """
    check_budget(budget)
    settings = load_settings()
    sink = sink_of(context)
    with sink.busy("Reading the skills"):
        library = open_library(settings, roots=root or (), environment=env)
        read = read_triggers(_read(file), file=str(file), skill=skill)
        asked = resolve(read, library.catalog(), file=str(file))
        search = open_search(settings, library, roots=root or (), environment=env)
        surface = surfacing(search, budget=budget)
    judged = tuple(
        judge(prompt, surface(prompt.text), top=top)
        for prompt in sink.track(asked.prompts, total=len(asked.prompts), label="Searching")
    )
    report = TriggerReport(prompts=judged, findings=asked.findings, top=top)
    good = not report.findings and bool(judged) and report.share >= min_share
    return Answer(
        document=report.as_dict(),
        text=lambda console: _print_report(console, report, show_all=show_all),
        exit_code=0 if good else 1,
    )


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        raise NotFoundError(
            f"There is no file {str(file)!r}.", hint="Give a file of prompts.", details={"file": str(file)}
        ) from None
    except OSError as error:
        raise UnavailableError(
            f"{str(file)!r} cannot be read: {error.strerror}.", details={"file": str(file)}
        ) from None


def _print_report(console: "Console", report: TriggerReport, *, show_all: bool) -> None:
    console.print(findings_text(report.findings[:MAX_SHOWN], console=console), end="", soft_wrap=True)
    print_more(console, len(report.findings), "finding")
    told = [judged for judged in report.prompts if show_all or not judged.held]
    for judged in told[:MAX_SHOWN]:
        _print_prompt(console, judged)
    print_more(console, len(told), "prompt")
    if not report.prompts:
        console.print("There is no prompt in this file that could be tried.")
        return
    _print_scores(console, report)
    _print_confusions(console, report)
    outcomes = report.outcomes
    held = sum(outcome.held for outcome in outcomes)
    style = GOOD if held == len(outcomes) else BAD
    summary = f"{held:,} of {count(len(outcomes), 'expectation')} hold ({report.share:.0%})"
    console.print(styled("\n", (summary, style), f" in {count(len(report.prompts), 'prompt')}."))


def _print_prompt(console: "Console", judged: Judged) -> None:
    line = (f"line {judged.prompt.line}  ", FAINT)
    _print_line(console, _mark(held=judged.held) + styled(line, one_line(judged.prompt.text)))
    for outcome in judged.outcomes:
        row = styled("    ") + _mark(held=outcome.held) + _cut(outcome.skill or "(nothing)", _WIDE_NAME)
        row.pad_right(max(_WIDE_NAME + 8 - row.cell_len, 2))
        _print_line(console, row + styled(_said(outcome)))
    found = ", ".join(map(inline, judged.top)) or "nothing"
    _print_line(console, styled((f"    found: {found}", FAINT)))


def _print_line(console: "Console", line: "Text") -> None:
    if console.is_terminal:
        line.truncate(console.width, overflow="ellipsis")
    console.print(line, soft_wrap=True)


def _mark(*, held: bool) -> "Text":
    return styled(("✓ ", GOOD) if held else ("✗ ", BAD))


def _said(outcome: Outcome) -> str:
    if not outcome.skill:
        return "no skill should be found"
    place = "not found" if outcome.rank is None else f"place {outcome.rank}"
    if not outcome.should:
        return f"{place}, should not come first"
    return f"{place}, {outcome.shown.value} in the catalog" if outcome.shown else f"{place}, not in the catalog"


def _print_scores(console: "Console", report: TriggerReport) -> None:
    head = ("skill", "should", "not", "hit@1", "hit@5", "recall", "precision")
    rows: list[tuple[str | Text, ...]] = [tuple(styled((cell, "bold")) for cell in head)]
    for score in report.skills[:MAX_SHOWN]:
        told = score.as_dict()
        rates = (told[key] for key in ("hit_at_1", "hit_at_5", "recall", "precision"))
        rows.append((_cut(score.skill), str(score.should), str(score.should_not), *map(_percent, rates)))
    console.print()
    print_rows(console, rows)
    print_more(console, len(report.skills), "skill")


def _print_confusions(console: "Console", report: TriggerReport) -> None:
    confusions = report.confusions
    if not confusions:
        return
    head = tuple(styled((cell, "bold")) for cell in ("expected", "came first instead", "prompts"))
    rows = [(_cut(each.expected), _cut(each.instead or "(nothing)"), str(each.count)) for each in confusions]
    console.print()
    print_rows(console, [head, *rows[:MAX_SHOWN]])
    print_more(console, len(confusions), "pair")


def _cut(name: str, width: int = _NAME) -> "Text":
    text = styled(inline(name))
    text.truncate(width, overflow="ellipsis")
    return text


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"
