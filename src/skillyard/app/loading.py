"""Skills from anywhere on disk: a folder, its `SKILL.md` or an archive."""

import os
from dataclasses import replace
from pathlib import Path

from skillyard.app.findings import about
from skillyard.errors import NotFoundError, SkillyardError
from skillyard.library.disk import read_folder
from skillyard.library.regular import read_regular
from skillyard.skill.archive import read_archive
from skillyard.skill.bundle import Bundle, BundleRead
from skillyard.skill.limits import MAX_ARCHIVE_BYTES, SKILL_FILE_NAMES
from skillyard.skill.models import Finding, Severity


def require_there(path: Path) -> None:
    """Refuse a path at which there is nothing."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise NotFoundError(
            f"There is no {str(path)!r}.",
            hint="Give a skill folder, a SKILL.md or an archive.",
            details={"path": str(path)},
        ) from None


def absence(path: Path) -> Finding | None:
    """Why nothing can be looked at there, if that is so: one wrong path must not stop the others."""
    try:
        require_there(path)
    except NotFoundError as error:
        return Finding(code="not-found", severity=Severity.ERROR, message=error.message, fix=error.hint)
    except OSError as error:
        return unreadable(f"{path}: {error.strerror}.", "Change its permissions, or those of its folder.")
    return None


def unreadable(message: str, fix: str) -> Finding:
    return Finding(code="unreadable", severity=Severity.ERROR, message=message, fix=fix)


def skill_folder(path: Path) -> Path | None:
    """The folder of the skill that a path names; None for an archive."""
    if path.is_dir():
        return path
    return path.parent if path.name in SKILL_FILE_NAMES else None


def load_skill(path: Path) -> BundleRead:
    """The files of a skill; when they cannot be had, the findings say why."""
    missing = absence(path)
    if missing is not None:
        return BundleRead(bundle=None, folder=path.stem, findings=(missing,))
    folder = skill_folder(path)
    if folder is not None:
        return read_folder(folder)
    try:
        data = read_regular(os.path.realpath(path), MAX_ARCHIVE_BYTES)
    except SkillyardError as error:
        finding = unreadable(error.message, error.hint)
        return BundleRead(bundle=None, folder=path.stem, findings=about(path.name, (finding,)))
    read = read_archive(data, filename=path.name)
    return replace(read, findings=about(path.name, read.findings))


def load_bundle(path: Path) -> tuple[str, Bundle]:
    """The id and the files of a skill, or an error that says everything that is wrong with them."""
    require_there(path)
    read = load_skill(path)
    return read.folder or path.stem, read.require()
