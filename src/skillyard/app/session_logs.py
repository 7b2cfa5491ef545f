"""The session logs of this machine, held against the skills in reach from here."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from skillyard.agents.session_logs.importing import Imported, SessionImport
from skillyard.agents.session_logs.log_lines import LineCounts
from skillyard.agents.session_logs.session_files import LogFile, log_files
from skillyard.agents.session_logs.skill_usage import SkillTally
from skillyard.app.libraries import BUILTIN, open_library
from skillyard.library.roots import Machine
from skillyard.remote.client import YardClient
from skillyard.skill.library import SkillEntry

if TYPE_CHECKING:
    from skillyard.config.settings import Settings

Track = Callable[[Sequence[LogFile]], Iterable[LogFile]]
"""Gives the logs one by one, and shows how far that is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class UsageFound:
    """What the logs tell about skills."""

    files: Sequence[LogFile]
    lines: LineCounts
    tally: SkillTally
    never_used: Sequence[SkillEntry]
    """Of those that agents can see: the skills that ship with Skillyard are none of them."""


def session_logs(*, agents: Iterable[str], since: datetime | None) -> list[LogFile]:
    """The logs of this machine that changed since then."""
    return log_files(Machine.here(), agents=agents, since=since)


def skill_usage(
    settings: "Settings",
    files: Sequence[LogFile],
    *,
    track: Track,
    roots: Sequence[Path] = (),
    since: datetime | None = None,
) -> UsageFound:
    """Which of the skills in reach, or in these folders, were used."""
    tally, lines = _tally(settings, roots), LineCounts()
    for log in track(files):
        for use in log.uses(lines):
            if since is None or use.at >= since:
                tally.add(log.kind.agent, use)
    never = [entry for entry in tally.never_used() if entry.source != BUILTIN]
    return UsageFound(files=files, lines=lines, tally=tally, never_used=never)


def import_sessions(
    settings: "Settings",
    files: Sequence[LogFile],
    *,
    yard: YardClient | None,
    track: Track,
    since: datetime | None = None,
    folder: Path | None = None,
) -> Imported:
    """Read logs into a yard; without one, only look what there is."""
    work = SessionImport(_tally(settings), yard=yard, since=since, folder=str(folder.absolute()) if folder else "")
    for log in track(files):
        work.read(log)
    work.report_uses()
    return work.done


def _tally(settings: "Settings", roots: Sequence[Path] = ()) -> SkillTally:
    return SkillTally(open_library(settings, roots=roots).catalog().entries, home=Path.home())
