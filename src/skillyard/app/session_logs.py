"""The session logs of this machine, held against the skills in reach from here."""

import os
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
from skillyard.library.agents import Agent, find_agent
from skillyard.library.audit import MIN_GROUP
from skillyard.library.native import native_state
from skillyard.library.roots import Machine, roots_for
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
    """Those that agents can see, without the skills that ship with Skillyard. Empty without any log."""
    unused: Sequence["Unused"] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Unused:
    """What one agent reads and never used, and the one command that turns it off there."""

    agent: Agent
    skills: Sequence[str]
    words: Sequence[str]
    """The command, word by word: a group that is never used as a whole is one pattern."""


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
    # Without a log nothing is known, and nothing can be said to be unused.
    never = [entry for entry in tally.never_used() if entry.source != BUILTIN] if files else []
    machine = Machine.here()
    agents = dict.fromkeys(find_agent(log.kind.agent) for log in files)
    unused = tuple(filter(None, (_unused(agent, never, machine) for agent in agents)))
    return UsageFound(files=files, lines=lines, tally=tally, never_used=never, unused=unused)


def _unused(agent: Agent, never: Sequence[SkillEntry], machine: Machine) -> Unused | None:
    folders = [folder for root in roots_for(agent, machine) for folder in _names_in(root.path)]
    state = native_state(agent, machine)
    skills = sorted(
        {entry.id for entry in never if entry.id in folders and entry.id.isprintable() and not state.is_off(entry)}
    )
    if not skills or agent.switch is None:
        return None
    groups: dict[str, list[str]] = {}
    for skill in skills:
        word, hyphen, _ = skill.partition("-")
        prefix = f"{word}{hyphen}"
        others = [folder for folder in folders if folder.startswith(prefix)] if hyphen else []
        whole = len(set(others)) >= MIN_GROUP and set(others) <= set(skills)
        groups.setdefault(f"{prefix}*" if whole else skill, []).append(skill)
    words = ["skillyard", "skill", "disable", "-a", agent.id, *groups]
    return Unused(agent=agent, skills=skills, words=words)


def _names_in(root: Path) -> list[str]:
    try:
        return [entry.name for entry in os.scandir(root) if not entry.name.startswith(".")]
    except OSError:
        return []


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
