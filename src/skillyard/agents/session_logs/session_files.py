"""The session logs on this machine: where each agent keeps them, and reading them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Protocol

from skillyard.agents.session_logs import claude_log, codex_log
from skillyard.agents.session_logs.claude_log import ClaudeLog
from skillyard.agents.session_logs.codex_log import CodexLog
from skillyard.agents.session_logs.log_events import LogEvent, SkillUse
from skillyard.agents.session_logs.log_lines import LineCounts, log_entries
from skillyard.agents.session_logs.log_places import COMPRESSED, LOG_PLACES, LogPlace, files_at
from skillyard.errors import UsageError
from skillyard.library.agents import find_agent
from skillyard.library.roots import Machine

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
    place: LogPlace
    marks: tuple[bytes, ...]
    """One of which is in every line that tells something."""
    use_marks: tuple[bytes, ...]
    """One of which is in every line that tells of the use of a skill: those are few."""
    log: Callable[[], Log]


KINDS: Final = (
    LogKind(
        agent="claude",
        label="Claude Code",
        place=LOG_PLACES["claude-code"],
        marks=claude_log.MARKS,
        use_marks=claude_log.USE_MARKS,
        log=ClaudeLog,
    ),
    LogKind(
        agent="codex",
        label="Codex",
        place=LOG_PLACES["codex"],
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
    wanted = {agent.casefold() for agent in agents}
    names = {kind: {find_agent(kind.agent).id, *find_agent(kind.agent).aliases} for kind in KINDS}
    unknown = sorted(wanted.difference(*names.values()))
    if unknown:
        raise UsageError(
            f"The session logs of {unknown[0]!r} cannot be read.",
            hint=f"Use one of: {', '.join(kind.agent for kind in KINDS)}.",
            details={"field": "agent", "value": unknown[0]},
        )
    return tuple(kind for kind in KINDS if not wanted or wanted & names[kind])


def log_files(machine: Machine, *, agents: Iterable[str] = (), since: datetime | None = None) -> list[LogFile]:
    """The logs that changed since then, the oldest first. No link is followed.

    Codex compresses logs that are some days old; of one that is there both ways, the other is read.
    """
    found: dict[Path, LogFile] = {}
    for kind in log_kinds(agents):
        for path, stat in files_at(kind.place, machine):
            changed_at = datetime.fromtimestamp(stat.st_mtime, UTC)
            if since is None or changed_at >= since:
                found[path] = LogFile(kind=kind, path=path, size=stat.st_size, changed_at=changed_at)
    logs = (log for path, log in found.items() if path.suffix != COMPRESSED or path.with_suffix("") not in found)
    return sorted(logs, key=lambda log: (log.changed_at, log.path))
