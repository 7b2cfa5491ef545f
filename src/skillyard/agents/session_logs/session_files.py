"""The session logs on this machine: where each agent keeps them, and reading them."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Protocol

from skillyard.agents.session_logs import claude_log, codex_log
from skillyard.agents.session_logs.claude_log import ClaudeLog
from skillyard.agents.session_logs.codex_log import CodexLog
from skillyard.agents.session_logs.log_events import LogEvent, SkillUse
from skillyard.agents.session_logs.log_lines import COMPRESSED, LineCounts, log_entries
from skillyard.errors import UsageError
from skillyard.library.agents import expand
from skillyard.library.roots import Machine

_DEEPEST: Final = 8
"""Folders below a place that are looked into."""
_LONGEST_NAME: Final = 200
_LONGEST_PATH: Final = 4096


class Log(Protocol):
    """A reader of one agent's logs."""

    def take(self, entry: Mapping[str, Any]) -> Iterator[LogEvent]: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class LogKind:
    """An agent whose logs can be read, and where it keeps them."""

    agent: str
    label: str
    folders: tuple[str, ...]
    prefix: str
    """How the names of its logs begin."""
    marks: tuple[bytes, ...]
    """One of which is in every line that tells something."""
    use_marks: tuple[bytes, ...]
    """One of which is in every line that tells of the use of a skill: those are few."""
    log: Callable[[], Log]


KINDS: Final = (
    LogKind(
        agent="claude",
        label="Claude Code",
        folders=("$CLAUDE_CONFIG_DIR/projects",),
        prefix="",
        marks=claude_log.MARKS,
        use_marks=claude_log.USE_MARKS,
        log=ClaudeLog,
    ),
    LogKind(
        agent="codex",
        label="Codex",
        folders=("$CODEX_HOME/sessions", "$CODEX_HOME/archived_sessions"),
        prefix="rollout-",
        marks=codex_log.MARKS,
        use_marks=codex_log.USE_MARKS,
        log=CodexLog,
    ),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class LogFile:
    """One log."""

    kind: LogKind
    path: Path
    size: int
    changed_at: datetime

    def events(self, counts: LineCounts) -> Iterator[LogEvent]:
        """What it tells, in its order, one by one."""
        return self._told(counts, self.kind.marks)

    def uses(self, counts: LineCounts) -> Iterator[SkillUse]:
        """The uses of skills that it tells of; the rest is not looked into."""
        for event in self._told(counts, self.kind.use_marks):
            if isinstance(event, SkillUse):
                yield event

    def _told(self, counts: LineCounts, marks: tuple[bytes, ...]) -> Iterator[LogEvent]:
        log = self.kind.log()
        for entry in log_entries(self.path, counts, marks=marks):
            for event in log.take(entry):
                if _is_sane(event):
                    yield event
                else:
                    counts.broken += 1


def _is_sane(event: LogEvent) -> bool:
    """Whether names are of a length that names have; whoever wrote the log may have meant harm."""
    named = event.name if isinstance(event, SkillUse) else ""
    place = event.path if isinstance(event, SkillUse) else event.folder
    return max(len(event.id), len(event.session), len(named)) <= _LONGEST_NAME and len(place) <= _LONGEST_PATH


def log_kinds(agents: Iterable[str]) -> tuple[LogKind, ...]:
    """The kinds of logs of these agents; of all without any."""
    wanted = tuple(agents)
    known = {kind.agent: kind for kind in KINDS}
    for agent in wanted:
        if agent not in known:
            raise UsageError(
                f"The session logs of {agent!r} cannot be read.",
                hint=f"Use one of: {', '.join(known)}.",
                details={"field": "agent", "value": agent},
            )
    return tuple(kind for kind in KINDS if not wanted or kind.agent in wanted)


def log_files(machine: Machine, *, agents: Iterable[str] = (), since: datetime | None = None) -> list[LogFile]:
    """The logs that changed since then, the oldest first. No link is followed.

    Codex compresses logs that are some days old; of one that is there both ways, the other is read.
    """
    found: dict[Path, LogFile] = {}
    for kind in log_kinds(agents):
        for folder in kind.folders:
            place = expand(folder, home=machine.home, env=machine.env)
            for path, stat in _regular_files(place, kind.prefix):
                changed_at = datetime.fromtimestamp(stat.st_mtime, UTC)
                if since is None or changed_at >= since:
                    found[path] = LogFile(kind=kind, path=path, size=stat.st_size, changed_at=changed_at)
    logs = (log for path, log in found.items() if path.suffix != COMPRESSED or path.with_suffix("") not in found)
    return sorted(logs, key=lambda log: (log.changed_at, log.path))


def _regular_files(folder: Path, prefix: str, depth: int = 0) -> Iterator[tuple[Path, os.stat_result]]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        try:
            if entry.is_dir(follow_symlinks=False):
                if depth < _DEEPEST:
                    yield from _regular_files(Path(entry.path), prefix, depth + 1)
            elif (
                entry.name.removesuffix(COMPRESSED).endswith(".jsonl")
                and entry.name.startswith(prefix)
                and entry.is_file(follow_symlinks=False)
            ):
                yield Path(entry.path), entry.stat(follow_symlinks=False)
        except OSError:  # gone meanwhile
            continue
