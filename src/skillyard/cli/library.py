"""`skillyard list` and `skillyard find`."""

import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skillyard.app.findings import findings_of, problem_as_dict
from skillyard.app.libraries import missing_environment, open_library
from skillyard.app.reading import disabled_in
from skillyard.app.searching import open_search
from skillyard.cli.options import Environment, OnlyServer, Roots, Token, check_place
from skillyard.cli.output import Answer, sink_of
from skillyard.cli.safe_text import inline, one_line, visible
from skillyard.cli.text import BAD, FAINT, MAX_SHOWN, count, findings_text, hanging, print_more, print_rows, styled
from skillyard.config.load import load_settings
from skillyard.library.searching import Match
from skillyard.library.switches import Disabled
from skillyard.search import Snippet
from skillyard.skill.library import Catalog, Library, Problem, Shadowed

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text


def list_skills(
    *, root: Roots = None, env: Environment = None, server: OnlyServer = None, token: Token = None
) -> Answer:
    """List the skills in reach from here.

    Those of the project, of the active environment and your own, and the ones built in; or only those of
    the folders, the environment or the server named.
    """
    with _opened(root, env, server, token) as library:
        found = library.catalog()
    catalog = replace(found, shadowed=tuple(item for item in found.shadowed if not _is_one_folder(item)))
    disabled = list(disabled_in(library))
    remarks = [] if root or env or server else missing_environment(load_settings())
    if not catalog.entries:
        remarks.append(f"There are no skills here. {_start(server)}")
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
    server: OnlyServer = None,
    token: Token = None,
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="NUMBER", min=1, help="Maximum number.")] = 10,
) -> Answer:
    """Search skills by what they do.

    Those in reach from here, or those on a server. Exit code 1 when nothing fits.
    """
    wanted = " ".join(query)
    check_place(server, token, root, env)
    with sink_of(context).busy("Searching"):
        if server is None:
            matches = _found_here(wanted, root or (), env, limit)
        else:
            matches = _found_there(wanted, server, token, limit)

    def text(console: "Console") -> None:
        print_rows(console, [(styled((m.entry.id, "bold")), f"{m.score:.2f}", _why(m.snippet)) for m in matches])

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
                    "snippet": {"text": match.snippet.text, "marks": match.snippet.marks},
                }
                for match in matches
            ],
        },
        text=text,
        exit_code=0 if matches else 1,
        remarks=[
            *([] if root or env or server else missing_environment(load_settings())),
            *([] if matches else [f"Nothing here fits {wanted!r}."]),
        ],
    )


def _found_here(query: str, roots: Sequence[Path], environment: str | None, limit: int) -> Sequence[Match]:
    settings = load_settings()
    library = open_library(settings, roots=roots, environment=environment)
    search = open_search(settings, library, roots=roots, environment=environment)
    return search.search(query, limit=limit).best


def _why(snippet: Snippet) -> "Text":
    """The text that matched, with the words that did."""
    pieces: list[str | tuple[str, str]] = []
    end = 0
    for start, stop in snippet.marks:
        pieces += [visible(snippet.text[end:start]), (visible(snippet.text[start:stop]), "bold yellow")]
        end = stop
    return styled(*pieces, visible(snippet.text[end:]))


def _found_there(query: str, server: str, token: str | None, limit: int) -> Sequence[Match]:
    from skillyard.client import Skillyard  # noqa: PLC0415 -- folders need no client

    with Skillyard(server, token=token) as client:
        return [Match(*found) for found in client.library.search(query, limit=limit)]


@contextmanager
def _opened(
    roots: Sequence[Path] | None, environment: str | None, server: str | None, token: str | None
) -> Generator[Library]:
    check_place(server, token, roots, environment)
    if server is None:
        yield open_library(load_settings(), roots=roots or (), environment=environment)
        return
    from skillyard.client import Skillyard  # noqa: PLC0415 -- folders need no client

    with Skillyard(server, token=token) as client:
        yield client.library


def _is_one_folder(shadowed: Shadowed) -> bool:
    """Whether it is a link to the skill that is found first, so that nothing is hidden."""
    return os.path.realpath(shadowed.entry.location) == os.path.realpath(shadowed.by.location)


def _start(server: str | None) -> str:
    if server is None:
        return "`skillyard init NAME` starts one."
    return f"`skillyard publish FOLDER --server {server}` brings one there."


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
