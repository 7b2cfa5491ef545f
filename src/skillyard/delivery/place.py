"""Places: a lock file, and the folder that the paths in it start from."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from skillyard.delivery.source import is_plain_path
from skillyard.errors import NotAllowedError
from skillyard.skill.models import has_errors
from skillyard.skill.paths import path_findings, printable

LOCK_NAME: Final = "skillyard.lock"
_GIT_FOLDER: Final = ".git"


@dataclass(frozen=True, kw_only=True, slots=True)
class LockPlace:
    """Skills below `base` are written down in `lock`, by paths relative to `base`."""

    lock: Path
    base: Path
    trusted: bool = False
    """Whether links on the way may lead out of `base`: in a person's home they may, in a project that
    somebody else wrote they may not."""

    def relative(self, path: Path) -> str:
        """The path as the lock has it."""
        try:
            relative = path.relative_to(self.base).as_posix()
        except ValueError:
            raise _outside(str(path), self.base) from None
        self.resolve(relative)
        return relative

    def resolve(self, relative: str) -> Path:
        """The path that a lock's entry means, or an error when it could lead anywhere else."""
        if not is_plain_path(relative) or has_errors(path_findings(relative)):
            raise _outside(relative, self.base)
        if any(part.casefold().rstrip(". ") == _GIT_FOLDER for part in relative.split("/")):
            raise NotAllowedError(
                f"{printable(relative)!r} is inside a {_GIT_FOLDER} folder, where files can make git run commands.",
                hint=f"Correct the path in {self.lock}.",
                details={"field": "path", "value": relative},
            )
        path = self.base / relative
        if not self.trusted:
            parent = os.path.realpath(path.parent)
            base = os.path.realpath(self.base)
            if os.path.commonpath([parent, base]) != base:
                raise _outside(relative, self.base)
        return path


def project_place(project: Path) -> LockPlace:
    """For what belongs to a project: `skillyard.lock` in its folder, to be committed with it."""
    project = project.absolute()
    return LockPlace(lock=project / LOCK_NAME, base=project)


def user_place(home: Path, user_home: Path) -> LockPlace:
    """For a person's own agent folders: the lock is in Skillyard's home, paths start from theirs."""
    return LockPlace(lock=home.absolute() / LOCK_NAME, base=user_home.absolute(), trusted=True)


def folder_place(folder: Path) -> LockPlace:
    """For any other folder of skills: the lock is in the folder itself."""
    folder = folder.absolute()
    return LockPlace(lock=folder / LOCK_NAME, base=folder)


def _outside(path: str, base: Path) -> NotAllowedError:
    return NotAllowedError(
        f"{printable(path)!r} is not inside {base}, or leads out of it through a link.",
        hint="Skills are only installed inside the folder that their lock file speaks for; "
        "use --root to install into another folder.",
        details={"field": "path", "value": path},
    )
