"""Where the files of a skill are for whoever runs its scripts."""

import os
import shutil
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from skillyard.agents.source import Found, SkillSource
from skillyard.errors import CapabilityError, ConflictError, UnavailableError
from skillyard.library.disk import read_folder, write_folder
from skillyard.sandbox.place import WORKSPACE
from skillyard.skill.bundle import Bundle, left_out_part
from skillyard.skill.folder_names import folder_name

if TYPE_CHECKING:
    from skillyard.remote.client import YardClient

FOLDER: Final = "materialised"
"""Below the home."""
KEPT_SECONDS: Final = 30 * 24 * 3600.0
"""What nobody used for so long is taken away."""
_WRITABLE: Final = 0o222


class Place(Protocol):
    """Where an agent runs what it is told to run."""

    def folder(self, source: SkillSource, found: Found) -> str:
        """The folder of a skill there, as an absolute path; an error where there is none."""
        ...


class OnThisMachine:
    """Skills of folders where they are; those of a yard as read-only copies below the home, named by their digest."""

    def __init__(self, home: Path | None = None) -> None:
        self._home = home
        self._swept = False

    def folder(self, source: SkillSource, found: Found) -> str:
        return source.folder(found) or str(self.materialise(source.bundle(found), found.name))

    def materialise(self, bundle: Bundle, name: str) -> Path:
        """The bundle as a folder that nobody changes; what is there is the bundle or is replaced by it."""
        apart = self._root() / bundle.digest.removeprefix("sha256:")
        target = apart / folder_name(name)
        if apart.is_symlink():
            _remove(apart)
        if not _holds(target, bundle):
            with suppress(ConflictError):  # another process was quicker
                _remove(target)
                write_folder(bundle, target)
            if not _holds(target, bundle):
                raise ConflictError(f"{target} is being changed.", hint="Try again.", details={"value": str(target)})
        _make_read_only(target)
        os.utime(apart)
        return target

    def _root(self) -> Path:
        if self._home is None:
            from skillyard.config.load import load_settings  # noqa: PLC0415 -- most tools are given a home

            self._home = load_settings().home
        root = self._home / FOLDER
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not self._swept:
            self._swept = True
            _sweep(root)
        return root


class InSandbox:
    """Skills in a sandbox of a yard; a skill is put there when somebody asks for its path.

    The yard has its own skills; those of folders of this machine are sent to it.
    """

    def __init__(self, yard: "YardClient", sandbox_id: str) -> None:
        self._sandboxes = yard.sandboxes
        self._sandbox_id = sandbox_id

    def folder(self, source: SkillSource, found: Found) -> str:
        return self.delivered(source, found)[1]

    def delivered(self, source: SkillSource, found: Found) -> tuple[Found, str]:
        """The skill in the version that the sandbox has, which need not be the latest, and its folder there."""
        if source.folder(found) is None:
            (status,) = self._sandboxes.load_skills(self._sandbox_id, [found.key])
        else:
            folder = folder_name(found.id.rpartition("/")[2])
            status = self._sandboxes.put_skill(self._sandbox_id, source.bundle(found), folder)
        if not status["loaded"]:
            raise UnavailableError(
                f"{found.id!r} could not be put into the sandbox: {status['reason']}",
                hint="Read its files with load_skill_asset, or try another sandbox.",
                details={"skill": found.id, "sandbox_id": self._sandbox_id},
            )
        version = status["version"] or ""
        there = replace(found, version=version, digest="" if version else status["digest"])
        return there, f"{WORKSPACE}/{status['path']}"


class Nowhere:
    """For an agent on another machine: it is given the content of files, never a path of this machine."""

    def folder(self, source: SkillSource, found: Found) -> str:  # noqa: ARG002 -- whichever it is
        raise CapabilityError(
            f"The files of {found.id!r} are not on your machine, so there is no path to them.",
            hint="Read them with load_skill_asset, or name a sandbox (sandbox_id): they are put there, to be run.",
            details={"skill": found.id},
        )


def _holds(folder: Path, bundle: Bundle) -> bool:
    """Whether a folder is the bundle, without what no bundle has: compiled code among it would be run, too."""
    if folder.is_symlink():
        return False
    for path in [path for path in folder.rglob("*") if left_out_part(path.name)]:
        _remove(path)
    read = read_folder(folder).bundle
    return read is not None and read.digest == bundle.digest


def _make_read_only(folder: Path) -> None:
    for path in (folder, *folder.rglob("*")):
        mode = path.stat().st_mode
        if mode & _WRITABLE:
            path.chmod(mode & ~_WRITABLE)


def _remove(path: Path) -> None:
    """Take away a file, a folder, or a link and not what it leads to."""
    with suppress(OSError):
        path.parent.chmod(0o700)
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
        return
    with suppress(OSError):
        for each in (path, *(inner for inner in path.rglob("*") if inner.is_dir() and not inner.is_symlink())):
            each.chmod(0o700)
    shutil.rmtree(path, ignore_errors=True)


def _sweep(root: Path) -> None:
    before = time.time() - KEPT_SECONDS
    for path in root.iterdir():
        with suppress(OSError):
            if path.stat().st_mtime < before:
                for each in path.iterdir():
                    _remove(each)
                path.rmdir()
