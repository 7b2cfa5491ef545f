"""The tools as clients know them, kept in the home for the next process: making them takes longer than some wait."""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import skillyard
from skillyard.agents.skill_tool import NAME as SKILL
from skillyard.files import make_folder, replace_file

_MAKERS: Final = ("agents", "agents/toolsets", "server/mcp")
"""The packages whose code defines the tools."""


class KeptTools:
    """The tools of some toolsets, without the list of skills in them, which changes."""

    def __init__(self, home: Path, toolsets: Sequence[str], *, with_files: bool) -> None:
        name = "-".join([*toolsets, *(["files"] if with_files else [])])
        self._file = home / "mcp" / f"tools-{name}.json"
        self._code = [skillyard.__version__, *_stamps()]

    def with_description(self, skill: str) -> list[dict[str, Any]] | None:
        """The tools, `skill` with this description; None if no tools of this code are kept."""
        try:
            kept = json.loads(self._file.read_bytes())
            if kept["code"] == self._code:
                return [{**tool, "description": skill} if tool["name"] == SKILL else tool for tool in kept["tools"]]
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            pass
        return None

    def keep(self, tools: Sequence[dict[str, Any]]) -> None:
        """Keep them for the next process; a home that cannot be written to only makes that slower."""
        with suppress(OSError):
            make_folder(self._file.parent)
            replace_file(self._file, json.dumps({"code": self._code, "tools": tools}).encode())


def _stamps() -> Iterator[str]:
    package = Path(skillyard.__file__).parent
    for folder in _MAKERS:
        with os.scandir(package / folder) as scan:
            for entry in sorted(scan, key=lambda entry: entry.name):
                if entry.name.endswith(".py"):
                    status = entry.stat()
                    yield f"{entry.name} {status.st_size} {status.st_mtime_ns}"
