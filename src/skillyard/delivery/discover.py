"""Finding the skills in a tree of files: a repository, or a folder on disk."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from skillyard.errors import LimitError
from skillyard.skill.bundle import left_out_part
from skillyard.skill.limits import SKILL_FILE_NAMES

MAX_DEPTH: Final = 8
"""How deep in a source skills are looked for: `plugins/x/skills/y` is four."""
MAX_FOLDERS: Final = 20_000


def skill_folders(paths: Iterable[str]) -> list[str]:
    """The folders that hold a skill, given all files of a tree; `""` is the tree itself.

    What is inside a skill belongs to it. Plain folders come before hidden ones such as `.claude/skills`,
    because repositories keep installed copies there.
    """
    folders = {
        folder
        for folder, _, name in (path.rpartition("/") for path in paths)
        if name in SKILL_FILE_NAMES and _depth(folder) <= MAX_DEPTH and not left_out_part(folder)
    }
    outermost = [folder for folder in folders if not any(above in folders for above in _above(folder))]
    return sorted(outermost, key=lambda folder: (_is_hidden(folder), _depth(folder), folder))


def skill_folders_on_disk(root: Path, *, hidden: bool = True) -> list[str]:
    """The same for a folder on disk. Links are not followed, and without `hidden` no folder with a dot is."""
    found: list[str] = []
    pending = [""]
    seen = 0
    while pending:
        folder = pending.pop()
        seen += 1
        if seen > MAX_FOLDERS:
            raise LimitError(
                f"{root} has more than {MAX_FOLDERS} folders.",
                hint="Name the folder of the skill itself.",
                details={"field": "source", "limit": MAX_FOLDERS},
            )
        names, folders = _listing(root / folder)
        found.extend(f"{folder}/{name}".lstrip("/") for name in names if name in SKILL_FILE_NAMES)
        if not names.intersection(SKILL_FILE_NAMES) and _depth(folder) < MAX_DEPTH:
            inner = (name for name in folders if not left_out_part(name) and (hidden or not _is_hidden(name)))
            pending.extend(f"{folder}/{name}".lstrip("/") for name in inner)
    return skill_folders(found)


def _listing(folder: Path) -> tuple[set[str], set[str]]:
    files: set[str] = set()
    folders: set[str] = set()
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.add(entry.name)
                elif entry.is_file(follow_symlinks=False):
                    files.add(entry.name)
    except OSError:  # a folder that may not be read holds no skill for this person
        return set(), set()
    return files, folders


def _depth(folder: str) -> int:
    return folder.count("/") + 1 if folder else 0


def _is_hidden(folder: str) -> bool:
    return any(part.startswith(".") for part in folder.split("/"))


def _above(folder: str) -> Iterable[str]:
    while folder:
        folder = folder.rpartition("/")[0]
        yield folder
