"""`skillyard demo`."""

import shutil
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from skillyard.app.demo import Step, look, put_right
from skillyard.app.demo_home import NEXT_COMMANDS, DemoHome, build_demo_home
from skillyard.app.demo_search import MEANING, REQUEST, SearchShow, show_search
from skillyard.cli.audit import print_agent, print_issues, print_verdict
from skillyard.cli.browser import open_browser
from skillyard.cli.output import Answer, Sink, sink_of
from skillyard.cli.safe_text import one_line
from skillyard.cli.text import BAD, FAINT, GOOD, print_rows, styled
from skillyard.config.load import load_settings
from skillyard.config.settings import Settings
from skillyard.library.audit_model import AuditReport
from skillyard.search.catalog import Form
from skillyard.skill.library import Layered

if TYPE_CHECKING:
    from rich.console import Console

    from skillyard.app.demo_scenes import Scene

_FOUND: Final = 3
"""So many of the skills found are shown."""
_NEXT: Final = {
    "look": "what your agents see, and what is wrong",
    "publish": "your skills, in a yard of your own",
    "serve": "your yard, in the browser and for agents",
}


def demo(
    context: typer.Context,
    *,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the sample home to look around in.")] = False,
    sample: Annotated[
        bool, typer.Option("--sample", help="Add the sample to your own yard, if that is empty.")
    ] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Remove the sample from your yard.")] = False,
) -> Answer:
    """See it all work on a sample: from a messy home to learned skills.

    A sample home is made in a temporary folder and fixed with the commands that the audit suggests. Then a request in
    Korean finds its skill among a thousand made-up ones, and the skills go into a yard. A form that is filled in three
    times becomes a skill, which is replayed and released. Last, feedback changes what an agent answers, with a scripted
    model. On a terminal the browser then opens to show it all. It needs no key, network or account, and touches nothing
    of yours.
    """
    sink = sink_of(context)
    if remove:
        return _removed()
    if sample:
        return _left_in_own_yard(sink, keep=keep)
    with _folder(keep=keep) as folder:
        home = build_demo_home(folder)
        told = _story(sink, home)
        sink.stream(_print_next)
        if not sink.as_json and sys.stdout.isatty():
            _show_in_browser(sink, home)
        where = _kept(home) if keep else "The sample is deleted."
    return Answer(
        document={"folder": str(folder) if keep else None, **told},
        text=lambda console: console.print(where, soft_wrap=True),
    )


def _removed() -> Answer:
    from skillyard.cli.sample import removed_sample  # noqa: PLC0415 -- it needs the whole yard

    settings = load_settings()
    count = removed_sample(settings)
    return Answer(
        document={"home": str(settings.home), "rows": count},
        text=lambda console: console.print(
            "The sample is deleted from your yard; everything else stays.", soft_wrap=True
        ),
    )


def _left_in_own_yard(sink: Sink, *, keep: bool) -> Answer:
    settings = load_settings()
    if not _is_new(settings):
        return Answer(
            document={"home": str(settings.home), "made": False},
            text=lambda _console: None,
            remarks=["No sample was added: your yard is not new."],
        )
    with _folder(keep=keep) as folder:
        told = _story(sink, build_demo_home(folder, yard=settings.home))
    text = "\nThis sample is in your yard now. To remove it: skillyard demo --remove"
    return Answer(
        document={"home": str(settings.home), "made": True, **told},
        text=lambda console: console.print(text, soft_wrap=True),
    )


def _is_new(settings: Settings) -> bool:
    """Whether this is a yard of one person, on this machine, which nobody used yet."""
    elsewhere = settings.database_url or settings.blobs_url or settings.server
    return settings.auth == "local" and not elsewhere and not (settings.home / "registry.sqlite").exists()


def _story(sink: Sink, home: DemoHome) -> dict[str, Any]:
    """All parts, each shown as it is played; what they tell."""
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
    # The rest needs much of the server, which takes long to import: the first parts are shown before that.
    from skillyard.cli.sample import noted_as_sample  # noqa: PLC0415

    with noted_as_sample(home.yard):
        scenes = {"skills": _publish(sink, home), "releases": _play(sink, home), "learning": _learn(sink, home)}
    return {
        "before": before.as_dict(),
        "steps": [step.as_dict() for step in steps],
        "after": after.as_dict(),
        "search": found.as_dict(),
        **{part: {scene.name: scene.facts for scene in played} for part, played in scenes.items()},
    }


def _publish(sink: Sink, home: DemoHome) -> "list[Scene]":
    from skillyard.cli.demo_skills import play_skills  # noqa: PLC0415 -- as above

    return list(play_skills(sink, home))


def _play(sink: Sink, home: DemoHome) -> "list[Scene]":
    from skillyard.cli.demo_releases import play_releases  # noqa: PLC0415 -- as above

    return list(play_releases(sink, home.yard))


def _learn(sink: Sink, home: DemoHome) -> "list[Scene]":
    from skillyard.cli.demo_learning import play_learning  # noqa: PLC0415 -- as above

    return list(play_learning(sink, home.yard))


def _show_in_browser(sink: Sink, home: DemoHome) -> None:
    from skillyard.cli.demo_scenes import demo_settings  # noqa: PLC0415 -- as above
    from skillyard.cli.serve import serve_yard  # noqa: PLC0415

    settings = demo_settings(home.yard, port=0)
    # What is in this machine's folders is the person's own: no page of the sample shows it.
    serve_yard(sink, settings, Layered(()), opened=lambda url: open_browser(f"{url}/history"))


def _kept(home: DemoHome) -> str:
    yard = f"With SKILLYARD_HOME={home.yard}"
    return f"The sample is in {home.folder}. {yard}, `skillyard serve` shows its yard."


@contextmanager
def _folder(*, keep: bool) -> Generator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="skillyard-demo-")).resolve()
    try:
        yield folder
    finally:
        if not keep:
            shutil.rmtree(folder)


def _print_next(console: "Console") -> None:
    console.print(styled(("\nNext, with your own:\n", "bold")))
    print_rows(console, [(styled((NEXT_COMMANDS[step], "bold cyan")), what) for step, what in _NEXT.items()])


def _print_report(console: "Console", home: DemoHome, report: AuditReport, title: str) -> None:
    console.print(styled((f"{title}\n", "bold")))
    print_verdict(console, report)
    for view in report.agents:
        print_agent(console, view)
    issues = [
        replace(
            issue,
            message=_short(home, issue.message),
            fix=_short(home, issue.fix),
            see=_short(home, issue.see),
            path=_short(home, issue.path),
        )
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
