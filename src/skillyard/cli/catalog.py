"""`skillyard skill catalog`."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from skillyard.app.libraries import missing_environment, open_library
from skillyard.app.searching import open_search
from skillyard.cli.options import Environment, OnlyServer, Roots, Token, check_place
from skillyard.cli.output import Answer, sink_of
from skillyard.cli.text import styled
from skillyard.config.load import load_settings
from skillyard.search.catalog import BUDGET, Shape

if TYPE_CHECKING:
    from rich.console import Console


def catalog(
    context: typer.Context,
    *,
    query: Annotated[
        str, typer.Option("--query", "-q", metavar="TEXT", help="The task; skills that fit it come first.")
    ] = "",
    budget: Annotated[
        int, typer.Option("--budget", "-b", metavar="NUMBER", help="Maximum number of characters.", show_default=True)
    ] = BUDGET,
    pin: Annotated[
        list[str] | None, typer.Option("--pin", metavar="SKILL", help="Comes before all others; repeatable.")
    ] = None,
    shape: Annotated[
        Shape,
        typer.Option("--format", metavar="xml|markdown", help="For a system prompt, or for the description of a tool."),
    ] = Shape.XML,
    root: Roots = None,
    env: Environment = None,
    server: OnlyServer = None,
    token: Token = None,
) -> Answer:
    """Print the skills as a text for a prompt, within a budget.

    Pinned skills come first, then those that fit the query, then the others by name (on a server, by use). As many as
    fit are listed in full, then with shortened descriptions, then by name; a last line says how many there are. The
    same skills give the same text.
    """
    check_place(server, token, root, env)
    pins = pin or []
    with sink_of(context).busy("Writing the catalog"):
        if server is not None:
            written = _of_server(server, token, query, budget, pins, shape)
        else:
            settings = load_settings()
            library = open_library(settings, roots=root or (), environment=env)
            search = open_search(settings, library, roots=root or (), environment=env)
            written = search.catalog(query, budget=budget, shape=shape, pins=pins).as_dict()
    return Answer(
        document={"query": query, "budget": budget, "format": shape.value, **written},
        text=lambda console: _print(console, written["text"]),
        remarks=[*([] if root or env or server else missing_environment(load_settings())), _summed_up(written, budget)],
    )


def _of_server(
    server: str, token: str | None, query: str, budget: int, pins: list[str], shape: Shape
) -> dict[str, Any]:
    from skillyard.client import Skillyard  # noqa: PLC0415 -- folders need no client

    with Skillyard(server, token=token) as client:
        return client.catalog(query, budget=budget, pins=pins, format=shape.value)


def _print(console: "Console", text: str) -> None:
    # Off a terminal it is the text and nothing else: a line break would be one character more than the budget.
    console.print(styled(text), soft_wrap=True, end="\n" if console.is_terminal and text else "")


def _summed_up(written: dict[str, Any], budget: int) -> str:
    parts = ", ".join(f"{written[form]:,} {form}" for form in ("whole", "shortened", "named") if written[form])
    return (
        f"{written['characters']:,} of {budget:,} characters. {written['shown']:,} of {written['total']:,} skills shown"
        f"{f' ({parts})' if parts else ''}; all of them would take {written['naive_characters']:,} characters."
    )
