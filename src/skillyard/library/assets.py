"""The files of a skill that are handed out: all of them, or its assets: `references/`, `assets/` and `scripts/`."""

import codecs
import os
from collections.abc import Iterator
from itertools import islice
from typing import Final

from skillyard.errors import InputError, NotAllowedError, NotFoundError
from skillyard.library.regular import read_regular
from skillyard.skill.bundle import left_out_part
from skillyard.skill.library import SkillEntry
from skillyard.skill.limits import MAX_BUNDLE_FILES, MAX_FILE_BYTES, MAX_PATH_DEPTH
from skillyard.skill.models import Severity
from skillyard.skill.names import nearest_name
from skillyard.skill.paths import path_findings, printable

ASSET_FOLDERS: Final = ("references", "assets", "scripts")
SCRIPTS: Final = "scripts"


def list_assets(entry: SkillEntry) -> list[str]:
    """The relative paths of all assets."""
    skill = _folder(entry)
    files = (path for top in ASSET_FOLDERS for path in _files_below(skill, f"{top}/", MAX_PATH_DEPTH))
    return sorted(islice(files, MAX_BUNDLE_FILES))


def list_files(entry: SkillEntry) -> list[str]:
    """The relative paths of all files, assets or not."""
    return sorted(islice(_files_below(_folder(entry), "", MAX_PATH_DEPTH), MAX_BUNDLE_FILES))


def read_asset(entry: SkillEntry, relative: str) -> str:
    """The text of an asset; an error that tells where the file is when it holds anything else."""
    path = locate_asset(entry, relative)
    try:
        text = as_text(read_regular(path, MAX_FILE_BYTES), errors="strict")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise InputError(
            f"{printable(relative)!r} of the skill {entry.id!r} is not a text.",
            hint=f"Use the file itself: {path}",
            details={"skill": entry.id, "field": "relative_path", "value": relative, "path": path},
        )
    return text


def locate_asset(entry: SkillEntry, relative: str) -> str:
    """The real path of an asset; a path that leads anywhere else is refused."""
    require_asset(entry.id, relative)
    return locate_file(entry, relative)


def require_asset(skill: str, relative: str) -> str:
    """A path to an asset as a bundle has it; any other is refused."""
    path = require_inside(skill, relative)
    if path.partition("/")[0] not in ASSET_FOLDERS:
        raise NotAllowedError(
            f"{printable(relative)!r} of the skill {skill!r} is not in one of its shared folders.",
            hint=f"Only files below {', '.join(f'{name}/' for name in ASSET_FOLDERS)} are handed out.",
            details=_details(skill, relative),
        )
    return path


def require_inside(skill: str, relative: str) -> str:
    """A path to a file of a skill as a bundle has it; one that leads out of the skill is refused."""
    path = relative.replace("\\", "/").removeprefix("./")
    wrong = next((item for item in path_findings(path) if item.severity is Severity.ERROR), None)
    if wrong is not None:
        raise NotAllowedError(
            f"{wrong.message} It was asked for in the skill {skill!r}.",
            hint="Give a path such as references/GUIDE.md, relative to the skill's folder.",
            details=_details(skill, relative),
        )
    return path


def no_file(skill: str, path: str, files: list[str], kind: str = "files beside SKILL.md") -> NotFoundError:
    """The error for a file that a skill does not have; it says which of the kind it has."""
    return NotFoundError(
        f"The skill {skill!r} has no file {printable(path)!r}.",
        hint=_nearest(path, files) if files else f"It has no {kind}.",
        details=_details(skill, path),
    )


def locate_file(entry: SkillEntry, relative: str) -> str:
    """The real path of any file of a skill; a path that leads out of the skill is refused."""
    path = require_inside(entry.id, relative)
    details = _details(entry.id, relative)
    skill = _folder(entry)
    real = os.path.realpath(f"{skill}/{path}")
    if not real.startswith(f"{skill}/"):
        raise NotAllowedError(
            f"{printable(relative)!r} of the skill {entry.id!r} leads out of the skill through a link.",
            hint="Replace the link by a copy of the file.",
            details=details,
        )
    if left_out_part(path) or left_out_part(real.removeprefix(f"{skill}/")):
        raise NotAllowedError(
            f"{printable(relative)!r} is no part of the skill {entry.id!r}, but a cache or the like.",
            hint="See what there is: list_skill_assets.",
            details=details,
        )
    if not os.path.isfile(real):  # noqa: PTH113 -- paths of a walk are strings
        raise no_file(entry.id, path, list_assets(entry))
    return real


def as_text(data: bytes, *, errors: str) -> str:
    """Bytes as text, with or without a byte order mark."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", errors)
    return data.decode("utf-8-sig", errors)


def _is_part(skill: str, real: str) -> bool:
    return real.startswith(f"{skill}/") and not left_out_part(real.removeprefix(f"{skill}/"))


def _folder(entry: SkillEntry) -> str:
    return os.path.realpath(os.path.dirname(entry.location))  # noqa: PTH120 -- a location is a string


def _details(skill: str, relative: str) -> dict[str, object]:
    return {"skill": skill, "field": "relative_path", "value": relative}


def _files_below(skill: str, prefix: str, depth: int) -> Iterator[str]:
    """Regular files, and links to files of the same skill; folders are never entered through links."""
    try:
        with os.scandir(f"{skill}/{prefix}") as scan:
            entries = sorted(scan, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        path = f"{prefix}{entry.name}"
        if left_out_part(entry.name):
            continue
        if entry.is_dir(follow_symlinks=False):
            if depth > 1:
                yield from _files_below(skill, f"{path}/", depth - 1)
        elif entry.is_file() and _is_part(skill, os.path.realpath(entry.path)):
            yield path


def _nearest(path: str, files: list[str]) -> str:
    near = nearest_name(path, files)
    if near:
        return f"Did you mean {near!r}?"
    return f"It has: {', '.join(files[:10])}."
