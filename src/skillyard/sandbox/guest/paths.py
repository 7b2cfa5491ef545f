"""Finding files of the workspace without ever leaving it: links are followed by hand, and only inside."""

from __future__ import annotations

import contextlib
import errno
import os
from collections import deque

from failures import Failure

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MAX_LINKS = 40


class Workspace:
    """The folder that everything is relative to."""

    def __init__(self, path: str) -> None:
        self.path = os.path.realpath(path)
        self.fd = os.open(self.path, _FOLDER)

    def within(self, target: str) -> str | None:
        """The rest of an absolute path that leads into the workspace; nothing for others."""
        if target == self.path:
            return ""
        start = self.path.rstrip("/") + "/"
        return target[len(start) :] if target.startswith(start) else None


class Spot:
    """Where something is or would be: an open folder and a name in it; no name for the folder itself."""

    def __init__(self, folder: int, name: str) -> None:
        self.folder = folder
        self.name = name

    def __enter__(self) -> Spot:  # noqa: PYI034 - `Self` is not in the Python of every sandbox
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.folder)


def open_below(folder: int, name: str) -> int:
    """A folder in a folder, opened; never through a link."""
    return os.open(name, _FOLDER, dir_fd=folder)


def locate(workspace: Workspace, path: str, *, follow: bool = True, create: bool = False) -> Spot:
    """Walk to a path. The last part is a link that is followed, or not; folders on the way are made, or not."""
    walk = _Walk(workspace, path)
    try:
        return walk.go(follow=follow, create=create)
    except BaseException:
        walk.close()
        raise


def open_folder(workspace: Workspace, path: str) -> int:
    """A folder of the workspace, opened."""
    with locate(workspace, path) as spot:
        if spot.name:
            return open_below(spot.folder, spot.name)  # which raises the right error
        return os.dup(spot.folder)


class _Walk:
    def __init__(self, workspace: Workspace, path: str) -> None:
        self._workspace = workspace
        self._path = path
        self._folders = [os.dup(workspace.fd)]
        self._parts = deque(path.split("/"))
        self._links = 0

    def go(self, *, follow: bool, create: bool) -> Spot:
        while self._parts:
            part = self._parts.popleft()
            if part in {"", "."}:
                continue
            if part == "..":
                self._up()
                continue
            last = not any(self._parts)
            if last and not follow:
                return self._spot(part)
            try:
                self._down(part, create=create)
            except (FileNotFoundError, NotADirectoryError):
                if not last:
                    raise
                return self._spot(part)
        return self._spot("")

    def close(self) -> None:
        while self._folders:
            os.close(self._folders.pop())

    def _spot(self, name: str) -> Spot:
        folder = self._folders.pop()
        self.close()
        return Spot(folder, name)

    def _down(self, part: str, *, create: bool) -> None:
        """Go into a folder; or, when it is a link to one, to what stands there instead."""
        try:
            self._folders.append(open_below(self._folders[-1], part))
        except FileNotFoundError:
            if not create:
                raise
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, 0o755, dir_fd=self._folders[-1])
            self._parts.appendleft(part)
        except OSError as error:
            if error.errno not in {errno.ENOTDIR, errno.ELOOP} or not self._follow(part):
                raise

    def _up(self) -> None:
        if len(self._folders) == 1:
            raise self._outside()
        os.close(self._folders.pop())

    def _follow(self, part: str) -> bool:
        """Put what a link says in the place of its name; false when it is no link."""
        try:
            target = os.readlink(part, dir_fd=self._folders[-1])
        except OSError as error:
            if error.errno == errno.EINVAL:
                return False
            raise
        self._links += 1
        if self._links > _MAX_LINKS:
            raise Failure("invalid_path", f"'{self._path}' goes through too many links.")
        if target.startswith("/"):
            rest = self._workspace.within(target)
            if rest is None:
                raise self._outside()
            while len(self._folders) > 1:
                os.close(self._folders.pop())
            target = rest
        self._parts.extendleft(reversed(target.split("/")))
        return True

    def _outside(self) -> Failure:
        return Failure("invalid_path", f"'{self._path}' leads out of the workspace.")
