"""`skillyard list` and `skillyard find`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skillyard.app.findings import findings_of, problem_as_dict
from skillyard.app.libraries import missing_environment, open_library
from skillyard.app.reading import disabled_in
from skillyard.app.searching import SkillSearch
from skillyard.cli.options import Environment, Roots
from skillyard.cli.output import Answer, sink_of
from skillyard.cli.safe_text import inline, one_line
from skillyard.cli.text import BAD, FAINT, MAX_SHOWN, count, findings_text, hanging, print_more, print_rows, styled
from skillyard.config.load import load_settings
from skillyard.library.switches import Disabled
from skillyard.skill.library import Catalog, Problem, Shadowed

if TYPE_CHECKING:
    from rich.console import Console


def list_skills(*, root: Roots = None, env: Environment = None) -> Answer:
    """The skills in reach from here.

    Those of the project, of the active environment and your own, and the ones built in; or only those of
    the folders or the environment named.
    """
    settings = load_settings()
    library = open_library(settings, roots=root or (), environment=env)
    catalog = library.catalog()
    disabled = list(disabled_in(library))
    remarks = [] if root or env else missing_environment(settings)
    if not catalog.entries:
        remarks.append("There are no skills here. `skillyard init NAME` starts one.")
    return Answer(
        document={
            "skills": [entry._asdict() for entry in catalog.entries],
            "problems": [problem_as_dict(problem) for problem in catalog.problems],
            "shadowed": [_shadowed(shadowed) for shadowed in catalog.shadowed],
            "disabled": [_disabled(item) for item in disabled],
        },
        text=lambda console: _print_catalog(console, catalog, disabled),
        remarks=remarks,
    )


def find(
    context: typer.Context,
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="What the skill should do.")],
    *,
    root: Roots = None,
    env: Environment = None,
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="NUMBER", min=1, help="At most so many.")] = 10,
) -> Answer:
    """Search skills by what they do.

    Exit code 1 when nothing fits.
    """
    wanted = " ".join(query)
    settings = load_settings()
    library = open_library(settings, roots=root or (), environment=env)
    with sink_of(context).busy("Searching"):
        matches = SkillSearch(library).search(wanted, limit=limit).best

    def text(console: "Console") -> None:
        rows = [(styled((m.entry.id, "bold")), f"{m.score:.2f}", one_line(m.entry.description)) for m in matches]
        print_rows(console, rows)

    return Answer(
        document={
            "query": wanted,
            "results": [
                {
                    "id": match.entry.id,
                    "name": match.entry.name,
                    "description": match.entry.description,
                    "score": match.score,
                    "location": match.entry.location,
                }
                for match in matches
            ],
        },
        text=text,
        exit_code=0 if matches else 1,
        remarks=[
            *([] if root or env else missing_environment(settings)),
            *([] if matches else [f"Nothing here fits {wanted!r}."]),
        ],
    )


def _shadowed(shadowed: Shadowed) -> dict[str, Any]:
    return {**shadowed.entry._asdict(), "by": shadowed.by._asdict()}


def _disabled(item: Disabled) -> dict[str, Any]:
    entry = item.entry
    return {"id": entry.id, "location": entry.location, "source": entry.source, "by": item.by._asdict()}


def _print_catalog(console: "Console", catalog: Catalog, disabled: Sequence[Disabled]) -> None:
    for source in dict.fromkeys(entry.source for entry in catalog.entries):
        entries = [entry for entry in catalog.entries if entry.source == source]
        console.print(styled((inline(source), "bold"), (f"  {count(len(entries), 'skill')}", FAINT)), soft_wrap=True)
        print_rows(console, [(f"  {entry.id}", one_line(entry.description)) for entry in entries])
    _print_problems(console, catalog.problems)
    for entry, by in catalog.shadowed[:MAX_SHOWN]:
        line = f"{inline(entry.id)} in {inline(entry.source)} is hidden by the one in {inline(by.source)}."
        console.print(hanging(console, line, ""), soft_wrap=True)
    print_more(console, len(catalog.shadowed), "hidden skill")
    for entry, by in disabled[:MAX_SHOWN]:
        line = f"{inline(entry.id)} in {inline(entry.source)} is switched off. Turn it on: {inline(by.undo)}"
        console.print(hanging(console, line, ""), soft_wrap=True)
    print_more(console, len(disabled), "skill that is switched off")


def _print_problems(console: "Console", problems: Sequence[Problem]) -> None:
    for problem in problems[:MAX_SHOWN]:
        title = styled(("✗ ", BAD), (inline(problem.id), "bold"), "  ", (inline(problem.location), FAINT), "\n")
        console.print(title + findings_text(findings_of(problem), console=console), end="", soft_wrap=True)
    print_more(console, len(problems), "problem")
