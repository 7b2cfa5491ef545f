"""`skillyard learn show`: one piece of feedback, with all that came of it."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from skillyard.cli.learn_options import FeedbackId
from skillyard.cli.learn_text import effect_text, next_of, print_remarks, stage_text
from skillyard.cli.options import Token
from skillyard.cli.output import Answer
from skillyard.cli.release_text import print_facts, print_table, print_title, when
from skillyard.cli.safe_text import inline, one_line, visible
from skillyard.cli.text import FAINT, count, print_unified, styled
from skillyard.cli.yard import Server, yard_client

if TYPE_CHECKING:
    from rich.console import Console

_ROLES: Final = {"system": FAINT, "user": "cyan", "assistant": "green", "tool": "yellow", "error": "bold red"}
_EVENTS: Final = 5


def show(
    feedback_id: FeedbackId,
    *,
    transcript: Annotated[
        bool, typer.Option("--transcript", help="Also the whole conversation of the model with its tools.")
    ] = False,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Read feedback, and what came of it.

    Its stage and why, what each agent should learn, what was decided and changed, and what that cost.
    """
    with yard_client(server, token) as client:
        one = client.learning.show(feedback_id, transcript=transcript)
    return Answer(
        document=one,
        text=lambda console: _print(console, one, transcript=transcript),
        remarks=next_of(one),
    )


def _print(console: "Console", one: Mapping[str, Any], *, transcript: bool) -> None:
    console.print(styled(visible(one["content"].strip())), soft_wrap=True)
    console.print()
    print_facts(console, _facts(one))
    if transcript and not one["lessons"]:
        _print_transcript(console, one["matching"]["transcript"] or ())
    for lesson in one["lessons"]:
        _print_lesson(console, lesson)
        if transcript:
            _print_transcript(console, lesson.get("transcript") or ())


def _facts(one: Mapping[str, Any]) -> dict[str, Any]:
    events: Sequence[Any] = one["events"]
    return {
        "feedback": one["id"],
        "stage": one["stage"],
        "why": one_line(one["reason"] or ""),
        "last error": one_line(one["error"] or ""),
        "said": f"{when(one['time'])} by {one['user']}",
        "source": one["source"],
        "task": one_line(one["task"]),
        "description": one_line(one["description"]),
        "agents": ", ".join(agent["id"] for agent in one["agents"]),
        "events": "; ".join(one_line(_text(event)) for event in events[-_EVENTS:]),
        "event id": one["event_id"],
        "taken by": one["taken_by"],
        "attempts": one["attempts"] if one["attempts"] > 1 else None,
        "matching": _spent(one["matching"]["spent"]) if one["matching"]["spent"] else None,
    }


def _print_lesson(console: "Console", lesson: Mapping[str, Any]) -> None:
    console.print()
    title = (f"{inline(lesson['agent_id'])}  ", "bold")
    console.print(styled(title, stage_text(lesson["state"]), f"  {one_line(lesson['meaning'])}"), soft_wrap=True)
    decision: Mapping[str, Any] = lesson["decision"] or {}
    spent: Mapping[str, Any] = lesson["spent"] or {}
    print_facts(
        console,
        {
            "lesson": lesson["id"],
            "why": one_line(lesson["reason"] or ""),
            "decided": f"{lesson['operation']} {lesson['target']}" if lesson["target"] else None,
            "about": decision.get("target_name"),
            "change": one_line(str(decision.get("summary") or "")),
            "proposal": lesson["proposal_id"],
            "spent": _spent(spent) if spent else None,
        },
    )
    relations: Sequence[Mapping[str, Any]] = decision.get("relations") or ()
    rows = [(styled((each["relation"], "cyan")), inline(each["name"]), one_line(each["reason"])) for each in relations]
    rows += [
        (
            styled(("changed", "green")),
            effect_text(effect),
            styled((f"history {effect['history']}" if effect["history"] is not None else "", FAINT)),
        )
        for effect in lesson["effects"]
    ]
    print_table(console, rows)
    if lesson["diff"]:
        console.print()
        print_unified(console, visible(lesson["diff"]))
    if decision.get("warnings"):
        console.print()
        print_remarks(console, decision["warnings"])


def _spent(spent: Mapping[str, Any]) -> str:
    tokens = spent["input_tokens"] + spent["output_tokens"]
    return f"{count(spent['calls'], 'call')}, {tokens:,} tokens, {spent['milliseconds'] / 1000:.1f} s"


def _print_transcript(console: "Console", entries: Sequence[Mapping[str, Any]]) -> None:
    print_title(console, "Transcript")
    for entry in entries:
        role = str(entry["role"])
        name = f" {entry['name']}" if entry.get("name") else ""
        console.print(styled((f"\n{role}{inline(name)}", _ROLES.get(role, "bold"))), soft_wrap=True)
        if entry["text"]:
            console.print(styled(visible(entry["text"])), soft_wrap=True)
        for call in entry.get("calls", ()):
            arguments = json.dumps(call["arguments"], ensure_ascii=False)
            console.print(styled((f"→ {inline(call['name'])}", "bold"), f" {one_line(arguments)}"), soft_wrap=True)


def _text(event: Any) -> str:  # noqa: ANN401 -- any JSON
    return event if isinstance(event, str) else json.dumps(event, ensure_ascii=False)
