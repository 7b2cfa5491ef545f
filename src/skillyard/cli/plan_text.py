"""How plans, their outcomes and the state of what is installed are shown to people."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from rich.console import Console
from rich.text import Text

from skillyard.app.installing import Carried
from skillyard.cli.output import Sink
from skillyard.cli.safe_text import one_line
from skillyard.cli.text import BAD, FAINT, GOOD, count, findings_text, hanging, print_unified
from skillyard.cli.trash import print_undo
from skillyard.command_text import command_text
from skillyard.delivery.check import Checked, Status
from skillyard.delivery.plan import BLOCKED, Act, Action, FileConflict
from skillyard.delivery.source import SourceKind
from skillyard.skill.models import Severity

_INDENT: Final = " " * 11
_MAX_CONFLICT_LINES: Final = 100
_CONTEXT: Final = 2
_MAX_FILES: Final = 5
_FIRST_TO_LAST: Final = (Status.EDITED, Status.MISSING, Status.UNREADABLE, Status.LINK, Status.OK)


def print_carried(console: Console, carried: Carried, sink: Sink) -> None:
    """What was done and what was not, or would be; what is no data goes to the sink's other side."""
    is_dry_run = carried.outcome is None
    for action in carried.plan.actions:
        if action.act is Act.UNCHANGED and action.reason:
            _print_head(console, action.act.value, GOOD, action.id, action.reason)
    for action in carried.outcome.done if carried.outcome else carried.plan.changes:
        _print_action(console, action, is_dry_run=is_dry_run)
    for action in carried.left:
        _print_action(console, action, is_dry_run=is_dry_run)
    for item in carried.outcome.trashed if carried.outcome else ():
        print_undo(console, item)
    if not carried.plan.changes and not carried.left:
        sink.say("Nothing to do.")
    elif is_dry_run:
        sink.say("Nothing was changed: this was a dry run.")


def print_checked(console: Console, checked: Sequence[Checked], sink: Sink, *, install: str) -> None:
    """What is not as installed first, beginning with edits; untracked skills last, one line each.

    `install` is the command that installs all that is missing. One edit is shown in full, several with their size.
    """
    tracked = [item for item in checked if item.status is not Status.UNTRACKED]
    untracked = [item for item in checked if item.status is Status.UNTRACKED]
    edited = sum(item.diff is not None for item in tracked)
    missing = [item for item in tracked if item.status is Status.MISSING]
    for item in sorted(tracked, key=lambda item: _FIRST_TO_LAST.index(item.status)):
        if item.status is Status.MISSING and len(missing) > 1:
            _print_head(console, item.status.value, BAD, item.id, str(item.path))
        else:
            _print_tracked(console, item, in_full=edited == 1)
    for item in untracked:
        why = "" if item.fix else item.reason
        _print_head(console, item.status.value, "yellow", item.id, f"{item.path} {why}")
    drifted = sum(item.status is not Status.OK for item in tracked)
    summary = f"{count(len(checked), 'skill')}: {drifted:,} not as installed, {len(untracked):,} untracked."
    if missing and len(missing) == len(tracked):
        are = "skill is" if len(missing) == 1 else "skills are"
        summary = f"{len(missing):,} {are} in {missing[0].place.lock.name}, and none is installed here."
    console.print(summary, soft_wrap=True)
    if missing:
        console.print(Text(f"fix: {install}", GOOD), soft_wrap=True)
    if any(item.fix for item in untracked):
        sink.say("`skillyard skill adopt NAME` starts tracking one, without a NAME all of them.")


def _print_tracked(console: Console, item: Checked, *, in_full: bool) -> None:
    _print_head(console, item.status.value, GOOD if item.status is Status.OK else BAD, item.id, str(item.path))
    _print_prose(console, item.reason)
    for label, command in (("fix", item.fix), ("or", item.alternative)):
        if command:
            console.print(Text(f"{_INDENT}{label}: {command}", GOOD), soft_wrap=True)
    if item.diff and in_full:
        print_unified(console, item.diff.unified())
    elif item.diff:
        lines = [line for file in item.diff.files for line in file.lines]
        added, removed = (sum(line.startswith(sign) for line in lines) for sign in "+-")
        files = ", ".join(file.path for file in item.diff.files[:_MAX_FILES])
        more = f" and {len(item.diff.files) - _MAX_FILES:,} more" if len(item.diff.files) > _MAX_FILES else ""
        _print_prose(console, f"{files}{more}: {count(added, 'line')} added, {removed:,} removed.")
        console.print(Text(f"{_INDENT}see: {command_text('skill check', item.id)}", FAINT), soft_wrap=True)


def _print_action(console: Console, action: Action, *, is_dry_run: bool) -> None:
    verb = f"would {action.act}" if is_dry_run and action.act not in BLOCKED else action.act.value
    news = f"({' → '.join(action.versions)})" if action.versions else ""
    _print_head(console, verb, BAD if action.act in BLOCKED else GOOD, action.id, f"{action.path} {news}")
    _print_prose(console, action.reason)
    if action.act is Act.ADOPT:
        _print_prose(console, _origin(action))
    if action.fix:
        fix = hanging(console, f"fix: {one_line(action.fix)}", _INDENT)
        console.print(Text(f"{_INDENT}{fix}", GOOD), soft_wrap=True)
    for label, links in (("link", action.links), ("unlink", action.unlinks if action.act not in BLOCKED else ())):
        for link in links:
            console.print(Text(f"{_INDENT}{label} {one_line(str(link))}", FAINT), soft_wrap=True)
    told = [
        finding
        for finding in action.findings
        if finding.severity is not Severity.INFO and finding.message not in action.reason
    ]
    if told:
        console.print(findings_text(told, indent=_INDENT, console=console), end="", soft_wrap=True)
    for conflict in action.conflicts:
        _print_conflict(console, action, conflict)
    if is_dry_run and action.diff and not action.conflicts:
        print_unified(console, action.diff.unified())


def _print_head(console: Console, verb: str, style: str, skill_id: str, tail: str) -> None:
    head = Text.assemble((f"{verb:<10}", style), f" {one_line(skill_id)}  ", (one_line(tail), FAINT))
    console.print(head, soft_wrap=True)


def _print_prose(console: Console, message: str) -> None:
    if message:
        console.print(f"{_INDENT}{hanging(console, one_line(message), _INDENT)}", soft_wrap=True)


def _origin(action: Action) -> str:
    """Where an adopted skill comes from, as far as anybody knows."""
    entry = action.after
    if entry is None or entry.source.kind is SourceKind.LOCAL:
        return "It has no known source: there is nothing to update it from."
    if entry.verified:
        return f"Its source is {entry.source}, and this is what was installed from there."
    return f"Its source is {entry.source}; not verified: it may have been edited since it was installed from there."


def _print_conflict(console: Console, action: Action, conflict: FileConflict) -> None:
    """Both versions of what both changed."""
    _print_prose(console, f"{conflict.path}: {conflict.reason}")
    if conflict.merged:
        lines = _conflict_lines(conflict.merged)
    else:
        files = action.diff.files if action.diff else ()
        lines = (line for file in files if file.path == conflict.path for line in file.unified())
    for line in islice(lines, _MAX_CONFLICT_LINES):
        console.print(Text(f"{_INDENT}{line}"), soft_wrap=True)
    if next(lines, None) is not None:
        console.print(f"{_INDENT}… (--dry-run --json shows all of it)")


def _conflict_lines(merged: str) -> Iterator[str]:
    """The lines of a text between conflict markers, with a few around them."""
    lines = merged.splitlines()
    shown: set[int] = set()
    start: int | None = None
    for number, line in enumerate(lines):
        if line.startswith("<<<<<<< "):
            start = number
        elif line.startswith(">>>>>>> ") and start is not None:
            shown.update(range(max(0, start - _CONTEXT), min(len(lines), number + _CONTEXT + 1)))
            start = None
    previous = -1
    for number in sorted(shown):
        if number != previous + 1:
            yield "…"
        yield lines[number]
        previous = number
