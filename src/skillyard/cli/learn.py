"""`skillyard learn`: feedback, given and looked at."""

from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from skillyard.cli.amounts import moment
from skillyard.cli.learn_options import FeedbackId, LessonId, Limit, Private, read_file
from skillyard.cli.learn_text import (
    FAILED,
    WAITING_FOR_MODEL,
    counts_text,
    next_of,
    outcome_of,
    print_outcome,
    stage_text,
)
from skillyard.cli.learn_watching import follow
from skillyard.cli.options import DryRun, Token
from skillyard.cli.output import Answer, Sink, sink_of
from skillyard.cli.release_text import print_table, when
from skillyard.cli.safe_text import inline, one_line
from skillyard.cli.text import FAINT, count, styled
from skillyard.cli.yard import InNamespace, Server, Why, yard_client
from skillyard.client import Skillyard
from skillyard.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

Stage = Literal[
    "queued",
    "waiting_for_model",
    "matching",
    "deciding",
    "proposed",
    "committed",
    "no_commit",
    "needs_review",
    "failed",
    "rejected",
    "undone",
]


def feedback(
    context: typer.Context,
    text: Annotated[str | None, typer.Argument(metavar="TEXT", help="The feedback; - reads stdin.")] = None,
    *,
    agent: Annotated[
        list[str] | None, typer.Option("--agent", "-a", metavar="ID", help="Whose work it is about; repeatable.")
    ] = None,
    task: Annotated[str, typer.Option("--task", metavar="TEXT", help="What the agent was asked to do.")] = "",
    description: Annotated[str, typer.Option("--description", metavar="TEXT", help="More about the task.")] = "",
    event: Annotated[
        list[str] | None, typer.Option("--event", metavar="TEXT", help="What happened; repeatable.")
    ] = None,
    user: Annotated[str, typer.Option("--user", metavar="NAME", help="Who said it; default: you.")] = "",
    time: Annotated[
        str | None, typer.Option("--time", metavar="TIME", help="When: 2026-01-31T09:00, or 2h ago as 2h.")
    ] = None,
    event_id: Annotated[
        str | None,
        typer.Option("--event-id", metavar="ID", help="Your own id; feedback with the same id is taken once."),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option("--file", "-f", metavar="FILE", help="Many: CSV, Excel, JSON, JSON lines; - is stdin."),
    ] = None,
    encoding: Annotated[
        str | None, typer.Option("--encoding", metavar="NAME", help="The file's encoding, if it is not UTF-8.")
    ] = None,
    namespace: InNamespace = None,
    private: Private = False,
    dry_run: DryRun = False,
    wait: Annotated[
        bool | None,
        typer.Option(
            "--wait/--no-wait", help="Wait until it is learned; without a server, this command does the work."
        ),
    ] = None,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Give feedback, one piece or a file.

    Without TEXT or --file, lists the feedback. Exit code 1 when a line of a file is not feedback, or when learning
    failed.
    """
    about: dict[str, Any] = {
        "agents": [{"id": each} for each in agent or ()],
        "task": task,
        "description": description,
        "events": list(event or ()),
        "user": user,
        "time": moment(time, "--time"),
        "event_id": event_id,
        "namespace": namespace,
        **({"visibility": "private"} if private else {}),
    }
    if file is not None:
        if text is not None or any(about.values()):
            raise UsageError("A file says everything itself.", hint="Give --file alone, or TEXT and its options.")
        return _give_file(sink_of(context), file, encoding, dry_run, wait, server, token)
    if text is None:
        if any(about.values()):
            raise UsageError("There is no feedback.", hint='Say it: skillyard learn feedback "…"')
        return list_feedback(server=server, token=token)
    if dry_run:
        raise UsageError("--dry-run checks a file.", hint="Name one: --file FILE")
    said = read_file(Path(text)).decode("utf-8", "replace") if text == "-" else text
    with yard_client(server, token) as client:
        taken = client.learning.give(said, **about, source="cli")
        if not _waits(client, wait):
            return _given(taken)
        over = follow(sink_of(context), client.learning, [taken["id"]], quiet=True)
    return _learned({**over.rested[0], "created": taken["created"], "again": taken["again"]})


def list_feedback(
    *,
    stage: Annotated[
        Stage | None, typer.Option("--stage", "-s", metavar="STAGE", help="Only feedback at this stage.")
    ] = None,
    limit: Limit = 30,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """List feedback by stage, with counts.

    Newest first.
    """
    with yard_client(server, token) as client:
        found = list(islice(client.learning.feedback(stage=stage), limit))
        counts: Mapping[str, int] = client.learning.counts()
    total = counts.get(stage, 0) if stage else sum(counts.values())
    remarks = [f"{total - len(found):,} more; -n shows them."] if total > len(found) else []
    if not total:
        remarks = [
            "No feedback is at that stage." if stage else 'There is none. Give some: skillyard learn feedback "…"'
        ]
    return Answer(
        document={"feedback": found, "counts": counts, "total": total},
        text=lambda console: _print_list(console, found, counts),
        remarks=remarks,
    )


def retry(
    context: typer.Context,
    feedback_id: FeedbackId,
    *,
    wait: Annotated[
        bool | None,
        typer.Option(
            "--wait/--no-wait", help="Wait until it is learned; without a server, this command does the work."
        ),
    ] = None,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Learn from feedback again, from where it stopped.

    What was undone is decided again.
    """
    with yard_client(server, token) as client:
        taken = client.learning.retry(feedback_id)
        if not _waits(client, wait):
            return _given(taken)
        over = follow(sink_of(context), client.learning, [feedback_id], quiet=True)
    return _learned(over.rested[0])


def undo(lesson: LessonId, *, reason: Why = "", server: Server = None, token: Token = None) -> Answer:
    """Undo everything that a lesson changed."""
    with yard_client(server, token) as client:
        done = client.learning.undo(lesson, reason=reason)

    def text(console: "Console") -> None:
        for line in outcome_of(done):
            console.print(styled((done["id"], "bold"), f"  {inline(line)}"), soft_wrap=True)

    return Answer(document=done, text=text, remarks=[f"Learn it again: skillyard learn retry {done['feedback_id']}"])


def _waits(client: Skillyard, wait: bool | None) -> bool:
    """Whether to wait: as wished, else where nobody else would work on it."""
    return client.connection.in_process if wait is None else wait


def _given(taken: Mapping[str, Any]) -> Answer:
    line = styled((taken["id"], "bold"), "  ", stage_text(taken["stage"]))
    follow_it = [] if taken["stage"] == WAITING_FOR_MODEL else ["Follow it: skillyard learn watch"]
    return Answer(
        document=taken,
        text=lambda console: console.print(line, soft_wrap=True),
        remarks=[*_repeat_remarks(taken), *next_of(taken), *follow_it],
    )


def _learned(over: Mapping[str, Any]) -> Answer:
    return Answer(
        document=over,
        text=lambda console: print_outcome(console, over),
        exit_code=1 if over["stage"] in FAILED else 0,
        remarks=[*_repeat_remarks(over), *next_of(over)],
    )


def _repeat_remarks(taken: Mapping[str, Any]) -> list[str]:
    """Remarks about feedback that was given before."""
    if taken.get("again"):
        return ["It was given before and undone; it is learned again."]
    return [] if taken.get("created", True) else ["It was given before; nothing was added."]


def _give_file(
    sink: Sink,
    file: Path,
    encoding: str | None,
    dry_run: bool,
    wait: bool | None,
    server: str | None,
    token: str | None,
) -> Answer:
    data = read_file(file)
    with yard_client(server, token) as client:
        with sink.busy(f"Reading {file.name}"):
            done = client.learning.import_file(file.name, data, encoding=encoding, dry_run=dry_run)
        waits = not dry_run and done["created"] and _waits(client, wait)
        over = follow(sink, client.learning, None) if waits else None
    problems: Sequence[Mapping[str, Any]] = done["problems"]
    remarks = [f"These columns are not used: {', '.join(done['ignored'])}."] if done["ignored"] else []
    if dry_run:
        remarks.append("Nothing was stored (--dry-run).")
    elif over is not None:
        remarks += over.remarks
    elif done["created"]:
        remarks.append("Follow it: skillyard learn watch")
    failed = over is not None and over.failed

    def text(console: "Console") -> None:
        console.print(_import_text(done, dry_run=dry_run), soft_wrap=True)
        rows = [(styled((f"line {one['line']}", "bold")), inline(one["message"])) for one in problems]
        print_table(console, rows, cut=False)

    return Answer(
        document={**done, **({} if over is None else {"feedback": list(over.rested), "counts": over.counts})},
        text=text,
        exit_code=1 if problems or failed else 0,
        remarks=remarks,
    )


def _import_text(done: Mapping[str, Any], *, dry_run: bool) -> str:
    parts = [] if dry_run else [f"{done['created']:,} new"]
    if done["known"]:
        parts.append(f"{done['known']:,} known already")
    if done["problem_count"]:
        parts.append(f"{count(done['problem_count'], 'line')} could not be read")
    return f"{count(done['read'], 'piece')} of feedback{': ' if parts else ''}{', '.join(parts)}."


def _print_list(console: "Console", found: Sequence[Mapping[str, Any]], counts: Mapping[str, int]) -> None:
    rows = [
        (
            styled((one["id"], "bold")),
            stage_text(one["stage"]),
            inline(one["user"]),
            styled((when(one["created_at"]), FAINT)),
            inline(", ".join(agent["id"] for agent in one["agents"])),
            one_line(one["content"]),
        )
        for one in found
    ]
    print_table(console, rows)
    if any(counts.values()):
        console.print()
        console.print(counts_text(counts), soft_wrap=True)
