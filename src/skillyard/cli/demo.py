"""`skillyard demo`."""

import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from skillyard.app.demo import Step, look, put_right
from skillyard.app.demo_home import DemoHome, build_demo_home
from skillyard.app.demo_search import MEANING, REQUEST, SearchShow, show_search
from skillyard.cli.audit import print_agent, print_issues
from skillyard.cli.output import Answer, Sink, sink_of
from skillyard.cli.safe_text import one_line
from skillyard.cli.text import BAD, FAINT, GOOD, print_rows, styled
from skillyard.library.audit_model import AuditReport
from skillyard.search.catalog import Form

if TYPE_CHECKING:
    from rich.console import Console

    from skillyard.app.demo_scenes import Scene

_FOUND: Final = 3
"""So many of the skills found are shown."""


def demo(
    context: typer.Context,
    *,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the sample home to look around in.")] = False,
) -> Answer:
    """See a messy home audited and fixed.

    A sample home is made in a temporary folder and put right with the commands that the audit suggests. Then a
    request in Korean finds its skill among a thousand made-up ones. A form that is filled in three times becomes a
    skill, which is replayed. Last, feedback changes what an agent answers, with a model that is scripted. It needs no
    key, network or account, and touches nothing of yours.
    """
    sink = sink_of(context)
    with _sample(keep=keep) as home:
        before = look(home)
        sink.stream(lambda console: _print_report(console, home, before, "A home after a year with three agents:"))
        steps: list[Step] = []
        for step in put_right(home):
            steps.append(step)
            sink.stream(lambda console: _print_step(console, home, steps[-1]))
        after = look(home)
        sink.stream(lambda console: _print_report(console, home, after, "\nThe same home now:"))
        found = show_search()
        sink.stream(lambda console: _print_search(console, found))
        releases = _play(sink, home)
        learning = _learn(sink, home)
        where = _kept(home) if keep else "The sample is gone again. Yours: run `skillyard`."
    return Answer(
        document={
            "folder": str(home.folder) if keep else None,
            "before": before.as_dict(),
            "steps": [step.as_dict() for step in steps],
            "after": after.as_dict(),
            "search": found.as_dict(),
            "releases": {scene.name: scene.facts for scene in releases},
            "learning": {scene.name: scene.facts for scene in learning},
        },
        text=lambda console: console.print(f"\n{where}", soft_wrap=True),
    )


def _play(sink: Sink, home: DemoHome) -> "list[Scene]":
    # It needs much of the server, which takes long to import: the first parts are shown meanwhile.
    from skillyard.cli.demo_releases import play_releases  # noqa: PLC0415

    return list(play_releases(sink, home.yard))


def _learn(sink: Sink, home: DemoHome) -> "list[Scene]":
    from skillyard.cli.demo_learning import play_learning  # noqa: PLC0415 -- as above

    return list(play_learning(sink, home.yard))


def _kept(home: DemoHome) -> str:
    yard = f"With SKILLYARD_HOME={home.yard}"
    return (
        f"The sample is in {home.folder}. {yard}, `skillyard release candidates` and `skillyard learn list` tell more."
    )


@contextmanager
def _sample(*, keep: bool) -> Generator[DemoHome]:
    folder = Path(tempfile.mkdtemp(prefix="skillyard-demo-")).resolve()
    try:
        yield build_demo_home(folder)
    finally:
        if not keep:
            shutil.rmtree(folder)


def _print_report(console: "Console", home: DemoHome, report: AuditReport, title: str) -> None:
    console.print(styled((f"{title}\n", "bold")))
    for view in report.agents:
        print_agent(console, view)
    issues = [
        replace(issue, message=_short(home, issue.message), fix=_short(home, issue.fix), path=_short(home, issue.path))
        for issue in report.issues
    ]
    print_issues(console, issues)


def _print_step(console: "Console", home: DemoHome, step: Step) -> None:
    console.print(styled((f"\n$ {_short(home, step.command)}", "bold cyan")), soft_wrap=True)
    for line in _short(home, step.output).splitlines():
        console.print(styled((f"  {line}", FAINT)), soft_wrap=True)


def _print_search(console: "Console", show: SearchShow) -> None:
    catalog = show.catalog
    forms = ", ".join(f"{catalog.count(form):,} {form}" for form in Form if catalog.count(form))
    console.print(styled((f"\nOne skill among {show.skills:,}, asked for in Korean:\n", "bold")))
    console.print(styled((f"“{REQUEST}”\n", "bold cyan"), (f"{MEANING}.\n", FAINT)))
    first, *others = show.found[:_FOUND]
    rows = [(styled((first.name, GOOD)), one_line(first.description))]
    print_rows(console, [*rows, *((styled(entry.name), one_line(entry.description)) for entry in others)])
    console.print(
        styled(
            "\nThe list of all skills in a prompt: ",
            (f"{catalog.naive:,} characters", BAD),
            ".\nThe catalog for this request: ",
            (f"{catalog.characters:,} characters", GOOD),
            f" ({forms}).\nTry it: skillyard skill catalog --query TEXT",
        ),
        soft_wrap=True,
    )


def _short(home: DemoHome, text: str) -> str:
    return text.replace(str(home.person), "~").replace(str(home.folder), "…")
