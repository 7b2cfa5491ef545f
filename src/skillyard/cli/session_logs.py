"""`skillyard skill usage` and `skillyard release import`: what the session logs of agents tell."""

import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from skillyard.cli.amounts import moment
from skillyard.cli.options import DryRun, Roots, Token, Yes
from skillyard.cli.output import Answer, Sink, sink_of
from skillyard.cli.release_text import print_table, when
from skillyard.cli.safe_text import inline, visible
from skillyard.cli.text import FAINT, MAX_SHOWN, count, styled
from skillyard.cli.yard import Server, yard_client
from skillyard.config.load import load_settings
from skillyard.errors import NotFoundError

if TYPE_CHECKING:
    from rich.console import Console

    from skillyard.agents.session_logs.importing import Imported
    from skillyard.agents.session_logs.log_lines import LineCounts
    from skillyard.agents.session_logs.session_files import LogFile
    from skillyard.agents.session_logs.skill_usage import UsedSkill
    from skillyard.app.session_logs import Track, Unused

_SINCE: Final = "30d"
_COMMAND_WIDTH: Final = 90
Agents = Annotated[
    list[str] | None,
    typer.Option("--agent", "-a", metavar="NAME", help="Only the logs of claude or codex; repeatable."),
]
Since = Annotated[
    str, typer.Option("--since", metavar="TIME", help="Only since then: a date, or 7d for seven days ago.")
]
Folder = Annotated[
    Path | None, typer.Option("--in", metavar="DIR", help="Only what was run in this folder, or below it.")
]


def usage(context: typer.Context, *, agent: Agents = None, since: Since = _SINCE, root: Roots = None) -> Answer:
    """Show which skills agents really used here, and which never.

    Read from the session logs that Claude Code and Codex keep on this machine; nothing is stored or sent.
    """
    from skillyard.app.session_logs import session_logs, skill_usage  # noqa: PLC0415 -- `--help` needs no database

    start = _start(since)
    files = session_logs(agents=agent or (), since=start)
    found = skill_usage(load_settings(), files, track=_track(sink_of(context)), roots=root or (), since=start)
    used = [_used(one) for one in found.tally.used()]
    never = [{"id": one.id, "location": one.location, "source": one.source} for one in found.never_used]

    def text(console: "Console") -> None:
        if not files:
            console.print(_no_logs(agent or (), since), soft_wrap=True)
        if used:
            console.print(styled(("Used", "bold"), (f"  {_in_words(since)}", FAINT)))
            print_table(console, map(_used_row, used))
        if never:
            if used:
                console.print()
            labels = " or ".join(sorted({log.kind.label for log in files}))
            console.print(styled((f"Never used by {labels}", "bold"), (f"  {_in_words(since)}", FAINT)))
            print_table(console, [(f"  {inline(one['id'])}", inline(one["source"])) for one in never[:MAX_SHOWN]])
        for one in found.unused:
            console.print(_unused_text(one), soft_wrap=True)

    more = [f"{len(never) - MAX_SHOWN:,} more were never used: --json lists them."] if len(never) > MAX_SHOWN else []
    return Answer(
        document={
            "since": start.isoformat(),
            "logs": _logs(files, found.lines),
            "used": used,
            "never_used": never,
            "unused": [
                {"agent": one.agent.id, "skills": list(one.skills), "command": shlex.join(one.words)}
                for one in found.unused
            ],
            "left_out": found.tally.left_out,
        },
        text=text,
        remarks=[*more, *(_read(files, found.lines) if files else [])],
    )


def _no_logs(agents: Sequence[str], since: str) -> str:
    whose = f" of {' or '.join(agents)}" if agents else ""
    return f"There is no session log{whose} {_in_words(since)}, so nothing is known about use."


def _unused_text(one: "Unused") -> str:
    """What could be turned off, as one command over as many lines as it needs."""
    noun = "this skill" if len(one.skills) == 1 else f"these {len(one.skills):,} skills"
    lines = [shlex.join(one.words[:5])]
    for word in map(shlex.quote, one.words[5:]):
        if len(lines[-1]) + len(word) > _COMMAND_WIDTH:
            lines.append("  ")
        lines[-1] += f" {word}"
    command = " \\\n".join(f"  {line}" for line in lines)
    return f"\nIf you do not need {noun} in {one.agent.label}:\n{visible(command)}"


def import_sessions(
    context: typer.Context,
    *,
    agent: Agents = None,
    since: Since = _SINCE,
    folder: Folder = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Import what agents ran, from the logs they keep.

    The commands in the session logs of Claude Code and Codex become executions, without their secrets, and uses of
    skills that the yard has are counted. Running it again adds only what is new.
    """
    from skillyard.app.session_logs import import_sessions as import_logs  # noqa: PLC0415 -- as above
    from skillyard.app.session_logs import session_logs  # noqa: PLC0415 -- as above

    start, sink = _start(since), sink_of(context)
    files = session_logs(agents=agent or (), since=start)
    if not files:
        raise NotFoundError(
            f"No session log of {' or '.join(agent or ('Claude Code', 'Codex'))} changed since {since}.",
            hint="Look further back: skillyard release import --dry-run --since 365d",
            details={"since": start.isoformat()},
        )
    settings = load_settings()
    reading = partial(import_logs, settings, files, track=_track(sink), since=start, folder=folder)
    if dry_run:
        return _rehearsed(reading(yard=None), files)
    what = f"{count(len(files), 'session log')} of {' and '.join(sorted({log.kind.label for log in files}))}"
    where = f"at {server or settings.server}" if server or settings.server else "of this machine"
    sink.confirm(f"Keep what was run in {what}, without secrets, in the yard {where}?", yes=yes)
    with yard_client(server, token) as client:
        done = reading(yard=client)
    said = (
        f"{count(done.recorded, 'execution')} imported, {done.repeated:,} known before; "
        f"{count(done.uses_recorded, 'use')} of skills counted, {done.uses_repeated:,} known before."
    )
    return Answer(
        document=_document(done, files),
        text=lambda console: console.print(said, soft_wrap=True),
        remarks=[
            *_read(files, done.lines),
            *(
                [f"{count(done.uses_elsewhere, 'use')} of skills that the yard does not have."]
                if done.uses_elsewhere
                else []
            ),
            *([f"Find candidates in it: skillyard release mine --since {since}"] if done.recorded else []),
        ],
    )


def _rehearsed(done: "Imported", files: Sequence["LogFile"]) -> Answer:
    rows = [
        (
            styled((one.agent, "bold")),
            inline(one.session),
            styled((when(one.began_at.isoformat()), FAINT)),
            count(one.runs, "execution"),
            f"{one.failed} failed" if one.failed else "",
            inline(", ".join(sorted(one.skills)[:5])),
            styled((inline(one.folder), FAINT)),
        )
        for one in sorted(done.sessions.values(), key=lambda one: one.began_at, reverse=True)
        if one.runs or one.skills
    ]
    more = [f"{len(rows) - MAX_SHOWN:,} more sessions: --json lists them."] if len(rows) > MAX_SHOWN else []
    return Answer(
        document={"dry_run": True, **_document(done, files)},
        text=lambda console: print_table(console, rows[:MAX_SHOWN]),
        remarks=[
            *more,
            *_read(files, done.lines),
            f"{count(done.runs, 'execution')} would be read in, or are known already. Nothing was kept.",
        ],
    )


def _start(since: str) -> datetime:
    return datetime.fromisoformat(moment(since) or "")


def _in_words(since: str) -> str:
    return f"since {since}" if "-" in since else f"in the last {since}"


def _track(sink: Sink) -> "Track":
    return lambda files: sink.track(files, total=len(files), label="Reading session logs")


def _used(one: "UsedSkill") -> dict[str, Any]:
    there = one.on_disk()
    return {
        "id": one.id,
        "location": one.location or None,
        "source": one.entry.source if one.entry else None,
        "uses": len(one.uses),
        "sessions": one.sessions,
        "agents": one.agents,
        "how": one.how,
        "last_used_at": one.last_used_at.isoformat(),
        "digest": there.digest if there else None,
        "version": (there.version or None) if there else None,
        "changed_since": there.changed_at > one.last_used_at if there else None,
    }


def _used_row(one: Mapping[str, Any]) -> Sequence[Any]:
    place = one["source"] or one["location"] or "no longer there"
    changed = "changed since" if one["changed_since"] else ""
    return (
        styled("  ", (inline(one["id"]), "bold")),
        count(one["uses"], "use"),
        count(one["sessions"], "session"),
        ", ".join(one["agents"]),
        when(one["last_used_at"]),
        inline(one["version"] or ""),
        styled((changed, "yellow")),
        styled((inline(place), FAINT)),
    )


def _document(done: "Imported", files: Sequence["LogFile"]) -> dict[str, Any]:
    return {
        "logs": _logs(files, done.lines),
        "executions": {
            "found": done.runs,
            "recorded": done.recorded,
            "repeated": done.repeated,
            "too_large": done.too_large,
        },
        "uses": {
            "recorded": done.uses_recorded,
            "repeated": done.uses_repeated,
            "too_old": done.uses_too_old,
            "elsewhere": done.uses_elsewhere,
        },
        "sessions": [
            {
                "agent": one.agent,
                "session": one.session,
                "folder": one.folder,
                "began_at": one.began_at.isoformat(),
                "executions": one.runs,
                "failed": one.failed,
                "skills": sorted(one.skills),
            }
            for one in done.sessions.values()
        ],
    }


def _logs(files: Sequence["LogFile"], lines: "LineCounts") -> dict[str, Any]:
    return {
        "files": len(files),
        "bytes": sum(log.size for log in files),
        "lines": lines.read,
        "broken": lines.broken,
        "too_long": lines.too_long,
        "unreadable": lines.unreadable,
    }


def _read(files: Sequence["LogFile"], lines: "LineCounts") -> list[str]:
    if not files:
        return ["No agent left a session log here in that time."]
    said = [f"Read {count(len(files), 'session log')}, {count(lines.read, 'line')}."]
    if lines.passed_over:
        parts = {"broken": lines.broken, "too long": lines.too_long, "unreadable": lines.unreadable}
        said.append(f"Skipped: {', '.join(f'{number:,} {what}' for what, number in parts.items() if number)}.")
    return said
