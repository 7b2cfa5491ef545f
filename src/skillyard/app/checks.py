"""What a check of this machine says, and those checks that several need."""

import os
import shlex
import shutil
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from skillyard.skill.limits import MIB

LEAST_FREE: Final = 100
"""MiB; with less, whatever is written may fail soon."""


class Status(StrEnum):
    OK = "ok"
    NOTE = "note"
    """Neither good nor bad: something that is not there, and is not needed."""
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """One thing looked at."""

    name: str
    status: Status
    message: str
    fix: str = ""
    """A command to paste, or a sentence where no command can do it."""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def writable(name: str, folder: Path) -> Check:
    """Whether a folder can be written, or made if it is not there, and has space."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if existing.is_dir() and os.access(existing, os.W_OK | os.X_OK):
        free = shutil.disk_usage(existing).free // MIB
        if free >= LEAST_FREE:
            return ok(name, str(folder))
        return Check(
            name=name,
            status=Status.WARNING,
            message=f"{folder} is on a disk with {free:,} MiB left.",
            fix="Make room there, or keep all elsewhere: set SKILLYARD_HOME to another folder.",
        )
    if existing.is_dir():
        message, command = f"{folder} cannot be written.", ["chmod", "u+rwx", str(existing)]
    else:
        message = f"{folder} cannot be written: {existing} is no folder."
        command = ["mv", str(existing), f"{existing}.old"]
    return Check(name=name, status=Status.FAILED, message=message, fix=shlex.join(command))


def ok(name: str, message: str) -> Check:
    return Check(name=name, status=Status.OK, message=message)
