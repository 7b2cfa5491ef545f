"""Folders of running sandboxes, each held by a lock as long as its server lives: by them is found what one left."""

import contextlib
import fcntl
import json
import os
import subprocess
import tempfile
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Final

from skillyard.sandbox.local.processes import SYSTEM

MARK: Final = "SKILLYARD_SANDBOX"
"""The variable that says to which sandbox a process belongs."""

_LOCK: Final = "lock"
_GROUPS: Final = "groups.json"


class Runtime:
    """The folder of one running sandbox."""

    def __init__(self, folder: Path, lock: int) -> None:
        self.folder = folder
        self._lock = lock

    @classmethod
    def make(cls, parent: Path, sandbox_id: str) -> "Runtime":
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f"{sandbox_id}-", dir=parent))
        lock = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        return cls(folder, lock)

    @property
    def sandbox_id(self) -> str:
        return self.folder.name.rpartition("-")[0]

    def temporary(self) -> Path:
        """A place for temporary files of the sandbox, where there is no mount for them."""
        folder = self.folder / "tmp"
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder

    def note_groups(self, folders: Sequence[Path]) -> None:
        """Keep by what its processes can be found if the server dies without ending them."""
        (self.folder / _GROUPS).write_text(json.dumps([str(folder) for folder in folders]), encoding="utf-8")

    def groups(self) -> list[Path]:
        try:
            return [Path(folder) for folder in json.loads((self.folder / _GROUPS).read_text(encoding="utf-8"))]
        except (OSError, ValueError):
            return []

    def remove(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self._lock)
        # What is inside may be deep or closed: the system's tools take it all, and follow no link.
        for command in (["chmod", "-R", "u+rwX"], ["rm", "-rf"]):
            subprocess.run([*command, "--", str(self.folder)], capture_output=True, check=False, env=SYSTEM)


def abandoned(parent: Path, keep: Collection[str]) -> Iterator[Runtime]:
    """The folders whose servers are gone; while one is looked at, it is held."""
    for folder in sorted(parent.glob("*")):
        if folder.name.rpartition("-")[0] in keep:
            continue
        try:
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            continue  # just being made, or just removed
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            continue
        yield Runtime(folder, lock)
