"""The folders of cargos: workspaces that belong to those who run in them, and that nobody else can enter."""

import contextlib
import fcntl
import os
import re
import shutil
import subprocess
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from skillyard.errors import ConflictError, InputError, NotFoundError, UnavailableError
from skillyard.sandbox.local.processes import SYSTEM
from skillyard.sandbox.local.uids import Users

_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}\Z")
_LOCK: Final = ".lock"
_WORKSPACE: Final = "workspace"
_OPEN: Final = 0o700
_COPY_SECONDS: Final = 300.0


@dataclass(frozen=True, kw_only=True)
class Workspace:
    """The files of one cargo."""

    path: Path
    uid: int | None
    """Whom it belongs to, and so who runs in it; None is whoever runs the server."""


class Cargos:
    """Keeps the workspaces of cargos below one folder. What is in them is hostile: nothing of it is ever followed."""

    def __init__(self, folder: Path, users: Users) -> None:
        self._folder = folder
        self._users = users

    def ensure(self, cargo_id: str) -> Workspace:
        """The workspace of a cargo, made when it is not there."""
        cargo = self._path(cargo_id)
        found = self._existing(cargo)
        if found is None:
            with self._locked():
                found = self._existing(cargo) or self._make(cargo)
        return found

    def has(self, cargo_id: str) -> bool:
        """Whether there is a workspace of a cargo."""
        return self._path(cargo_id).exists()

    def remove(self, cargo_id: str) -> None:
        """Remove a cargo. However deep and however closed its folders are, it goes."""
        cargo = self._path(cargo_id)
        if not cargo.exists():
            return
        # By the system's tools: they need neither a stack nor a descriptor for each level of a folder.
        if self._users.uids is None:  # root needs no permission, and must not change what a link leads to
            _run("chmod", "-R", "u+rwX", "--", str(cargo), check=False)
        _run("rm", "-rf", "--one-file-system", "--", str(cargo))

    def copy(self, source: str, target: str) -> None:
        """Make a new cargo with the files of another; links are copied as they are."""
        origin = self._existing(self._path(source))
        if origin is None:
            raise NotFoundError(f"There is no cargo {source!r} to copy.")
        cargo = self._path(target)
        with self._locked():
            if cargo.exists():
                raise ConflictError(f"There is a cargo {target!r} already.")
            made = self._make(cargo)
        try:
            _copy(origin.path, made)
        except BaseException:
            self.remove(target)
            raise

    def _path(self, cargo_id: str) -> Path:
        if not _ID.match(cargo_id):
            raise InputError(f"{cargo_id!r} is no id of a cargo.", details={"field": "cargo_id", "value": cargo_id})
        return self._folder / cargo_id

    def _existing(self, cargo: Path) -> Workspace | None:
        try:
            state = (cargo / _WORKSPACE).lstat()
        except FileNotFoundError:
            return None
        owner = state.st_uid
        if not self._users.owns(owner):
            raise UnavailableError(
                f"The workspace of cargo {cargo.name!r} belongs to user {owner}, who does not run sandboxes here.",
                hint="Run the server as before, or give the workspace to a user of the range 'sandbox_uids'.",
            )
        if state.st_mode & _OPEN != _OPEN:  # closed from within, where nobody could open it again
            (cargo / _WORKSPACE).chmod(_OPEN)
        return Workspace(path=cargo / _WORKSPACE, uid=None if self._users.uids is None else owner)

    def _make(self, cargo: Path) -> Workspace:
        """Made beside and renamed, so that a workspace that is there has its owner."""
        uid = self._users.choose(self._owners())
        new = self._folder / f".new-{cargo.name}"
        shutil.rmtree(new, ignore_errors=True)
        workspace = new / _WORKSPACE
        workspace.mkdir(mode=_OPEN, parents=True)
        new.chmod(0o700)
        if uid is not None:
            os.chown(workspace, uid, uid)
        new.rename(cargo)
        return Workspace(path=cargo / _WORKSPACE, uid=uid)

    def _owners(self) -> Iterator[int]:
        for entry in os.scandir(self._folder):
            with contextlib.suppress(OSError):
                yield (Path(entry.path) / _WORKSPACE).lstat().st_uid

    @contextlib.contextmanager
    def _locked(self) -> Generator[None]:
        """One chooser at a time, of all servers that share the folder."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (self._folder / _LOCK).open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def _copy(source: Path, target: Workspace) -> None:
    """By tar, whose two halves never follow a link of the tree that they read or write."""
    owner = [] if target.uid is None else [f"--owner=:{target.uid}", f"--group=:{target.uid}"]
    reading = ["tar", "--create", "--file=-", f"--directory={source}", "--one-file-system", "--sparse"]
    writing = ["tar", "--extract", "--file=-", f"--directory={target.path}", "--preserve-permissions"]
    own = ["--numeric-owner", *(["--same-owner"] if owner else [])]
    with subprocess.Popen(
        [*reading, "--numeric-owner", *owner, "."], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=SYSTEM
    ) as reader:
        writer = _run(*writing, *own, check=False, stdin=reader.stdout)
    # 1: something changed while it was read; it is copied as it was then.
    if reader.returncode not in {0, 1} or writer.returncode:
        said = writer.stderr.decode(errors="replace").strip()
        raise UnavailableError(f"The cargo cannot be copied: {said or 'it cannot be read'}.")


def _run(*command: str, check: bool = True, stdin: "IO[bytes] | None" = None) -> "subprocess.CompletedProcess[bytes]":
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL if stdin is None else stdin,
        capture_output=True,
        check=False,
        timeout=_COPY_SECONDS,
        env=SYSTEM,
    )
    if check and done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        raise UnavailableError(f"{command[0]} failed: {said}.")
    return done
