"""Where agents keep their session logs; light to import, for callers that only ask whether there are any."""

import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

from skillyard.library.agents import expand
from skillyard.library.roots import Machine

COMPRESSED: Final = ".zst"
"""The end of the name of a log that its agent has compressed."""
_DEEPEST: Final = 8
"""How many folders deep a place is searched."""


class LogPlace(NamedTuple):
    """The folders of one agent's logs, and how the names of these begin."""

    folders: tuple[str, ...]
    prefix: str = ""


LOG_PLACES: Final = {
    "claude-code": LogPlace(("$CLAUDE_CONFIG_DIR/projects",)),
    "codex": LogPlace(("$CODEX_HOME/sessions", "$CODEX_HOME/archived_sessions"), "rollout-"),
}
"""By the agent's id in the table of agents."""


def has_logs(agent: str, machine: Machine, since: datetime) -> bool:
    """Whether this agent left a log that changed since then."""
    place = LOG_PLACES.get(agent)
    return place is not None and any(stat.st_mtime >= since.timestamp() for _, stat in files_at(place, machine))


def files_at(place: LogPlace, machine: Machine) -> Iterator[tuple[Path, os.stat_result]]:
    """The logs there. No link is followed."""
    for folder in place.folders:
        yield from _regular_files(expand(folder, home=machine.home, env=machine.env), place.prefix)


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
