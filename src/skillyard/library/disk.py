"""Skill folders on disk as bundles: read without following anything, written whole or not at all."""

import errno
import os
import re
import shutil
import stat
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from skillyard.errors import ConflictError, LimitError, SkillyardError
from skillyard.files import sync_folder
from skillyard.library.exchange import exchange
from skillyard.library.regular import read_regular
from skillyard.skill.bundle import (
    Bundle,
    BundleFile,
    BundleRead,
    bundle_of,
    bundle_too_large,
    file_too_large,
    left_out_part,
    require_safe,
    too_many_files,
)
from skillyard.skill.bundle_rules import bundle_finding
from skillyard.skill.limits import MAX_BUNDLE_BYTES, MAX_BUNDLE_FILES, MAX_FILE_BYTES, MAX_PATH_DEPTH
from skillyard.skill.models import Finding
from skillyard.skill.paths import printable

DRAFT_PREFIX: Final = ".skillyard-"
"""Folders of this name are being written, or were when the machine stopped."""

_DRAFT_NAME: Final = re.compile(rf"{re.escape(DRAFT_PREFIX)}[0-9a-f]{{16}}")
_OLD_NAME: Final = re.compile(r"\.(?P<name>.+)\.old-[0-9a-f]{8}", re.DOTALL)
_DRAFT_SECONDS: Final = 3600
"""A draft that is older will never be finished."""
_MAX_ENTRIES: Final = 10 * MAX_BUNDLE_FILES
"""Entries of any kind before a folder is given up."""
_ATTEMPTS: Final = 20
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NEW_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def read_folder(path: Path) -> BundleRead:
    """Reads a skill's folder; never raises, never leaves the folder.

    Links inside are refused; pipes, sockets and devices are skipped unopened. The folder itself may be
    reached through a link: whoever names it decides that. A folder replaced meanwhile is read again.
    """
    folder = _absolute(path).name
    for _ in range(_ATTEMPTS):
        reading = _Reading()
        try:
            fd = os.open(path, _FOLDER)
        except OSError as error:
            return _refused(folder, "unreadable", f"cannot be opened: {error.strerror}")
        except ValueError:
            return _refused(folder, "unreadable", "has a path that no folder can have")
        try:
            reading.visit(fd, "")
        except _LimitPassedError as passed:
            # What was not looked at must not be judged: the SKILL.md may be among it.
            return BundleRead(bundle=None, folder=folder, findings=(*reading.findings, passed.finding))
        else:
            if _is_still_at(path, fd):
                return bundle_of(reading.files, folder=folder, left_out=reading.left_out, findings=reading.findings)
        finally:
            os.close(fd)
    return _refused(folder, "changed-while-reading", "was replaced again and again while it was read")


def write_folder(bundle: Bundle, path: Path) -> None:
    """Writes the bundle as a new folder: others see all of it or nothing, even when the machine stops.

    Nothing is written through a link.
    """
    _write(bundle, path, replace=False)


def swap_folder(bundle: Bundle, path: Path) -> Path | None:
    """Writes the bundle in place of a folder and tells where the old one is now, under a hidden name beside it.

    Others see the old or the new one, and nothing is written through a link. The old one belongs to the caller,
    with whatever was saved in it until the last moment. None when there was none.
    """
    return _write(bundle, path, replace=True)


def hidden_beside(path: Path) -> Path:
    """A free name next to a folder for all of it while it gives way; no later write clears it away."""
    return path.with_name(f".{path.name}.old-{os.urandom(4).hex()}")


def left_beside(parent: Path) -> list[tuple[Path, Path]]:
    """The folders under such names in a folder, latest first, each with the path that it had."""
    found: list[tuple[int, Path, Path]] = []
    with suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            match = _OLD_NAME.fullmatch(entry.name)
            if match and entry.is_dir(follow_symlinks=False):
                found.append((entry.stat(follow_symlinks=False).st_ctime_ns, Path(entry.path), parent / match["name"]))
    return [(old, path) for _, old, path in sorted(found, reverse=True)]


def draft_beside(path: Path) -> Path:
    """A free name next to a path for what is not whole: some later write clears it away if nobody else does."""
    return path.with_name(f"{DRAFT_PREFIX}{os.urandom(8).hex()}")


def discard_folder(folder: Path) -> None:
    """Removes a folder; what a crash leaves of it has the name of a draft."""
    draft = draft_beside(folder)
    with suppress(OSError):
        folder.rename(draft)
        _discard(draft)


def remove_old_drafts(parent: Path) -> None:
    """Removes what was never finished in a folder and never will be."""
    for draft in parent.glob(f"{DRAFT_PREFIX}*"):
        if not _DRAFT_NAME.fullmatch(draft.name):
            continue
        try:
            # Not the time of the last write: a copy has that of what it is a copy of.
            age = time.time() - draft.lstat().st_ctime
        except OSError:
            continue
        if age > _DRAFT_SECONDS:
            _discard(draft)


class _LimitPassedError(Exception):
    """There is more in the folder than a skill may have."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


class _Reading:
    """What one walk through a folder finds."""

    def __init__(self) -> None:
        self.files: list[BundleFile] = []
        self.left_out: set[str] = set()
        self.findings: list[Finding] = []
        self._entries = 0
        self._bytes = 0

    def visit(self, fd: int, prefix: str) -> None:
        for entry in self._listing(fd, prefix):
            path = f"{prefix}{entry.name}"
            if left_out_part(entry.name):
                self.left_out.add(path)
            elif entry.is_symlink():
                self._report("link", path, "is a link")
            elif entry.is_dir(follow_symlinks=False):
                self._enter(fd, entry.name, path)
            elif entry.is_file(follow_symlinks=False):
                self._take(fd, entry, path)
            else:
                self._report("special-file-skipped", path, "is no plain file and was skipped")

    def _listing(self, fd: int, prefix: str) -> list[os.DirEntry[str]]:
        entries: list[os.DirEntry[str]] = []
        try:
            with os.scandir(fd) as scan:
                for entry in scan:
                    self._entries += 1
                    if self._entries > _MAX_ENTRIES:
                        raise _LimitPassedError(_too_many_entries())
                    entries.append(entry)
        except OSError as error:
            self._report("unreadable", prefix, f"cannot be listed: {error.strerror}")
        return sorted(entries, key=lambda entry: entry.name)

    def _enter(self, fd: int, name: str, path: str) -> None:
        if path.count("/") + 1 >= MAX_PATH_DEPTH:
            self._report("path-depth", path, f"is {MAX_PATH_DEPTH} folders deep; nothing in it was read")
            return
        try:
            inner = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=fd)
        except OSError as error:
            self._report("unreadable", path, f"cannot be opened: {error.strerror}")
            return
        try:
            self.visit(inner, f"{path}/")
        finally:
            os.close(inner)

    def _take(self, fd: int, entry: os.DirEntry[str], path: str) -> None:
        if len(self.files) == MAX_BUNDLE_FILES:
            raise _LimitPassedError(too_many_files())
        try:
            mode = entry.stat(follow_symlinks=False).st_mode
            data = read_regular(entry.name, MAX_FILE_BYTES, dir_fd=fd)
        except LimitError:
            self.findings.append(file_too_large(path))
            return
        except SkillyardError as error:
            self._report("unreadable", path, f"cannot be read: {error.message}")
            return
        except OSError as error:
            self._report("unreadable", path, f"cannot be read: {error.strerror}")
            return
        self._bytes += len(data)
        if self._bytes > MAX_BUNDLE_BYTES:
            raise _LimitPassedError(bundle_too_large())
        self.files.append(BundleFile(path, data, bool(mode & stat.S_IXUSR)))

    def _report(self, code: str, path: str, problem: str) -> None:
        name = printable(path)
        self.findings.append(bundle_finding(code, f"'{name}' {problem.rstrip('.')}.", file=name))


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100 - resolving would follow links


def _is_still_at(path: Path, fd: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(fd))  # noqa: PTH116 - the pair to fstat
    except OSError:
        return False


def _refused(folder: str, code: str, problem: str) -> BundleRead:
    name = printable(folder)
    finding = bundle_finding(code, f"The folder '{name}' {problem}.", file=name)
    return BundleRead(bundle=None, folder=folder, findings=(finding,))


def _too_many_entries() -> Finding:
    return bundle_finding("bundle-files", f"The folder has more than {_MAX_ENTRIES} files and folders in it.")


def _check_free(target: Path, *, replace: bool) -> None:
    if not os.path.lexists(target):
        return
    if not replace:
        raise _taken(target)
    if target.is_symlink() or not target.is_dir():
        raise ConflictError(
            f"{target} is a link or a file, not a folder; it is not written through or replaced.",
            hint=f"Remove it first: rm '{target}'",
            details={"value": str(target)},
        )
    if os.path.lexists(target / ".git"):
        raise ConflictError(
            f"{target} is a git repository, whose history would be lost.",
            hint="Move it away, or update it with git.",
            details={"value": str(target)},
        )


def _write_files(bundle: Bundle, draft: Path) -> None:
    folders = {draft}
    for file in bundle:
        path = draft / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        folders.update(parent for parent in path.parents if parent.is_relative_to(draft))
        fd = os.open(path, _NEW_FILE, 0o777 if file.executable else 0o666)
        with os.fdopen(fd, "wb") as stream:
            stream.write(file.data)
            stream.flush()
            os.fsync(fd)
    for folder in folders:
        sync_folder(folder)


def _write(bundle: Bundle, path: Path, *, replace: bool) -> Path | None:
    require_safe(bundle)
    target = _absolute(path)
    _check_free(target, replace=replace)
    target.parent.mkdir(parents=True, exist_ok=True)
    remove_old_drafts(target.parent)
    draft = draft_beside(target)
    draft.mkdir()
    try:
        _write_files(bundle, draft)
        old = _put_in_place(draft, target, replace=replace)
        sync_folder(target.parent)
    finally:
        _discard(draft)
    return old


def _put_in_place(draft: Path, target: Path, *, replace: bool) -> Path | None:
    """Gives a draft its name; where the folder is now that had it, if there was one."""
    if replace and os.path.lexists(target):
        return _swap(draft, target)
    try:
        draft.rename(target)
    except OSError as error:
        if error.errno in {errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR}:
            raise _taken(target) from None
        raise
    return None


def _swap(draft: Path, target: Path) -> Path:
    # What gives way must not have a draft's name, not for a moment: those are cleared away.
    old = hidden_beside(target)
    draft.rename(old)
    try:
        if exchange(str(old), str(target)):
            return old
    except OSError:
        old.rename(draft)
        raise
    # Disks without a swap: for a moment neither folder is there, but the old files are never gone.
    old.rename(draft)
    target.rename(old)
    try:
        draft.rename(target)
    except OSError:
        old.rename(target)
        raise
    return old


def _taken(target: Path) -> ConflictError:
    return ConflictError(
        f"{target} is there already.",
        hint="Choose another name, or replace it.",
        details={"value": str(target)},
    )


def _discard(draft: Path) -> None:
    """Removes a draft as far as it goes; what cannot be removed is tried again by a later write."""
    if draft.is_dir() and not draft.is_symlink():
        shutil.rmtree(draft, ignore_errors=True)
    else:
        with suppress(OSError):
            draft.unlink()
