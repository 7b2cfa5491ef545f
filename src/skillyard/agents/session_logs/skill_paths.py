"""Paths of skills in what agents ran."""

import re
from collections.abc import Iterator
from typing import Final

_FILE: Final = "skill.md"
_MOST: Final = 20
"""Paths of one command that are looked at."""
_LONGEST: Final = 1024
_ENDS: Final = frozenset(" \t\r\n;|&<>()='\"`")
_GLOB: Final = re.compile(r"[*?\[{$]")
_SEPARATOR: Final = re.compile(r"[;|&\n(]")
_READERS: Final = frozenset({"awk", "bat", "batcat", "cat", "head", "less", "more", "nl", "sed", "tail"})
_IN_PLACE: Final = re.compile(r"(?:^|\s)-[a-zA-Z]*i|--in-place")


def is_skill_file(path: str) -> bool:
    """Whether a path is that of a skill's text, below a folder that names it."""
    folder, _, name = path.replace("\\", "/").rpartition("/")
    return name.lower() == _FILE and bool(skill_named_by(f"{folder}/{name}"))


def skill_named_by(path: str) -> str:
    """The folder that a `SKILL.md` is in, which is the id of the skill."""
    parts = path.replace("\\", "/").split("/")
    return parts[-2] if len(parts) > 1 and parts[-2] not in {"", ".", "..", "~"} else ""


def skill_files_read(command: str) -> Iterator[str]:
    """The skills' texts that a command line shows: not those that it writes, searches for or only names."""
    lower = command.lower()
    at = -1
    for _ in range(_MOST):
        at = lower.find(_FILE, at + 1)
        if at < 0:
            return
        end = at + len(_FILE)
        start = at
        while start > max(0, at - _LONGEST) and command[start - 1] not in _ENDS:
            start -= 1
        path = command[start:end]
        if is_skill_file(path) and not _GLOB.search(path) and _is_read(command[max(0, start - _LONGEST) : start]):
            yield path


def _is_read(before: str) -> bool:
    part = _SEPARATOR.split(before)[-1]
    if part.rstrip("\"' ").endswith(">"):
        return False
    words = part.split()
    program = words[0].rpartition("/")[2] if words else ""
    return program in _READERS and not (program == "sed" and _IN_PLACE.search(part))
