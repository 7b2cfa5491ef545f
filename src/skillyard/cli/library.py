"""`skillyard list` and `skillyard find`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skillyard.app.libraries import open_library
from skillyard.app.searching import SkillSearch
from skillyard.cli.options import Environment, Roots
from skillyard.cli.output import Answer, sink_of
from skillyard.cli.safe_text import one_line
from skillyard.cli.text import BAD, FAINT, count, findings_text, print_rows, styled
from skillyard.config.load import load_settings
from skillyard.skill.library import Catalog, Problem, Shadowed

if TYPE_CHECKING:
    from rich.console import Console


def list_skills(*, root: Roots = None, env: Environment = None) -> Answer:
    """The skills in reach from here.

    Those of the project, of the active environment and your own, and the ones built in; or only those of
    the folders or the environment named.
    """
    catalog = open_library(load_settings(), roots=root or (), environment=env).catalog()
    return Answer(
        document={
            "skills": [entry._asdict() for entry in catalog.entries],
            "problems": [_problem(problem) for problem in catalog.problems],
            "shadowed": [_shadowed(shadowed) for shadowed in catalog.shadowed],
        },
        text=lambda console: _print_catalog(console, catalog),
    )


def find(
    context: typer.Context,
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="What the skill should do.")],
    *,
    root: Roots = None,
    env: Environment = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="At most so many.")] = 10,
) -> Answer:
    """Search skills by what they do.

    Exit code 1 when nothing fits.
    """
    wanted = " ".join(query)
    library = open_library(load_settings(), roots=root or (), environment=env)
    with sink_of(context).busy("Searching"):
        matches = SkillSearch(library).search(wanted, limit=limit).best

    def text(console: "Console") -> None:
        if not matches:
            console.print(f"Nothing here fits {wanted!r}.", soft_wrap=True)
            return
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
    )


def _problem(problem: Problem) -> dict[str, Any]:
    return {**problem._asdict(), "findings": [finding.as_dict() for finding in problem.findings]}


def _shadowed(shadowed: Shadowed) -> dict[str, Any]:
    return {**shadowed.entry._asdict(), "by": shadowed.by._asdict()}


def _print_catalog(console: "Console", catalog: Catalog) -> None:
    for source in dict.fromkeys(entry.source for entry in catalog.entries):
        entries = [entry for entry in catalog.entries if entry.source == source]
        console.print(styled((source, "bold"), (f"  {count(len(entries), 'skill')}", FAINT)), soft_wrap=True)
        print_rows(console, [(f"  {entry.id}", one_line(entry.description)) for entry in entries])
    if not catalog.entries:
        console.print("There are no skills here. `skillyard init NAME` starts one.")
    _print_problems(console, catalog.problems)
    for entry, by in catalog.shadowed:
        console.print(f"{entry.id} in {entry.source} is hidden by the one in {by.source}.", soft_wrap=True)


def _print_problems(console: "Console", problems: Sequence[Problem]) -> None:
    for problem in problems:
        title = styled(("✗ ", BAD), (problem.id, "bold"), "  ", (problem.location, FAINT), "\n")
        console.print(title + findings_text(problem.findings), end="", soft_wrap=True)
