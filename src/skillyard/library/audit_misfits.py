"""Skills in the making that no agent finds: files of a wrong name or in a wrong place, and empty folders."""

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from skillyard.errors import SkillyardError
from skillyard.library import audit_fixes as fixes
from skillyard.library.audit_model import Reason
from skillyard.library.regular import read_regular
from skillyard.skill.document import parse
from skillyard.skill.library import Catalog
from skillyard.skill.limits import MAX_SKILL_MD_BYTES, SKILL_FILE_NAMES
from skillyard.skill.models import Severity
from skillyard.skill.names import is_valid_name

MAX_FILES: Final = 64
"""Markdown files looked at in one folder."""
MAX_LOOKED_AT: Final = 5_000
"""Folders and files of one root that are looked at."""
_SUFFIXES: Final = (".md", ".markdown", ".mdx", ".txt")


class Misfit(NamedTuple):
    """A file that would be a skill under another name or in another place, or a folder without any."""

    skill: str
    path: str
    message: str
    fix: str
    code: str = Reason.FILE_NAME
    severity: Severity = Severity.WARNING
    target: str = ""
    """The folder that becomes a skill by the fix."""


def find_misfits(root: Path, catalog: Catalog) -> Iterator[Misfit]:
    """What is in a root that looks like a skill but is not named like one."""
    base = os.path.realpath(root)
    found = (*catalog.entries, *catalog.problems, *(item.entry for item in catalog.shadowed))
    taken = {item.location.removeprefix(base).strip("/").partition("/")[0] for item in found}
    try:
        with os.scandir(base) as scan:
            entries = sorted(scan, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in islice((entry for entry in entries if _is_odd(entry, taken)), MAX_LOOKED_AT):
        if entry.is_dir(follow_symlinks=False):
            yield from _in_folder(entry.path)
        elif entry.name in SKILL_FILE_NAMES:
            yield from _in_root(entry.path)
        else:
            yield from _loose(entry.path)


def _is_odd(entry: "os.DirEntry[str]", taken: set[str]) -> bool:
    """Whether something in a root may be meant as a skill although it is none."""
    if entry.name.startswith("."):
        return False
    if entry.is_dir(follow_symlinks=False):
        return entry.name not in taken
    return entry.name in SKILL_FILE_NAMES or _is_candidate(entry.name)


def _in_folder(folder: str) -> Iterator[Misfit]:
    try:
        with os.scandir(folder) as scan:
            entries = list(scan)
    except OSError:
        return
    if not entries:
        message, fix = "The folder is empty.", fixes.remove_empty(folder)
        yield Misfit(os.path.basename(folder), folder, message, fix, "empty-folder", Severity.INFO)  # noqa: PTH119
    names = sorted(entry.name for entry in entries if entry.is_file(follow_symlinks=False))
    candidates = [name for name in names if _is_candidate(name)][:MAX_FILES]
    named = [name for name in candidates if name.partition(".")[0].casefold() in {"skill", "skills"}]
    name = next(iter(named), None) or next((file for file in candidates if _reads_as_skill(f"{folder}/{file}")), None)
    if name is not None:
        yield Misfit(
            os.path.basename(folder),  # noqa: PTH119 -- paths of a walk are strings
            f"{folder}/{name}",
            f"The skill file is called {name!r}; agents look for SKILL.md and nothing else.",
            fixes.rename_file(f"{folder}/{name}", f"{folder}/SKILL.md"),
            target=folder,
        )


def _loose(path: str) -> Iterator[Misfit]:
    if _reads_as_skill(path):
        folder = os.path.splitext(path)[0]  # noqa: PTH122 -- paths of a walk are strings
        yield Misfit(
            os.path.basename(folder),  # noqa: PTH119
            path,
            "It is a file; a skill is a folder with a SKILL.md in it.",
            fixes.make_folder_for(path, f"{folder}/SKILL.md"),
            target=folder,
        )


def _in_root(path: str) -> Iterator[Misfit]:
    """A skill file right in a folder of skills, where agents look for folders only."""
    name = _name_in(path)
    if name:
        root, file = os.path.split(path)
        folder = name if is_valid_name(name) and not os.path.lexists(f"{root}/{name}") else "my-skill"
        yield Misfit(
            name,
            path,
            f"{file} lies in the folder of skills itself; agents look into its subfolders only.",
            fixes.make_folder_for(path, f"{root}/{folder}/SKILL.md"),
            target=f"{root}/{folder}",
        )


def _is_candidate(name: str) -> bool:
    return name.casefold().endswith(_SUFFIXES)


def _reads_as_skill(path: str) -> bool:
    """Whether a file has the frontmatter of a skill: a name and a description."""
    return bool(_name_in(path))


def _name_in(path: str) -> str:
    try:
        document = parse(read_regular(path, MAX_SKILL_MD_BYTES)).document
    except SkillyardError:
        return ""
    return document.name if document is not None and "name" in document.fields else ""
