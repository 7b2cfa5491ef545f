"""Reading session logs into a yard: what was run, to be learned from, and which skills were used."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from skillyard.agents.known_versions import known_version
from skillyard.agents.session_logs.log_events import How, LoggedRun, SkillUse
from skillyard.agents.session_logs.log_lines import LineCounts
from skillyard.agents.session_logs.session_files import LogFile
from skillyard.agents.session_logs.skill_usage import SkillTally, UsedSkill
from skillyard.redact import redact, storable
from skillyard.remote.client import YardClient
from skillyard.sandbox.capture.known_secrets import KnownSecrets
from skillyard.sandbox.capture.records import cleaned
from skillyard.sandbox.executions import MAX_CODE, MAX_NOTE, Run, Said, kept
from skillyard.usage.service import MAX_EVENTS

_RUNS: Final = 200
_CHARACTERS: Final = 2 * 1024 * 1024
"""That are sent at once."""
_SESSIONS: Final = 20_000
"""That are told apart."""
_NAMES: Final = 1_000
"""Skills of a session that are told apart."""
OTHERS: Final = "…"
"""All sessions beyond."""


@dataclass(kw_only=True, slots=True)
class SessionCount:
    """What one session holds."""

    agent: str
    session: str
    began_at: datetime
    folder: str = ""
    runs: int = 0
    failed: int = 0
    skills: set[str] = field(default_factory=set[str])


@dataclass(kw_only=True, slots=True)
class Imported:
    """What came of reading logs."""

    files: int = 0
    size: int = 0
    lines: LineCounts = field(default_factory=LineCounts)
    sessions: dict[tuple[str, str], SessionCount] = field(default_factory=dict[tuple[str, str], SessionCount])
    runs: int = 0
    recorded: int = 0
    repeated: int = 0
    too_large: int = 0
    """Commands that are longer than is kept."""
    uses_recorded: int = 0
    uses_repeated: int = 0
    uses_too_old: int = 0
    uses_elsewhere: int = 0
    """Uses of skills that the yard does not have."""

    def session_of(self, agent: str, event: LoggedRun | SkillUse) -> SessionCount:
        key = (agent, event.session if len(self.sessions) < _SESSIONS else OTHERS)
        if key not in self.sessions:
            self.sessions[key] = SessionCount(agent=agent, session=key[1], began_at=event.at)
        return self.sessions[key]


class SessionImport:
    """Reads logs, one after the other; without a yard, nothing is kept: that is a rehearsal."""

    def __init__(
        self, tally: SkillTally, *, yard: YardClient | None, since: datetime | None = None, folder: str = ""
    ) -> None:
        self.done = Imported()
        self._tally = tally
        self._yard = yard
        self._since = since
        self._folder = folder.rstrip("/")

    def read(self, log: LogFile) -> None:
        """Take in one log."""
        self.done.files += 1
        self.done.size += log.size
        known = KnownSecrets()
        waiting: dict[tuple[str, str], list[dict[str, Any]]] = {}
        size = 0
        for event in log.events(self.done.lines):
            if self._since is not None and event.at < self._since:
                continue
            agent = log.kind.agent
            if isinstance(event, SkillUse):
                self._use(agent, event)
                continue
            if not self._is_wanted(event):
                continue
            self._count(agent, event)
            if self._yard is None or len(event.code) > MAX_CODE:
                continue
            run = run_document(event, known)
            waiting.setdefault((event.session, event.folder), []).append(run)
            size += len(run["code"]) + len(run["output"]) + len(run["error"] or "")
            if size > _CHARACTERS or sum(map(len, waiting.values())) >= _RUNS:
                self._send(agent, waiting)
                size = 0
        self._send(log.kind.agent, waiting)

    def report_uses(self) -> None:
        """Count the uses of those skills that the yard has, when all logs are read."""
        if self._yard is None:
            return
        for events in _chunks(self._events(self._yard)):
            receipt = self._yard.report_usage(events)
            self.done.uses_recorded += receipt["recorded"]
            self.done.uses_repeated += receipt["repeated"]
            self.done.uses_too_old += len(receipt["refused"])

    def _use(self, agent: str, use: SkillUse) -> None:
        self._tally.add(agent, use)
        names = self.done.session_of(agent, use).skills
        if use.how is How.MISSED:
            names.discard(use.name)
        elif len(names) < _NAMES and use.how is not How.TYPED:
            names.add(use.name)

    def _is_wanted(self, run: LoggedRun) -> bool:
        return not self._folder or run.folder == self._folder or run.folder.startswith(f"{self._folder}/")

    def _count(self, agent: str, run: LoggedRun) -> None:
        session = self.done.session_of(agent, run)
        session.folder = session.folder or run.folder
        session.runs += 1
        session.failed += not run.success
        self.done.runs += 1
        self.done.too_large += len(run.code) > MAX_CODE

    def _send(self, agent: str, waiting: dict[tuple[str, str], list[dict[str, Any]]]) -> None:
        if self._yard is None:
            return
        for (session, folder), runs in waiting.items():
            said = {"agent": agent, "session": storable(session), "folder": redact(storable(folder))[:4096]}
            receipt = self._yard.releases.import_executions(said, runs)
            self.done.recorded += receipt["recorded"]
            self.done.repeated += receipt["repeated"]
        waiting.clear()

    def _events(self, yard: YardClient) -> Iterator[dict[str, Any]]:
        for used in self._tally.used():
            uses = [(agent, use) for agent, use in used.uses if use.how is not How.SERVED]
            known = _in_yard(yard, used) if uses else None
            if known is None:
                self.done.uses_elsewhere += len(uses)
                continue
            skill_id, version, changed_at = known
            for agent, use in uses:
                yield _event(skill_id, version if use.at >= changed_at else "", agent, use)


def run_document(logged: LoggedRun, known: KnownSecrets) -> dict[str, Any]:
    """A run as it is sent: its secrets stay on this machine."""
    run = Run(
        exec_type=logged.exec_type,
        code=storable(logged.code),
        success=logged.success,
        ending="exited",
        exit_code=logged.exit_code,
        seconds=logged.milliseconds / 1000,
        output=storable(logged.output),
        error=None if logged.error is None else storable(logged.error),
        said=Said(description=storable(logged.description)[:MAX_NOTE] or None),
    )
    clean = cleaned(run, known, {})
    return {
        "id": storable(logged.id),
        "exec_type": clean.exec_type.value,
        "code": redact(clean.code),
        "success": clean.success,
        "exit_code": clean.exit_code if clean.exit_code is None else max(-(2**31), min(clean.exit_code, 2**31 - 1)),
        "output": kept(clean.output),
        "error": None if clean.error is None else kept(clean.error),
        "milliseconds": min(logged.milliseconds, 2**31 - 1),
        "interrupted": logged.interrupted,
        "description": redact(clean.said.description or ""),
        "at": logged.at.isoformat(),
    }


def _in_yard(yard: YardClient, used: UsedSkill) -> tuple[str, str, datetime] | None:
    """The yard's skill that this one is, with the version that is on disk and since when it is there."""
    there = used.on_disk()
    if there is None:
        return None
    known = known_version(yard, used.id, there.digest)
    return None if known is None else (known.skill_id, known.version, there.changed_at)


def _event(skill_id: str, version: str, agent: str, use: SkillUse) -> dict[str, Any]:
    own_id = hashlib.sha256(f"{agent}\0{use.id}\0{skill_id}".encode(errors="surrogatepass")).hexdigest()[:32]
    return {
        "id": f"log-{own_id}",
        "skill": skill_id,
        "event": "loaded" if use.how is How.READ else "activated",
        "version": version,
        "agent": agent,
        "session": "".join(letter for letter in use.session if letter.isprintable())[:128],
        "at": use.at.isoformat(),
    }


def _chunks(events: Iterable[Mapping[str, Any]]) -> Iterator[Sequence[Mapping[str, Any]]]:
    some: list[Mapping[str, Any]] = []
    for event in events:
        some.append(event)
        if len(some) == MAX_EVENTS:
            yield some
            some = []
    if some:
        yield some
